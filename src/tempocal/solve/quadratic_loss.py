"""Second-order expansion of the loss of earlier rows, which are no longer available."""

from dataclasses import dataclass

import numpy as np

from tempocal.links import Array


@dataclass(frozen=True)
class QuadraticLoss:
    """Second-order Taylor expansion of the summed loss of earlier rows.

    Up to a constant, with ``d = theta - center``, it is ``gradient' d + d' curvature d / 2``.

    Attributes
    ----------
    center : ndarray of shape (coefficients,)
        Coefficients at which the loss is expanded.
    gradient : ndarray of shape (coefficients,)
        Gradient at the center.
    curvature : ndarray of shape (blocks, n, n)
        Hessian at the center: one block, or one per key if the keys share no coefficients.
    """

    center: Array
    gradient: Array
    curvature: Array

    @property
    def blocks(self) -> tuple[int, int]:
        """Number of blocks, and of coefficients per block."""
        return self.curvature.shape[0], self.curvature.shape[1]

    def at(self, theta: Array) -> tuple[Array, Array]:
        """Loss relative to the center and gradient at ``theta``, per block."""
        displacement = (theta - self.center).reshape(self.blocks)
        hessian_product = np.einsum("tpq,tq->tp", self.curvature, displacement)
        gradient = self.gradient.reshape(self.blocks)
        loss = np.einsum("tp,tp->t", displacement, gradient + 0.5 * hessian_product)
        return loss, gradient + hessian_product

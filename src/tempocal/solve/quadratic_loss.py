"""Second-order expansion of the loss of earlier rows, which are no longer available."""

from dataclasses import dataclass, replace
from typing import Self

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
    jacobian : ndarray of shape (coefficients, coefficients) or None
        Of rows that learned from forecasts, minus the derivative of their estimating function.
        Their gradient follows it, and not the curvature, once `with_targets_at` says where.
    """

    center: Array
    gradient: Array
    curvature: Array
    jacobian: Array | None = None

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

    def with_targets_at(self, center: Array) -> Self:
        """Correct the gradient so that it is that of moving targets at these coefficients."""
        if self.jacobian is None:
            return self
        displacement = center - self.center
        by_curvature = np.einsum(
            "tpq,tq->tp", self.curvature, displacement.reshape(self.blocks)
        ).ravel()
        correction = self.jacobian @ displacement - by_curvature
        return replace(self, gradient=self.gradient + correction)

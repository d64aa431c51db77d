"""What is remembered of rows that are no longer there: their loss as a quadratic."""

from dataclasses import dataclass

import numpy as np

from tempocal.links import Array


@dataclass(frozen=True)
class QuadraticLoss:
    """The summed loss of earlier rows around some coefficients, to second order.

    Attributes
    ----------
    center : ndarray of shape (coefficients,)
        Where it was expanded.
    gradient : ndarray of shape (coefficients,)
        Gradient there.
    curvature : ndarray of shape (blocks, n, n)
        Hessian there: one block, or one for each key where none is tied to another.
    """

    center: Array
    gradient: Array
    curvature: Array

    @property
    def blocks(self) -> tuple[int, int]:
        """How many blocks there are, and how many coefficients each has."""
        return self.curvature.shape[0], self.curvature.shape[1]

    def at(self, theta: Array) -> tuple[Array, Array]:
        """Loss, less that at the center, and gradient of each block at other coefficients."""
        moved = (theta - self.center).reshape(self.blocks)
        bend = np.einsum("tpq,tq->tp", self.curvature, moved)
        first = self.gradient.reshape(self.blocks)
        return np.einsum("tp,tp->t", moved, first + 0.5 * bend), first + bend

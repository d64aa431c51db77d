"""Parts of the search over rates in `profile.py`: quadratic models and a bracketed minimum."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from tempocal.links import Array
from tempocal.rows import Sums
from tempocal.solve.linear_systems import bounded_steps, solve_blocks

# Number of evenly spaced points in a bracket.
N_EVEN = 25


@dataclass(frozen=True)
class KeyQuadratic:
    """Second-order expansion of the loss in the coefficients at every key."""

    center: Array  # (keys, width)
    loss: float
    sums: Sums
    identity: Array  # (coefficients,)
    lower: Array  # (coefficients,)
    weight: float  # of all rows

    def minimize(self, bases: Array, penalty_matrices: Array, theta: Array) -> tuple[Array, Array]:
        """Minimize the penalized quadratic for several bases; return coefficients and values.

        ``bases`` has the shape (bases, keys, functions). ``penalty_matrices`` are one per basis, or
        one for all. Each minimum is reached by one bounded Newton step from ``theta``.
        """
        key_gradients, key_hessians = self.sums.gradient, self.sums.hessian
        assert key_hessians is not None
        offset = theta - self.identity
        displacement = bases @ theta.reshape(bases.shape[2], -1) - self.center
        hessian_product = np.einsum("tpq,rtq->rtp", key_hessians, displacement)
        penalty_gradient = penalty_matrices @ offset
        value = (
            np.einsum("rtp,rtp->r", displacement, key_gradients + 0.5 * hessian_product)
            + 0.5 * penalty_gradient @ offset
        )
        gradient = bases.swapaxes(1, 2) @ (key_gradients + hessian_product)
        gradient = gradient.reshape(len(bases), -1) + penalty_gradient
        hessian = _gather_hessians(bases, key_hessians) + penalty_matrices
        step = _steps_to_minimum(theta, gradient, hessian, self.lower)
        mean_gradient = gradient + 0.5 * np.einsum("rnk,rk->rn", hessian, step)
        return theta + step, self.loss + (value + np.einsum("rn,rn->r", mean_gradient, step))

    def sums_at(self, at_keys: Array) -> Sums:
        """Extrapolate the sums to nearby coefficients at every key."""
        return shifted_sums(self.sums, at_keys - self.center)


def _steps_to_minimum(theta: Array, gradient: Array, hessian: Array, lower: Array) -> Array:
    """Step to the minimum of each quadratic within the bounds."""
    free, undamped = np.ones(gradient.shape, dtype=bool), np.zeros(len(gradient))
    step = -solve_blocks(hessian, gradient, free, undamped)
    if (theta + step >= lower).all():
        return step
    start = np.broadcast_to(theta, gradient.shape)
    return bounded_steps(start, gradient, hessian, lower, undamped)


def _gather_hessians(bases: Array, hessian: Array) -> Array:
    """Chain rule for several bases: Hessians at the keys to those in the coefficients."""
    n_bases, keys, count = bases.shape
    width = hessian.shape[1]
    # In the order with fewer products.
    if count > width**2:
        weighted = bases[..., None, None] * hessian[:, None]
        square = bases.swapaxes(1, 2) @ weighted.reshape(n_bases, keys, -1)
    else:
        pairs = (bases[:, :, :, None] * bases[:, :, None, :]).transpose(0, 2, 3, 1)
        square = pairs.reshape(-1, keys) @ hessian.reshape(keys, -1)
    blocks = square.reshape(n_bases, count, count, width, width).transpose(0, 1, 3, 2, 4)
    return blocks.reshape(n_bases, count * width, count * width)


def shifted_sums(sums: Sums, step: Array) -> Sums:
    """Extrapolate sums by a small step at every key, to second order."""
    assert sums.hessian is not None
    hessian_product = np.einsum("tpq,tq->tp", sums.hessian, step)
    loss = sums.loss + np.einsum("tp,tp->t", sums.gradient + 0.5 * hessian_product, step)
    return Sums(loss, sums.gradient + hessian_product, sums.hessian)


@dataclass(frozen=True)
class Bracket:
    """The lowest of some points, its neighbors, and the vertex of the parabola through them.

    ``predicted`` is the decrease from the lowest point to the vertex.
    """

    left: float
    center: float
    right: float
    vertex: float
    predicted: float

    @classmethod
    def around(cls, lowest: int, points: Array, values: Array) -> Self:
        """Bracket the point with index ``lowest``; at an end it is its own neighbor."""
        neighbors = [max(lowest - 1, 0), lowest, min(lowest + 1, len(points) - 1)]
        left, center, right = points[neighbors].tolist()
        # Neighbors may be lower by a rounding error.
        left_rise, _, right_rise = np.maximum(values[neighbors] - values[lowest], 0.0).tolist()
        denominator = left_rise * (right - center) + right_rise * (center - left)
        numerator = left_rise * (right - center) ** 2 - right_rise * (center - left) ** 2
        if not (0.0 < denominator < np.inf and left < center < right):
            return cls(left, center, right, center, 0.0)
        # In this order of operations squares of very different values do not overflow.
        shift = 0.5 * numerator / denominator
        predicted = 0.5 * shift * numerator / ((right - center) * (center - left) * (right - left))
        return cls(left, center, right, center + shift, predicted)

    def refined_grid(self) -> Array:
        """Return points throughout the bracket and next to the vertex."""
        near = self.vertex + np.array([-0.01, 0.0, 0.01]) * (self.right - self.left)
        evenly = np.linspace(self.left, self.right, N_EVEN)
        points = np.concatenate([evenly, [self.center], near])
        return np.unique(points.clip(self.left, self.right))

"""What a search over rates is made of: a quadratic at the keys, and a bracket around its lowest."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from tempocal.links import Array
from tempocal.rows import Sums
from tempocal.solve.blockwise_newton import bounded_steps
from tempocal.solve.linear_systems import solve_blocks

# Points all over a bracket.
N_EVEN = 25


@dataclass(frozen=True)
class KeyQuadratic:
    """The loss at the keys up to second order around coefficients at every key."""

    center: Array  # (keys, width)
    loss: float
    sums: Sums
    identity: Array  # (coefficients,)
    lower: Array  # (coefficients,)
    weight: float  # of all rows

    def minimize(self, bases: Array, penalty_matrices: Array, theta: Array) -> tuple[Array, Array]:
        """Coefficients of least objective for several bases, from ``theta``, and its value.

        ``bases`` are (bases, keys, functions); a pull may be the same for all.
        """
        slope, bend = self.sums.gradient, self.sums.hessian
        assert bend is not None
        offset = theta - self.identity
        displacement = bases @ theta.reshape(bases.shape[2], -1) - self.center
        curved = np.einsum("tpq,rtq->rtp", bend, displacement)
        penalty_gradient = penalty_matrices @ offset
        value = (
            np.einsum("rtp,rtp->r", displacement, slope + 0.5 * curved)
            + 0.5 * penalty_gradient @ offset
        )
        gradient = bases.swapaxes(1, 2) @ (slope + curved)
        gradient = gradient.reshape(len(bases), -1) + penalty_gradient
        hessian = _gather(bases, bend) + penalty_matrices
        step = _steps(theta, gradient, hessian, self.lower)
        ahead = gradient + 0.5 * np.einsum("rnk,rk->rn", hessian, step)
        return theta + step, self.loss + (value + np.einsum("rn,rn->r", ahead, step))

    def sums_at(self, at_keys: Array) -> Sums:
        """Return the sums at coefficients that are a tiny step away at every key."""
        return shifted_sums(self.sums, at_keys - self.center)


def _steps(theta: Array, gradient: Array, hessian: Array, lower: Array) -> Array:
    """Step to the least of each quadratic within the bounds."""
    anywhere, undamped = np.ones(gradient.shape, dtype=bool), np.zeros(len(gradient))
    step = -solve_blocks(hessian, gradient, anywhere, undamped)
    if (theta + step >= lower).all():
        return step
    start = np.broadcast_to(theta, gradient.shape)
    return bounded_steps(start, gradient, hessian, lower, undamped)


def _gather(bases: Array, hessian: Array) -> Array:
    """Hessians in the coefficients of several bases, from those at the keys."""
    n_bases, keys, count = bases.shape
    width = hessian.shape[1]
    # Whichever products are fewer.
    if count > width**2:
        weighted = bases[..., None, None] * hessian[:, None]
        square = bases.swapaxes(1, 2) @ weighted.reshape(n_bases, keys, -1)
    else:
        pairs = (bases[:, :, :, None] * bases[:, :, None, :]).transpose(0, 2, 3, 1)
        square = pairs.reshape(-1, keys) @ hessian.reshape(keys, -1)
    blocks = square.reshape(n_bases, count, count, width, width).transpose(0, 1, 3, 2, 4)
    return blocks.reshape(n_bases, count * width, count * width)


def shifted_sums(sums: Sums, step: Array) -> Sums:
    """Return the sums at coefficients that are a tiny step away at every key."""
    assert sums.hessian is not None
    curved = np.einsum("tpq,tq->tp", sums.hessian, step)
    loss = sums.loss + np.einsum("tp,tp->t", sums.gradient + 0.5 * curved, step)
    return Sums(loss, sums.gradient + curved, sums.hessian)


@dataclass(frozen=True)
class Bracket:
    """The lowest of some points, its neighbors, and where a parabola through them is lowest.

    ``promised`` is how much lower it is there.
    """

    left: float
    center: float
    right: float
    vertex: float
    predicted: float

    @classmethod
    def around(cls, lowest: int, points: Array, values: Array) -> Self:
        """Find the neighbors; the lowest is its own where it is the first or the last."""
        neighbors = [max(lowest - 1, 0), lowest, min(lowest + 1, len(points) - 1)]
        left, center, right = points[neighbors].tolist()
        # Neighbors may be lower by rounding errors.
        rise, _, fall = np.maximum(values[neighbors] - values[lowest], 0.0).tolist()
        bend = rise * (right - center) + fall * (center - left)
        lean = rise * (right - center) ** 2 - fall * (center - left) ** 2
        if not (0.0 < bend < np.inf and left < center < right):
            return cls(left, center, right, center, 0.0)
        # Values may be so far apart that their squares overflow.
        displacement = 0.5 * lean / bend
        predicted = (
            0.5 * displacement * lean / ((right - center) * (center - left) * (right - left))
        )
        return cls(left, center, right, center + displacement, predicted)

    def refined_grid(self) -> Array:
        """Points all over the bracket, and close to the vertex."""
        near = self.vertex + np.array([-0.01, 0.0, 0.01]) * (self.right - self.left)
        evenly = np.linspace(self.left, self.right, N_EVEN)
        points = np.concatenate([evenly, [self.center], near])
        return np.unique(points.clip(self.left, self.right))

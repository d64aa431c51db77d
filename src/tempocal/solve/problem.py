"""The objective: negative log likelihood summed over rows, plus quadratic penalties.

The coefficients at key t are ``theta_t = B_t c``, with B_t the values of the basis at that key. So
gradient and Hessian in c are ``sum of B_t' g_t`` and ``sum of B_t' H_t B_t``.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from tempocal.inputs import Codes
from tempocal.lazy import cached
from tempocal.links import Array
from tempocal.rows import Rows, Sums
from tempocal.solve.penalties import (
    Penalty,
    Strengths,
    total_penalty_matrix,
    unpenalized_projection,
)
from tempocal.solve.quadratic_loss import QuadraticLoss

# Enough for matrix scaling of 16 classes.
MAX_NEWTON_COEFFICIENTS = 300
# Entries of a sum of penalty matrices below this share of its diagonal are rounding errors.
ROUNDING = 1e-9


@dataclass(frozen=True)
class Point:
    """The objective and its derivatives at some coefficients, by block of the Hessian."""

    theta: Array  # (coefficients,)
    values: Array  # (blocks,)
    gradients: Array  # (blocks, n)
    hessians: Array | None  # (blocks, n, n)
    sums: Sums

    @property
    def value(self) -> float:
        """The objective."""
        return float(self.values.sum())

    @property
    def gradient(self) -> Array:
        """Gradient of the objective."""
        return self.gradients.ravel()

    def replaced(self, other: Self, blocks: NDArray[np.bool_]) -> Self:
        """Take some of the blocks from another point; sums are then those of neither."""
        if blocks.all():
            return other
        if not blocks.any():
            return self
        assert self.hessians is not None
        assert other.hessians is not None
        by_row, shape = blocks[:, None], self.gradients.shape
        theta = np.where(by_row, other.theta.reshape(shape), self.theta.reshape(shape))
        return replace(
            self,
            theta=theta.ravel(),
            values=np.where(blocks, other.values, self.values),
            gradients=np.where(by_row, other.gradients, self.gradients),
            hessians=np.where(by_row[:, None], other.hessians, self.hessians),
        )


@dataclass(frozen=True)
class Problem:
    """A model whose coefficients at each key are linear in the unknown coefficients.

    The unknown coefficients are a table (functions, coefficients of a key), flattened. Those of key
    t are ``basis[t] @ table``, or ``table[basis[t]]`` if the basis is an array of row numbers. A
    model that is the same at all keys has a table of one row.

    Attributes
    ----------
    rows : Rows
        Labeled predictions, keyed by time or by fold.
    basis : ndarray of float, shape (keys, functions), or of int, shape (keys,)
        Values of the basis functions at the keys, or the row of the table that each key has.
    identity : ndarray of shape (coefficients,)
        Coefficients of the identity map.
    penalties : tuple of Penalty
        Penalties, each to be multiplied by a strength.
    lower : ndarray of shape (coefficients,)
        Lower bounds, minus infinity if there is none.
    baseline_penalty : ndarray of shape (coefficients,)
        Diagonal of a penalty that does not depend on the strengths.
    moment : ndarray of shape (width, width)
        Second moment of the features: for L-BFGS, the approximate Hessian of each row of ``width``
        coefficients.
    max_newton : int
        With more coefficients than this a Hessian is too costly, and L-BFGS is used.
    held_out_fold : int or None
        Key whose rows do not count.
    earlier_loss : QuadraticLoss or None
        Loss of earlier rows, added to that of ``rows``.
    trend : ndarray of shape (coefficients, directions) or None
        What no smoothing penalty acts on, where design effects are told apart by it.
    """

    rows: Rows
    basis: Array | Codes
    identity: Array
    penalties: tuple[Penalty, ...]
    lower: Array
    baseline_penalty: Array
    moment: Array
    max_newton: int = MAX_NEWTON_COEFFICIENTS
    held_out_fold: int | None = None
    earlier_loss: QuadraticLoss | None = None
    trend: Array | None = None

    @property
    def n_coefficients(self) -> int:
        """Number of unknown coefficients."""
        return len(self.identity)

    @cached
    def is_separate(self) -> bool:
        """Whether each key has its own coefficients, which no penalty joins with others."""
        n_keys, width = self.rows.n_keys, self.rows.n_coefficients
        if self.basis.ndim == 2 or self.n_coefficients != n_keys * width:
            return False
        is_own = self.held_out_fold is None and (self.basis == np.arange(n_keys)).all()
        return bool(is_own) and all(one.matrix.ndim != 2 for one in self.penalties)

    @property
    def block_weights(self) -> Array:
        """Weight of the rows of each block."""
        return self.rows.key_weights if self.is_separate else np.array([self.rows.total_weight])

    def in_blocks(self, theta: Array) -> Array:
        """Arrange coefficients by block of the Hessian: (blocks, n)."""
        return theta.reshape(self.rows.n_keys if self.is_separate else 1, -1)

    @cached
    def is_counted(self) -> NDArray[np.bool_]:
        """Which keys count: all but the held-out fold."""
        return np.asarray(np.arange(self.rows.n_keys) != self.held_out_fold)

    @cached
    def sums_at_identity(self) -> Sums:
        """Sums over all rows of each key at the identity."""
        return self.rows.all_rows.sums(self.at_keys(self.identity))

    @property
    def loss_at_identity(self) -> float | None:
        """Loss at the identity, from the sums there if they are known; None if it is not exact."""
        if "sums_at_identity" in vars(self):
            return float(self.sums_at_identity.loss.sum())
        all_rows = self.rows.all_rows
        return (
            float(all_rows.losses(self.at_keys(self.identity)).sum()) if all_rows.is_exact else None
        )

    @cached
    def bandwidth(self) -> int:
        """Largest distance of a nonzero entry of the penalized Hessian from its diagonal."""
        width = self.rows.n_coefficients
        n_functions = self.n_coefficients // width
        reach = 0
        if self.basis.ndim == 2:
            is_used = self.basis != 0.0
            last = n_functions - 1 - np.argmax(is_used[:, ::-1], axis=1)
            reach = int((last - np.argmax(is_used, axis=1)).max(initial=0))
        distances = [_bandwidth(one.matrix) for one in self.penalties if one.matrix.ndim == 2]
        if self.earlier_loss is not None:
            distances += [_bandwidth(one) for one in self.earlier_loss.curvature]
        return max((reach + 1) * width - 1, *distances, 0)

    def penalizes_all(self, strengths: Strengths) -> bool:
        """Whether penalties that add up to a diagonal make the total positive definite."""
        is_used = tuple(
            strength > 0.0 and not penalty.is_smoothing
            for strength, penalty in zip(strengths, self.penalties, strict=True)
        )
        known = self._penalized_all.get(is_used)
        if known is None:
            units = tuple(map(float, is_used))
            total = total_penalty_matrix(self.penalties, units, self.baseline_penalty)
            diagonal = total if total.ndim == 1 else np.einsum("...pp->...p", total)
            beside = 0.0 if total.ndim == 1 else np.abs(total).sum(axis=-1) - np.abs(diagonal)
            # The parts of one penalty cancel each other beside the diagonal, up to rounding.
            known = bool(((diagonal > 0.0) & (beside <= ROUNDING * diagonal)).all())
            self._penalized_all[is_used] = known
        return known

    @cached
    def _penalized_all(self) -> dict[tuple[bool, ...], bool]:
        return {}

    def penalty_matrix(self, strengths: Strengths) -> Array:
        """Total penalty matrix; its diagonal if all penalties are diagonal, or its blocks."""
        return self._penalty_at(strengths)[0]

    def penalty_blocks(self, strengths: Strengths) -> Array:
        """Total penalty matrix, in the blocks of the Hessian."""
        return self._penalty_at(strengths)[1]

    def _penalty_at(self, strengths: Strengths) -> tuple[Array, Array]:
        known = self._penalty_matrices.get(strengths)
        if known is None:
            matrix = total_penalty_matrix(self.penalties, strengths, self.baseline_penalty)
            blocks = matrix if matrix.ndim == 3 else matrix[None]
            if matrix.ndim == 1:
                diagonals = self.in_blocks(matrix)
                blocks = np.zeros((*diagonals.shape, diagonals.shape[1]))
                np.einsum("tpp->tp", blocks)[:] = diagonals
            self._penalty_matrices.clear()
            known = self._penalty_matrices[strengths] = matrix, blocks
        return known

    @cached
    def _penalty_matrices(self) -> dict[Strengths, tuple[Array, Array]]:
        """Total penalty matrix at the last strengths: each pass over the rows adds it."""
        return {}

    def unpenalized_part(self, strengths: Strengths) -> Callable[[Array], Array]:
        """Return the projection onto the directions that no penalty acts on.

        These do not depend on how strong the penalties are, so each matrix is scaled to a largest
        entry of 1. Otherwise rounding would decide: next to two time steps 1e-25 apart, whose
        difference has a weight of 1e25 in a `RandomWalk`, a shrinkage of 1 would count as zero.
        """
        if self.penalizes_all(strengths):
            return np.zeros_like
        units = tuple(
            1.0 / float(np.abs(penalty.matrix).max()) if strength and penalty.is_used else 0.0
            for penalty, strength in zip(self.penalties, strengths, strict=True)
        )
        return unpenalized_projection(
            total_penalty_matrix(self.penalties, units, np.sign(self.baseline_penalty))
        )

    def at_keys(self, theta: Array) -> Array:
        """Coefficients of every key, of shape (keys, coefficients of a key)."""
        table = theta.reshape(-1, self.rows.n_coefficients)
        if self.basis.ndim == len(self.basis) == len(table) == 1:
            return table
        return np.asarray(table[self.basis] if self.basis.ndim == 1 else self.basis @ table)

    def penalty_gradient(self, strengths: Strengths, offset: Array) -> Array:
        """Gradient of the penalties: total penalty matrix times the offset."""
        total = self.baseline_penalty * offset
        for strength, penalty in zip(strengths, self.penalties, strict=True):
            if strength != 0.0:
                total = total + strength * penalty.dot(offset)
        return np.asarray(total, dtype=np.float64)

    def penalty_value(self, strengths: Strengths, theta: Array) -> float:
        """Sum of the penalties at ``theta``."""
        offset = theta - self.identity
        return 0.5 * float(offset @ self.penalty_gradient(strengths, offset))

    def penalty_values(self, strengths: Strengths, theta: Array) -> Array:
        """Sum of the penalties on each block at ``theta``."""
        offset = theta - self.identity
        products = offset * self.penalty_gradient(strengths, offset)
        return np.asarray(0.5 * self.in_blocks(products).sum(axis=1))

    def evaluate(self, theta: Array, strengths: Strengths, *, hessian: bool = True) -> Point:
        """Objective, gradient and Hessian at ``theta``, by one pass over the rows."""
        return self.point_from_sums(
            theta, strengths, self.rows.sums(self.at_keys(theta), hessian=hessian)
        )

    def point_from_sums(self, theta: Array, strengths: Strengths, sums: Sums) -> Point:
        """Objective, gradient and Hessian from the sums over the rows of each key."""
        offset = theta - self.identity
        penalty_gradient = self.penalty_gradient(strengths, offset)
        counted = sums if self.held_out_fold is None else _without(sums, self.held_out_fold)
        losses = counted.loss if self.is_separate else counted.loss.sum(keepdims=True)
        values = losses + 0.5 * self.in_blocks(offset * penalty_gradient).sum(axis=1)
        gradients = self._gather_gradients(counted.gradient) + self.in_blocks(penalty_gradient)
        hessians = None
        if counted.hessian is not None:
            hessians = self._gather_hessians(counted.hessian) + self.penalty_blocks(strengths)
        if self.earlier_loss is not None:
            earlier_values, earlier_gradients = self.earlier_loss.at(theta)
            values, gradients = values + earlier_values, gradients + earlier_gradients
            hessians = None if hessians is None else hessians + self.earlier_loss.curvature
        return Point(theta, values, gradients, hessians, sums)

    def with_targets_at(self, center: Array) -> Self:
        """Return the problem with the targets of earlier rows as they are at a center."""
        if self.earlier_loss is None:
            return self
        return replace(self, earlier_loss=self.earlier_loss.with_targets_at(center))

    @property
    def _table_rows(self) -> Codes:
        return np.asarray(self.basis, dtype=np.intp)

    def _gather_gradients(self, gradients: Array) -> Array:
        """Chain rule: gradients at the keys to those in the unknown coefficients, by block."""
        if self.is_separate:
            return gradients
        if self.basis.ndim == 2:
            return np.asarray(self.basis.T @ gradients).reshape(1, -1)
        if self.n_coefficients == gradients.shape[1]:
            return np.asarray(gradients.sum(axis=0, keepdims=True))
        total = np.zeros((self.n_coefficients // gradients.shape[1], gradients.shape[1]))
        np.add.at(total, self._table_rows, gradients)
        return total.reshape(1, -1)

    def _gather_hessians(self, hessians: Array) -> Array:
        """Chain rule: Hessians at the keys to those in the unknown coefficients, by block."""
        if self.is_separate:
            return hessians
        n, width = self.n_coefficients, hessians.shape[1]
        count = n // width
        if self.basis.ndim == 1 and count == 1:
            return np.asarray(hessians.sum(axis=0, keepdims=True))
        if self.basis.ndim == 1:
            total = np.zeros((count, width, count, width))
            blocks = total.transpose(0, 2, 1, 3)
            np.add.at(blocks, (self._table_rows, self._table_rows), hessians)
            return total.reshape(1, n, n)
        total = np.empty((count, width, count, width))
        for p in range(width):
            for q in range(p, width):
                total[:, p, :, q] = (self.basis * hessians[:, p, q, None]).T @ self.basis
                total[:, q, :, p] = total[:, p, :, q].T
        return total.reshape(1, n, n)


def _bandwidth(matrix: Array) -> int:
    rows, columns = np.nonzero(matrix)
    return int(np.abs(rows - columns).max(initial=0))


def _without(sums: Sums, key: int) -> Sums:
    others = np.arange(len(sums.loss)) != key
    return Sums(
        sums.loss * others,
        sums.gradient * others[:, None],
        None if sums.hessian is None else sums.hessian * others[:, None, None],
    )


@dataclass(frozen=True)
class Solution:
    """Result of a solver.

    Attributes
    ----------
    theta : ndarray of shape (coefficients,)
        The coefficients.
    loss : float
        Negative log likelihood summed over rows, without penalties, at or next to ``theta``.
    hessian : ndarray or None
        Hessian of the loss without penalties, at or next to ``theta``, in blocks: of shape (1,
        coefficients, coefficients), or (keys, width, width) if the keys share no coefficients.
    gradient : ndarray of shape (coefficients,) or None
        Gradient of the penalized loss: zero, except for coefficients at a bound.
    passes : int
        Number of passes over the rows.
    converged : bool
        Whether the objective is at its minimum, up to rounding.
    unbounded : bool
        Whether there is no finite optimum: the coefficients diverge.
    where_unbounded : ndarray of bool, shape (keys,), or None
        At which keys they diverge, if the keys share no coefficients.
    sums : Sums or None
        Sums over the rows of each key at ``theta - step``, if the solver kept them.
    step : ndarray of shape (coefficients,) or None
        The last step, after which there was no further pass.
    """

    theta: Array
    loss: float
    hessian: Array | None
    gradient: Array | None
    passes: int
    converged: bool
    unbounded: bool
    where_unbounded: NDArray[np.bool_] | None = None
    sums: Sums | None = None
    step: Array | None = None

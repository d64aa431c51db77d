"""What is minimized: sums over rows plus pulls towards the identity."""

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
    add_penalty,
    total_penalty_matrix,
    unpenalized_projection,
)
from tempocal.solve.quadratic_loss import QuadraticLoss

# A matrix of weights for 16 classes.
MAX_NEWTON_COEFFICIENTS = 300


@dataclass(frozen=True)
class Point:
    """An objective and its derivatives at some coefficients."""

    theta: Array
    value: float
    gradient: Array
    hessian: Array | None
    sums: Sums


@dataclass(frozen=True)
class Problem:
    """A model whose coefficients at each key are combinations of the ones to be found.

    The coefficients are the rows of a table (functions, coefficients of a key), one after the
    other. Those of key t are ``basis[t] @ table``; or where every key has one row of the table,
    ``table[basis[t]]``. A model that is the same at all keys has a table of one row.

    Attributes
    ----------
    rows : Rows
        Labelled predictions, keyed by time or by fold.
    basis : ndarray of float, shape (keys, functions), or of int, shape (keys,)
        How coefficients of the keys come about.
    identity : ndarray of shape (coefficients,)
        The coefficients that change nothing.
    penalties : tuple of Penalty
        Pulls towards the identity, to be multiplied by a strength each.
    lower : ndarray of shape (coefficients,)
        Lower bounds, minus infinity where there is none.
    steady : ndarray of shape (coefficients,)
        A pull towards the identity that is there at any strength.
    moment : ndarray of shape (width, width)
        For L-BFGS, about the curvature of the loss in each row of ``width`` coefficients.
    most_newton : int
        With more coefficients than this a Hessian costs too much, and L-BFGS does without.
    left_out : int or None
        A fold whose rows do not count.
    past : Past or None
        The loss of earlier rows, which counts as well.
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

    @property
    def n_coefficients(self) -> int:
        """How many coefficients are to be found."""
        return len(self.identity)

    @property
    def is_scalar(self) -> bool:
        """Whether one coefficient of one key, and rows that are here, are all there is."""
        alone = self.earlier_loss is None and self.held_out_fold is None
        return alone and self.n_coefficients == len(self.basis) == self.basis.ndim == 1

    @cached
    def is_counted(self) -> NDArray[np.bool_]:
        """Which keys count."""
        return np.asarray(np.arange(self.rows.n_keys) != self.held_out_fold)

    @cached
    def sums_at_identity(self) -> Sums:
        """Sums over the rows of each key where nothing is changed, before any closer look."""
        return self.rows.sums(self.at_keys(self.identity))

    @property
    def losses_at_identity(self) -> Array:
        """Loss of each key where nothing is changed, whether or not more is known there."""
        known = vars(self).get("sums_at_identity")
        return self.rows.losses(self.at_keys(self.identity)) if known is None else known.loss

    def penalty_matrix(self, strengths: Strengths) -> Array:
        """All pulls together: a matrix, or its diagonal."""
        return total_penalty_matrix(self.penalties, strengths, self.baseline_penalty)

    def unpenalized_part(self, strengths: Strengths) -> Callable[[Array], Array]:
        """Return the projection of a vector onto the directions that no penalty acts on.

        Which these are does not depend on how strong the penalties are, and rounding must not make
        it so: beside two steps of time 1e-25 apart, whose difference has a weight of 1e25 in a
        `RandomWalk`, a shrinkage of 1 would count as none.
        """
        units = tuple(
            1.0 / float(np.abs(penalty.matrix).max()) if strength and penalty.is_used else 0.0
            for penalty, strength in zip(self.penalties, strengths, strict=True)
        )
        return unpenalized_projection(
            total_penalty_matrix(self.penalties, units, np.sign(self.baseline_penalty))
        )

    def subsampled(self, size: int) -> tuple[Self, float]:
        """Return the same problem with about ``size`` of its rows, and their share of the weight.

        The steady pull is that share of what it was.
        """
        rows = self.rows.thin(size)
        share = rows.total_weight / self.rows.total_weight
        return replace(self, rows=rows, baseline_penalty=share * self.baseline_penalty), share

    def condensed(self) -> Self | None:
        """Return about the same problem with far fewer rows, as heavy in all; None if none is."""
        rows = self.rows.condensed()
        return None if rows is None else replace(self, rows=rows)

    def approximate_optimum(self, strengths: Strengths) -> Array | None:
        """Coefficients close to the optimum, if every key has its own and rows know a quick way.

        The first key has the first row of the table then, and so on.
        """
        shape, penalty_matrix = (
            (self.rows.n_keys, self.rows.n_coefficients),
            self.penalty_matrix(strengths),
        )
        apart = (
            self.n_coefficients == shape[0] * shape[1]
            and self.basis.ndim == penalty_matrix.ndim == 1
        )
        if not apart or self.earlier_loss is not None or self.held_out_fold is not None:
            return None
        given = (each.reshape(shape) for each in (self.identity, penalty_matrix, self.lower))
        found = self.rows.descend(*given)
        return None if found is None else found.ravel()

    def at_keys(self, theta: Array) -> Array:
        """Coefficients of every key, of shape (keys, coefficients of a key)."""
        table = theta.reshape(-1, self.rows.n_coefficients)
        if self.basis.ndim == len(self.basis) == len(table) == 1:
            return table
        return np.asarray(table[self.basis] if self.basis.ndim == 1 else self.basis @ table)

    def penalty_gradient(self, strengths: Strengths, offset: Array) -> Array:
        """All pulls together, times a vector."""
        total = self.baseline_penalty * offset
        for strength, penalty in zip(strengths, self.penalties, strict=True):
            if strength != 0.0:
                total = total + strength * penalty.dot(offset)
        return np.asarray(total, dtype=np.float64)

    def penalty_value(self, strengths: Strengths, theta: Array) -> float:
        """Return what the pulls add to the loss."""
        offset = theta - self.identity
        return 0.5 * float(offset @ self.penalty_gradient(strengths, offset))

    def evaluate(self, theta: Array, strengths: Strengths, *, hessian: bool = True) -> Point:
        """Sum the loss over rows, add the pull towards the identity, with derivatives."""
        return self.point_from_sums(
            theta, strengths, self.rows.sums(self.at_keys(theta), hessian=hessian)
        )

    def point_from_sums(self, theta: Array, strengths: Strengths, sums: Sums) -> Point:
        """Add the pull to sums over rows, with derivatives."""
        offset = theta - self.identity
        penalty_gradient = self.penalty_gradient(strengths, offset)
        sums = sums if self.held_out_fold is None else _without(sums, self.held_out_fold)
        value = float(sums.loss.sum()) + 0.5 * float(offset @ penalty_gradient)
        gradient = self._gather_gradient(sums.gradient) + penalty_gradient
        if self.earlier_loss is not None:
            before, slope = self.earlier_loss.at(theta)
            value, gradient = value + float(before[0]), gradient + slope[0]
        if sums.hessian is None:
            return Point(theta, value, gradient, None, sums)
        hessian = add_penalty(self._gather_hessian(sums.hessian), self.penalty_matrix(strengths))
        if self.earlier_loss is not None:
            hessian += self.earlier_loss.curvature[0]
        return Point(theta, value, gradient, hessian, sums)

    @property
    def _table_rows(self) -> Codes:
        """Row of the table that each key has."""
        return np.asarray(self.basis, dtype=np.intp)

    def _gather_gradient(self, gradients: Array) -> Array:
        """From the gradient at every key to that in the coefficients."""
        if self.basis.ndim == 2:
            return np.asarray(self.basis.T @ gradients).ravel()
        if self.n_coefficients == gradients.shape[1]:
            return np.asarray(gradients.sum(axis=0))
        total = np.zeros((self.n_coefficients // gradients.shape[1], gradients.shape[1]))
        np.add.at(total, self._table_rows, gradients)
        return total.ravel()

    def _gather_hessian(self, hessians: Array) -> Array:
        """From the Hessian at every key to that in the coefficients."""
        n, width = self.n_coefficients, hessians.shape[1]
        count = n // width
        if self.basis.ndim == 1 and count == 1:
            return np.asarray(hessians.sum(axis=0))
        if self.basis.ndim == 1:
            total = np.zeros((count, width, count, width))
            blocks = total.transpose(0, 2, 1, 3)
            np.add.at(blocks, (self._table_rows, self._table_rows), hessians)
            return total.reshape(n, n)
        total = np.empty((count, width, count, width))
        for p in range(width):
            for q in range(p, width):
                total[:, p, :, q] = (self.basis * hessians[:, p, q, None]).T @ self.basis
                total[:, q, :, p] = total[:, p, :, q].T
        return total.reshape(n, n)


def _without(sums: Sums, key: int) -> Sums:
    """Leave out the rows of a key."""
    others = np.arange(len(sums.loss)) != key
    return Sums(
        sums.loss * others,
        sums.gradient * others[:, None],
        None if sums.hessian is None else sums.hessian * others[:, None, None],
    )


@dataclass(frozen=True)
class Solution:
    """Where a solver stopped.

    Attributes
    ----------
    theta : ndarray of shape (coefficients,)
        The coefficients.
    loss : float
        Negative log likelihood summed over rows, without the pull, at or next to ``theta``.
    hessian : ndarray or None
        Curvature of the loss at or next to ``theta``, without the pull: of shape (coefficients,
        coefficients), or (keys, width, width) where every key has its own coefficients and none of
        another's.
    gradient : ndarray of shape (coefficients,) or None
        Gradient with the pull: zero, but for coefficients that a bound holds back.
    passes : int
        Passes that were made over the rows.
    converged : bool
        Whether the objective is at its minimum, to rounding.
    unbounded : bool
        Whether the coefficients were still running away when the objective no longer changed:
        there is no finite optimum.
    where_unbounded : ndarray of bool, shape (keys,), or None
        At which keys they were, where each has its own.
    sums : Sums or None
        Sums over the rows of each key, where the solver has kept them: at ``theta - step``.
    step : ndarray of shape (coefficients,) or None
        The last step, which was taken unseen.
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

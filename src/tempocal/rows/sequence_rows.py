"""Rows that learn from the forecasts that follow them, and from the outcome at the end.

A calibrated forecast is the expected next forecast of its sequence. So the target of a row mixes
the next forecasts and the outcome (temporal differences; the formulas are in
`tempocal.rows.stored_sequences`). Targets depend on the coefficients, which are then not those of
the lowest loss but the root of an estimating function:

1. The targets are computed at a center, by one pass over all rows. With fixed targets the loss is
   that of the outcomes plus a linear term, so that any solver minimizes it.
2. From the minimum comes a better center (`tempocal.solve.moving_targets`), until both agree.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from tempocal.inputs import Codes
from tempocal.links import Array
from tempocal.rows.sums import Rows, Sums

# Strengths are chosen with the Jacobian of a point that is closer than this.
NEAR = 1e-4
TINY = 1e-300


@dataclass(frozen=True)
class PastScores:
    """Scores of the outcomes in a feature made of earlier forecasts.

    Attributes
    ----------
    by_group : ndarray of shape (groups,)
        Feature times outcome minus forecast, summed over the rows of each group.
    slopes : ndarray of shape (unknowns,)
        Minus the derivatives of their sum in the unknowns.
    """

    by_group: Array
    slopes: Array


class Sequences(Protocol):
    """All rows of all sequences, in memory or in a table."""

    @property
    def decay(self) -> float:
        """Weight of what comes one row later."""

    def linear_term(self, theta: Array) -> Array:
        """Sum of features times outcomes minus targets at ``theta``: (keys, coefficients)."""

    def jacobian(self, theta: Array, directions: Array) -> Array:
        """Minus the derivative of the estimating function, in the unknowns of ``directions``."""

    def group_gradients(self, theta: Array, codes: Codes, count: int) -> Sequence[csr_array]:
        """Minus the estimating function, summed by group and key, for each coefficient."""

    def past_scores(
        self, theta: Array, directions: Array, codes: Codes, count: int
    ) -> Iterator[PastScores]:
        """Scores of the forecast of the row before, and of the mean of all before."""


class SequenceRows:
    """Rows with targets from the forecasts that follow.

    Parameters
    ----------
    rows : Rows
        The same rows with their outcomes as targets.
    sequences : Sequences
        Their forecasts along sequences.
    mean_weight : float
        Mean weight of a row.
    """

    is_exact = False
    detects_separation = False

    def __init__(self, rows: Rows, sequences: Sequences, mean_weight: float = 1.0) -> None:
        self.outcome_rows, self.sequences, self.mean_weight = rows, sequences, mean_weight
        self.n_keys, self.n_coefficients = rows.n_keys, rows.n_coefficients
        self.key_weights, self.total_weight = rows.key_weights, rows.total_weight
        self.converged = True
        self._center: Array | None = None  # where the targets were computed
        self._linear_term = np.zeros(0)
        # By the number of unknowns: where it was computed, the basis there, and the matrix.
        self._jacobians: dict[int, tuple[Array, Array | Codes, Array]] = {}

    @property
    def all_rows(self) -> Rows:
        """All rows with their outcomes as targets."""
        return self.outcome_rows.all_rows

    @property
    def mean_squares(self) -> Array:
        """Diagonal of the Hessian at theta = 0, times 4 and divided by the total weight."""
        return self.outcome_rows.mean_squares

    def sums(self, theta: Array, *, hessian: bool = True) -> Sums:
        """Loss with the current targets and its derivatives, at ``theta`` of each key."""
        if self._center is None:
            self.move_to(theta)
        sums = self.outcome_rows.sums(theta, hessian=hessian)
        loss = sums.loss + np.einsum("tp,tp->t", self._linear_term, theta)
        return Sums(loss, sums.gradient + self._linear_term, sums.hessian)

    def losses(self, theta: Array) -> Array:
        """Loss with the current targets, of shape (keys,)."""
        return self.sums(theta, hessian=False).loss

    def group_gradients(
        self, theta: Array, codes: Codes, count: int
    ) -> Iterator[Sequence[Array | csr_array]]:
        """Gradient with the targets at ``theta``, summed by group and key."""
        yield self.sequences.group_gradients(theta, codes, count)

    def groups_by_key(self, codes: Codes, count: int) -> Array:
        """Count the groups that have rows under each key."""
        return self.outcome_rows.groups_by_key(codes, count)

    def has_finite_optimum(self, direction: Array) -> NDArray[np.bool_]:
        """Return True for each key: targets between 0 and 1 do not separate."""
        return np.ones(self.n_keys, dtype=bool)

    def refine(self, theta: Array, *, diverged: bool = False) -> bool:
        """Refine the rows with their outcomes; targets stay as they are."""
        return self.outcome_rows.refine(theta, diverged=diverged)

    def move_to(self, theta: Array, *, within: float = 0.0) -> None:
        """Compute the targets at a center, unless they are known that near to it."""
        if self._center is None or not self.distance(theta - self._center) <= within:
            self._center, self._linear_term = theta.copy(), self.sequences.linear_term(theta)

    def jacobian_near(
        self, theta: Array, directions: "Directions", *, within: float = NEAR
    ) -> Array:
        """Minus the derivative of the estimating function, at ``theta`` or a point close to it."""
        known = self._jacobians.get(directions.n_unknowns)
        if (
            known is None
            or not self.distance(theta - known[0]) <= within
            or not np.array_equal(known[1], directions.basis)
        ):
            known = (theta, directions.basis, self.sequences.jacobian(theta, directions.matrix))
            self._jacobians[directions.n_unknowns] = known
        return known[2]

    def scaled(self, step: Array) -> Array:
        """Change of the linear predictors, whose squares have the sum of their mean square."""
        scale = np.sqrt(
            self.key_weights[:, None] * self.mean_squares / max(self.total_weight, TINY)
        )
        return np.asarray((scale * step).ravel())

    def distance(self, step: Array) -> float:
        """Root mean square change of the linear predictors."""
        return float(np.linalg.norm(self.scaled(step)))


@dataclass(frozen=True)
class Directions:
    """Coefficients of every key by each unknown.

    Attributes
    ----------
    basis : ndarray
        What a known Jacobian must have been computed for: the basis of the unknowns at the keys.
    n_unknowns : int
        Number of unknowns.
    compute : callable
        Returns the directions, of shape (keys, coefficients of a key, unknowns).
    """

    basis: Array | Codes
    n_unknowns: int
    compute: Callable[[], Array]

    @property
    def matrix(self) -> Array:
        """The directions."""
        return self.compute()

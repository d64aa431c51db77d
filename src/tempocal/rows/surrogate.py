"""A sample of rows in memory that is a surrogate for all rows of a remote table.

An exact pass over the table returns the loss, the gradient and the Hessian of all rows at one
point, for each of the finest keys: every key of a fit is a union of them. The sample has about the
same sums. The difference is added to it as a quadratic (see `Correction`), so that near the point
of the last exact pass the error is of third order. A solver minimizes the surrogate and calls
`refine` at the minimum; after one or two exact passes that minimum is the one of all rows.
"""

from collections.abc import Iterator
from typing import Protocol, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array

from tempocal.inputs import Codes
from tempocal.lazy import cached
from tempocal.links import Array
from tempocal.rows.in_memory import StoredRows
from tempocal.rows.sums import Correction, Sums

# Root mean square error of the linear predictors below which the sums are exact enough.
TOLERANCE = 1e-11
# The error expected at a distance is this many times what was measured.
SAFETY_FACTOR = 10.0
LEAST_ERROR_RATE = 1e-12
# Weight of an error of the Hessian relative to one of the gradient.
HESSIAN_ERROR_WEIGHT = 1e-3
# Never reached in practice; without it, sums that are not reproducible would be refined forever.
MAX_EXACT_PASSES = 100
# Group gradients are reused within this distance.
NEAR = 1e-8
RIDGE, TINY = 1e-9, 1e-300


class ExactRows(Protocol):
    """All rows, of which sums by finest key can be computed at the cost of a pass."""

    @property
    def weights(self) -> Array:
        """Total weight of each finest key."""

    def exact_sums(self, theta: Array) -> Sums:
        """Return the sums by finest key, at ``theta`` of shape (finest keys, coefficients)."""

    def exact_group_gradients(self, theta: Array) -> "GroupGradients":
        """Return gradients summed over the rows of each group and finest key."""


class GroupGradients:
    """Gradients by group: an entry for each pair of a group and a finest key that has rows."""

    def __init__(self, groups: Codes, finest_keys: Codes, gradients: Array, count: int) -> None:
        self.groups, self.finest_keys = groups, finest_keys
        self.gradients, self.count = gradients, count

    def by_key(self, key_of_finest: Codes, n_keys: int) -> list[csr_array]:
        """Sum over the finest keys of each key: a matrix (groups, keys) for each coefficient."""
        keys = key_of_finest[self.finest_keys]
        kept = keys >= 0
        indices = (self.groups[kept], keys[kept])
        return [
            coo_array((values[kept], indices), shape=(self.count, n_keys)).tocsr()
            for values in self.gradients
        ]


class Surrogate:
    """Surrogate rows plus the exact sums computed so far.

    Parameters
    ----------
    sample : StoredRows
        Rows in memory, keyed by finest key.
    all_rows : ExactRows
        The rows that the sample represents.
    exact : bool
        Whether to make exact passes at all.
    sampled : bool
        Whether ``sample`` is a random sample; else its sums are equal to the exact ones, or nearly.
    share_groups_with : Surrogate or None
        Another surrogate, whose group gradients are used instead of computing them.
    """

    def __init__(
        self,
        sample: StoredRows,
        all_rows: ExactRows,
        *,
        exact: bool,
        sampled: bool,
        share_groups_with: "Surrogate | None" = None,
    ) -> None:
        self._sample, self._all_rows, self._exact, self._sampled = sample, all_rows, exact, sampled
        self._share_groups_with = share_groups_with
        self._exact_sums: Sums | None = None
        self._correction: Correction | None = None
        self._center = np.zeros((sample.n_keys, sample.n_coefficients))
        self._error_rate = np.inf
        self._n_passes = 0
        self._group_gradients: tuple[Array, GroupGradients] | None = None
        self.n_coefficients = sample.n_coefficients
        self.weights = all_rows.weights

    def sums(self, theta: Array, *, hessian: bool) -> Sums:
        """Return the corrected sums of the sample."""
        if self._correction is None and self._sampled and self._exact:
            self.exact_pass(theta, np.ones(len(theta), dtype=bool))
        sums = self._sample.sums(theta, hessian=hessian)
        return sums if self._correction is None else self._correction.applied_to(sums, theta)

    def refine(self, theta: Array, counted: NDArray[np.bool_]) -> bool:
        """Make an exact pass unless the sums are accurate enough; return whether they changed."""
        if self._n_passes >= MAX_EXACT_PASSES or self._expected_error(theta, counted) <= TOLERANCE:
            return False
        predicted = self.sums(theta, hessian=False)
        distance = np.inf if self._exact_sums is None else self._norm(theta - self._center, counted)
        exact = self.exact_pass(theta, counted)
        residual = exact.gradient - predicted.gradient
        error = _largest(_newton_step_norm(residual, exact, self.weights), counted)
        if distance == np.inf:
            self._error_rate = max(error, LEAST_ERROR_RATE)
        elif distance > NEAR:
            # After a second-order correction the gradient's error grows as the squared distance.
            self._error_rate = max(error / distance**2, LEAST_ERROR_RATE)
        # An error at the point of the last pass is rounding: more passes do not reduce it.
        return error > TOLERANCE and distance > NEAR

    def exact_pass(self, theta: Array, counted: NDArray[np.bool_]) -> Sums:
        """Sum over all rows at ``theta``, and correct the sample there."""
        center = np.where(counted[:, None], theta, self._center)
        exact = self._all_rows.exact_sums(center)
        self._n_passes += 1
        self._exact_sums, self._center = exact, center
        self._correction = Correction.between(self._sample.sums(center), exact, center)
        return exact

    def group_gradients(self, theta: Array, counted: NDArray[np.bool_]) -> GroupGradients:
        """Gradients by group, by another exact pass unless they are known nearby."""
        if self._share_groups_with is not None:
            return self._share_groups_with.any_group_gradients
        if self._group_gradients is not None:
            center, gradients = self._group_gradients
            if self._norm(theta - center, counted) <= NEAR:
                return gradients
        gradients = self._all_rows.exact_group_gradients(
            np.where(counted[:, None], theta, self._center)
        )
        self._group_gradients = theta, gradients
        return gradients

    @property
    def any_group_gradients(self) -> GroupGradients:
        """Gradients by group at any point: they show which groups have rows under which keys."""
        if self._group_gradients is None:
            return self.group_gradients(self._center, np.ones(len(self._center), dtype=bool))
        return self._group_gradients[1]

    @property
    def has_group_gradients(self) -> bool:
        """Whether group gradients have been computed."""
        return self._group_gradients is not None

    @cached
    def mean_squares(self) -> Array:
        """Diagonal of the Hessian at theta = 0, times 4 and divided by the total weight."""
        if not (self._sampled and self._exact):
            return self._sample.mean_squares
        hessian = self._all_rows.exact_sums(np.zeros_like(self._center)).hessian
        assert hessian is not None
        return np.asarray(4.0 * np.diag(hessian.sum(axis=0)) / self.weights.sum())

    def _expected_error(self, theta: Array, counted: NDArray[np.bool_]) -> float:
        """Estimate the error of the linear predictors at the minimum of the surrogate."""
        if self._exact_sums is None:
            return np.inf
        distance = self._norm(theta - self._center, counted)
        if not distance < 1.0:
            return np.inf
        # The Hessian's error is of first order, and enters through the strengths estimated from it.
        return SAFETY_FACTOR * self._error_rate * (distance + HESSIAN_ERROR_WEIGHT) * distance

    def _norm(self, steps: Array, counted: NDArray[np.bool_]) -> float:
        """Largest root mean square change of the linear predictors of a finest key."""
        sums = self._exact_sums
        if sums is None:
            sums = self._sample.sums(self._center)
        assert sums.hessian is not None
        squares = np.einsum("ap,apq,aq->a", steps, sums.hessian, steps)
        change = np.sqrt(np.maximum(squares, 0.0) / np.maximum(self.weights, TINY))
        return _largest(change, counted)


class SurrogateRows:
    """The rows of a surrogate under some keys: what a solver is given.

    Parameters
    ----------
    surrogate : Surrogate
        The rows, by finest key.
    key_of_finest : ndarray of shape (finest keys,)
        Key of each finest key; -1 for those that are left out.
    n_keys : int
        Number of keys.
    refines : bool
        Whether `refine` may make exact passes.
    """

    # Only sums are known, and no row.
    detects_separation = False

    def __init__(
        self, surrogate: Surrogate, key_of_finest: Codes, n_keys: int, *, refines: bool = False
    ) -> None:
        self._surrogate, self._key_of_finest, self.n_keys = surrogate, key_of_finest, n_keys
        self._refines = refines
        self._counted = key_of_finest >= 0
        self._keys = key_of_finest[self._counted]
        self.n_coefficients = surrogate.n_coefficients
        weights = surrogate.weights[self._counted]
        self.key_weights = np.bincount(self._keys, weights, minlength=n_keys).astype(np.float64)
        self.total_weight = float(weights.sum())

    def sums(self, theta: Array, *, hessian: bool = True) -> Sums:
        """Negative log likelihood and derivatives at ``theta`` of shape (keys, coefficients)."""
        by_finest_key = self._surrogate.sums(self._at_finest_keys(theta), hessian=hessian)
        total = Sums.zeros(self.n_keys, self.n_coefficients, hessian=hessian)
        np.add.at(total.loss, self._keys, by_finest_key.loss[self._counted])
        np.add.at(total.gradient, self._keys, by_finest_key.gradient[self._counted])
        if total.hessian is not None and by_finest_key.hessian is not None:
            np.add.at(total.hessian, self._keys, by_finest_key.hessian[self._counted])
        return total

    def losses(self, theta: Array) -> Array:
        """Negative log likelihood alone, of shape (keys,)."""
        return self.sums(theta, hessian=False).loss

    def refine(self, theta: Array) -> bool:
        """Make an exact pass at ``theta`` if needed; return whether the sums changed."""
        return self._refines and self._surrogate.refine(self._at_finest_keys(theta), self._counted)

    def has_finite_optimum(self, direction: Array) -> NDArray[np.bool_]:
        """Return True for all keys: separation is not detected."""
        return np.ones(self.n_keys, dtype=bool)

    @property
    def mean_squares(self) -> Array:
        """That of the surrogate, over all rows whatever their key."""
        return self._surrogate.mean_squares

    def group_gradients(self, theta: Array, codes: Codes, count: int) -> Iterator[list[csr_array]]:
        """Gradient summed over the rows of each group and key: (groups, keys) by coefficient."""
        gradients = self._surrogate.group_gradients(self._at_finest_keys(theta), self._counted)
        yield gradients.by_key(self._key_of_finest, self.n_keys)

    def groups_by_key(self, codes: Codes, count: int) -> Array:
        """Count the groups that have rows under each key."""
        table = self._surrogate.any_group_gradients.by_key(self._key_of_finest, self.n_keys)[0]
        return np.asarray(np.diff(table.tocsc().indptr), dtype=np.float64)

    def subsample(self, size: int) -> Self:
        """Return these rows, which are a small sample already."""
        return self

    def moment_matched(self) -> Self | None:
        """Return None: there are no fewer rows than these."""
        return None

    def _at_finest_keys(self, theta: Array) -> Array:
        # The coefficients of finest keys that are left out do not matter: those of the first key.
        return theta[np.maximum(self._key_of_finest, 0)]


def _newton_step_norm(gradient: Array, sums: Sums, weights: Array) -> Array:
    """Root mean square change of the linear predictors of each finest key in a Newton step."""
    assert sums.hessian is not None
    size = np.einsum("app->a", sums.hessian) / gradient.shape[1]
    ridge = np.maximum(RIDGE * size, TINY)[:, None, None] * np.eye(gradient.shape[1])
    steps = np.linalg.solve(sums.hessian + ridge, gradient[:, :, None])[:, :, 0]
    squares = np.einsum("ap,ap->a", steps, gradient)
    return np.asarray(np.sqrt(np.maximum(squares, 0.0) / np.maximum(weights, TINY)))


def _largest(values: Array, counted: NDArray[np.bool_]) -> float:
    return float(values[counted].max(initial=0.0))

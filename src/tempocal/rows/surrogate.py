"""A few rows in memory that stand for many far away, and are put right by looks at those.

Wherever the many were looked at, their sums are known: the loss, its gradient and its Hessian, for
each atom, which is as finely as anybody asks. The few have about the same sums. What they are short
of there is added to them, up to second order, so that near the place of a look the sums are those
of the many but for a difference of the third derivatives. A solver that works on the few and asks
for a look where it has ended has, after one or two, the optimum of the many.
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
from tempocal.rows.sums import Shortfall, Sums

# Error of a linear predictor, beside the rows of its atom, that is as good as none.
CLOSE = 1e-11
# Far from a look, this many times what was off there is taken to be off by.
CAUTION = 10.0
LEAST_OFF = 1e-12
# How much an error of the curvature counts beside one of the gradient.
OF_CURVATURE = 1e-3
# More looks than this are never needed; if sums are not the same twice, they would go on for ever.
MOST_LOOKS = 100
# Gradients of groups are taken as known within this distance.
NEAR = 1e-8
RIDGE, TINY = 1e-9, 1e-300


class Many(Protocol):
    """Rows far away."""

    @property
    def weights(self) -> Array:
        """Weight of each atom."""

    def look(self, theta: Array) -> Sums:
        """Return the sums over the rows of each atom, at coefficients (atoms, coefficients)."""

    def look_by_group(self, theta: Array) -> "GroupSums":
        """Return gradients summed over the rows of each group and atom."""


class GroupSums:
    """Gradients of groups: an entry for each pair of a group and an atom that has rows."""

    def __init__(self, groups: Codes, atoms: Codes, gradients: Array, count: int) -> None:
        self.groups, self.atoms, self.gradients, self.count = groups, atoms, gradients, count

    def by_key(self, places: Codes, n_keys: int) -> list[csr_array]:
        """Add up the atoms of each key: a matrix (groups, keys) for each coefficient."""
        keys = places[self.atoms]
        kept = keys >= 0
        where = (self.groups[kept], keys[kept])
        return [
            coo_array((values[kept], where), shape=(self.count, n_keys)).tocsr()
            for values in self.gradients
        ]


class Stand:
    """The few rows of a model, and what looks at the many have shown.

    Parameters
    ----------
    few : StoredRows
        Rows in memory, keyed by atom.
    many : Many
        The rows that they stand for.
    exact : bool
        Whether to look at the many at all.
    sampled : bool
        Whether the few are some of the many; else they have the same sums, or nearly so.
    groups_of : Stand or None
        Another stand, whose gradients of groups are taken as they are.
    """

    def __init__(
        self,
        few: StoredRows,
        many: Many,
        *,
        exact: bool,
        sampled: bool,
        groups_of: "Stand | None" = None,
    ) -> None:
        self._few, self._many, self._exact, self._sampled = few, many, exact, sampled
        self._groups_of = groups_of
        self._seen: Sums | None = None
        self._short: Shortfall | None = None
        self._center = np.zeros((few.n_keys, few.n_coefficients))
        self._off = np.inf
        self._looks = 0
        self._of_groups: tuple[Array, GroupSums] | None = None
        self.n_coefficients = few.n_coefficients
        self.weights = many.weights

    def sums(self, theta: Array, *, hessian: bool) -> Sums:
        """Return the sums of the many, as far as they are known."""
        if self._short is None and self._sampled and self._exact:
            self.look(theta, np.ones(len(theta), dtype=bool))
        found = self._few.sums(theta, hessian=hessian)
        return found if self._short is None else self._short.added_to(found, theta)

    def sharpen(self, theta: Array, counted: NDArray[np.bool_]) -> bool:
        """Look at the many, unless their sums are known well enough; tell if that was news."""
        if self._looks >= MOST_LOOKS or self._expected_off(theta, counted) <= CLOSE:
            return False
        expected = self.sums(theta, hessian=False)
        away = np.inf if self._seen is None else self._away(theta - self._center, counted)
        seen = self.look(theta, counted)
        off = _largest(_distance(seen.gradient - expected.gradient, seen, self.weights), counted)
        if away == np.inf:
            self._off = max(off, LEAST_OFF)
        elif away > NEAR:
            # Put right to second order, they are off in proportion to the square of the distance.
            self._off = max(off / away**2, LEAST_OFF)
        # What is off at the place of the last look is rounding, and more looks are of no use.
        return off > CLOSE and away > NEAR

    def look(self, theta: Array, counted: NDArray[np.bool_]) -> Sums:
        """Look at the many, and take what the few are short of from there."""
        at = np.where(counted[:, None], theta, self._center)
        seen = self._many.look(at)
        self._looks += 1
        self._seen, self._center = seen, at
        self._short = Shortfall.of(self._few.sums(at), seen, at)
        return seen

    def of_groups(self, theta: Array, counted: NDArray[np.bool_]) -> GroupSums:
        """Gradients of groups, by another look unless they are known next to there."""
        if self._groups_of is not None:
            return self._groups_of.any_of_groups
        if self._of_groups is not None:
            at, found = self._of_groups
            if self._away(theta - at, counted) <= NEAR:
                return found
        found = self._many.look_by_group(np.where(counted[:, None], theta, self._center))
        self._of_groups = theta, found
        return found

    @property
    def any_of_groups(self) -> GroupSums:
        """Gradients of groups, wherever: to see which groups have rows where."""
        if self._of_groups is None:
            return self.of_groups(self._center, np.ones(len(self._center), dtype=bool))
        return self._of_groups[1]

    @property
    def knows_groups(self) -> bool:
        """Whether a look at groups was made."""
        return self._of_groups is not None

    @cached
    def squares(self) -> Array:
        """Mean square of what each coefficient multiplies, times 4 p (1 - p) where all is even."""
        if not (self._sampled and self._exact):
            return self._few.squares
        hessian = self._many.look(np.zeros_like(self._center)).hessian
        assert hessian is not None
        return np.asarray(4.0 * np.diag(hessian.sum(axis=0)) / self.weights.sum())

    def _expected_off(self, theta: Array, counted: NDArray[np.bool_]) -> float:
        """How far off the linear predictors may be that the few would lead to."""
        if self._seen is None:
            return np.inf
        away = self._away(theta - self._center, counted)
        # The curvature is off in first order, and strengths that are taken from it a little.
        return CAUTION * self._off * (away + OF_CURVATURE) * away if away < 1.0 else np.inf

    def _away(self, steps: Array, counted: NDArray[np.bool_]) -> float:
        """How much steps move the linear predictors, in the atom where they do most."""
        sums = self._seen if self._seen is not None else self._few.sums(self._center)
        assert sums.hessian is not None
        squares = np.einsum("ap,apq,aq->a", steps, sums.hessian, steps)
        moved = np.sqrt(np.maximum(squares, 0.0) / np.maximum(self.weights, TINY))
        return _largest(moved, counted)


class StandingRows:
    """Rows of a stand under some keys: what a solver is given.

    Parameters
    ----------
    stand : Stand
        The rows, by atom.
    places : ndarray of shape (atoms,)
        Key of each atom; -1 for those whose rows do not count.
    n_keys : int
        Number of keys.
    sharpens : bool
        Whether to look at the rows that these stand for where a fit has ended.
    """

    # Rows far away cannot tell.
    know_ends = False

    def __init__(self, stand: Stand, places: Codes, n_keys: int, *, sharpens: bool = False) -> None:
        self._stand, self._places, self.n_keys = stand, places, n_keys
        self._sharpens = sharpens
        self._counted = places >= 0
        self._of = places[self._counted]
        self.n_coefficients = stand.n_coefficients
        weights = stand.weights[self._counted]
        self.key_weights = np.bincount(self._of, weights, minlength=n_keys).astype(np.float64)
        self.total_weight = float(weights.sum())

    def sums(self, theta: Array, *, hessian: bool = True) -> Sums:
        """Negative log likelihood and derivatives at ``theta`` of shape (keys, coefficients)."""
        found = self._stand.sums(self._at_atoms(theta), hessian=hessian)
        total = Sums.zeros(self.n_keys, self.n_coefficients, hessian=hessian)
        np.add.at(total.loss, self._of, found.loss[self._counted])
        np.add.at(total.gradient, self._of, found.gradient[self._counted])
        if total.hessian is not None and found.hessian is not None:
            np.add.at(total.hessian, self._of, found.hessian[self._counted])
        return total

    def losses(self, theta: Array) -> Array:
        """Negative log likelihood alone, of shape (keys,)."""
        return self.sums(theta, hessian=False).loss

    def sharpen(self, theta: Array) -> bool:
        """Look at the rows that these stand for; tell whether that changed anything."""
        return self._sharpens and self._stand.sharpen(self._at_atoms(theta), self._counted)

    def descend(self, identity: Array, pull: Array, lower: Array) -> Array | None:
        """No quick way to an optimum."""
        return None

    def have_end(self, direction: Array) -> NDArray[np.bool_]:
        """Rows far away cannot tell."""
        return np.ones(self.n_keys, dtype=bool)

    @property
    def squares(self) -> Array:
        """Mean square of what each coefficient multiplies, over all rows whatever their key."""
        return self._stand.squares

    def group_gradients(self, theta: Array, codes: Codes, count: int) -> Iterator[list[csr_array]]:
        """Gradient summed over the rows of each group and key: (groups, keys) by coefficient."""
        found = self._stand.of_groups(self._at_atoms(theta), self._counted)
        yield found.by_key(self._places, self.n_keys)

    def groups_by_key(self, codes: Codes, count: int) -> Array:
        """How many groups have rows under each key."""
        table = self._stand.any_of_groups.by_key(self._places, self.n_keys)[0]
        return np.asarray(np.diff(table.tocsc().indptr), dtype=np.float64)

    def thin(self, size: int) -> Self:
        """All rows, for they are few."""
        return self

    def condensed(self) -> Self | None:
        """No fewer rows than these."""
        return None

    def _at_atoms(self, theta: Array) -> Array:
        # Atoms that do not count have any coefficients: the first ones.
        return theta[np.maximum(self._places, 0)]


def _distance(gradient: Array, sums: Sums, weights: Array) -> Array:
    """How much a gradient moves the linear predictors of each atom, on average over its rows."""
    assert sums.hessian is not None
    size = np.einsum("app->a", sums.hessian) / gradient.shape[1]
    ridge = np.maximum(RIDGE * size, TINY)[:, None, None] * np.eye(gradient.shape[1])
    steps = np.linalg.solve(sums.hessian + ridge, gradient[:, :, None])[:, :, 0]
    squares = np.einsum("ap,ap->a", steps, gradient)
    return np.asarray(np.sqrt(np.maximum(squares, 0.0) / np.maximum(weights, TINY)))


def _largest(values: Array, counted: NDArray[np.bool_]) -> float:
    return float(values[counted].max(initial=0.0))

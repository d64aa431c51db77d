"""The one question that rows are asked.

Given coefficients for every key (a fold, a time step), what are the loss, the gradient and the
Hessian summed over the rows of each key? Whoever can answer it, from arrays in memory or from a
table far away, can be fitted; nobody above this layer touches a row.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from tempocal.inputs import Codes
from tempocal.links import Array

# exp2 is twice as quick as exp in NumPy, at the same accuracy.
LOG2_E = float(np.log2(np.e))


@dataclass(frozen=True)
class Sums:
    """Weighted sums over the rows of each key."""

    loss: Array  # (keys,)
    gradient: Array  # (keys, coefficients)
    hessian: Array | None  # (keys, coefficients, coefficients)

    @classmethod
    def zeros(cls, n_keys: int, n_coefficients: int, *, hessian: bool) -> Self:
        """Start from nothing."""
        square = (n_keys, n_coefficients, n_coefficients)
        return cls(
            np.zeros(n_keys),
            np.zeros((n_keys, n_coefficients)),
            np.zeros(square) if hessian else None,
        )

    def times(self, factor: float) -> "Sums":
        """Count each row so many times."""
        hessian = None if self.hessian is None else factor * self.hessian
        return Sums(factor * self.loss, factor * self.gradient, hessian)

    def add(self, keys: slice | Codes, part: "Sums") -> None:
        """Add the sums of some of the keys, in place; none of them may come twice."""
        self.loss[keys] += part.loss
        self.gradient[keys] += part.gradient
        if self.hessian is not None and part.hessian is not None:
            self.hessian[keys] += part.hessian


@dataclass(frozen=True)
class Shortfall:
    """What few rows are short of beside many, at a place where both were summed over.

    Added to the few up to second order, so that near that place they have the sums of the many but
    for a difference of the third derivatives.
    """

    center: Array  # (keys, coefficients)
    sums: Sums

    @classmethod
    def of(cls, few: Sums, many: Sums, center: Array) -> Self:
        """Compare the sums of the few and of the many at the same coefficients."""
        assert few.hessian is not None
        assert many.hessian is not None
        short = Sums(many.loss - few.loss, many.gradient - few.gradient, many.hessian - few.hessian)
        return cls(center, short)

    def added_to(self, found: Sums, theta: Array) -> Sums:
        """Add it to the sums of the few at ``theta``."""
        short, away = self.sums, theta - self.center
        assert short.hessian is not None
        bend = np.einsum("apq,aq->ap", short.hessian, away)
        return Sums(
            found.loss + short.loss + np.einsum("ap,ap->a", short.gradient + 0.5 * bend, away),
            found.gradient + short.gradient + bend,
            None if found.hessian is None else found.hessian + short.hessian,
        )


class Rows(Protocol):
    """Labelled predictions that can be summed over."""

    @property
    def n_coefficients(self) -> int:
        """How many coefficients a key has."""

    @property
    def n_keys(self) -> int:
        """How many keys there are."""

    @property
    def total_weight(self) -> float:
        """Weight of all rows together."""

    @property
    def key_weights(self) -> Array:
        """Weight of the rows of each key, of shape (keys,)."""

    def sums(self, theta: Array, *, hessian: bool = True) -> Sums:
        """Negative log likelihood and derivatives at ``theta`` of shape (keys, coefficients)."""

    def losses(self, theta: Array) -> Array:
        """Negative log likelihood alone, of shape (keys,)."""

    def group_gradients(
        self, theta: Array, codes: Codes, count: int
    ) -> Iterator[Sequence[Array | csr_array]]:
        """Gradient summed over the rows of each group and key, some groups after the others.

        There is a matrix of shape (groups, keys) for each coefficient, of all of them or with
        entries where a group has rows under a key; ``codes`` are the groups of the rows, in the
        order they came in.
        """

    def groups_by_key(self, codes: Codes, count: int) -> Array:
        """How many groups have rows under each key, of shape (keys,)."""

    @property
    def squares(self) -> Array:
        """Mean square of what each coefficient multiplies, times 4 p (1 - p) where all is even."""

    def descend(self, identity: Array, pull: Array, lower: Array) -> Array | None:
        """Coefficients close to where the loss of each key and a pull to the identity are least.

        All are of shape (keys, coefficients). Where that has no end it is the identity, or another
        place to start from; and None where rows know no quick way.
        """

    def have_end(self, direction: Array) -> NDArray[np.bool_]:
        """Whether the loss of each key rises in the end as its coefficients grow in a direction.

        That is of shape (keys, coefficients); where it is 0, and where rows cannot tell, it does.
        """

    @property
    def know_ends(self) -> bool:
        """Whether rows can tell that."""

    def sharpen(self, theta: Array) -> bool:
        """Look closer at the rows around ``theta``, if there is more to see than was known.

        Tells whether the sums have changed, so that an optimum must be looked for again.
        """

    def thin(self, size: int) -> Self:
        """About ``size`` of the rows under their keys, evenly spaced; all, if no more."""

    def condensed(self) -> Self | None:
        """Far fewer rows, with weights, that have about the same sums; None if there are none."""


def squares_of(rows: Rows) -> Array:
    """Read the mean squares off the curvature at zero, where every class is as probable."""
    sums = rows.sums(np.zeros((rows.n_keys, rows.n_coefficients)))
    assert sums.hessian is not None
    return np.asarray(4.0 * np.diag(sums.hessian.sum(axis=0)) / rows.total_weight)

"""The one question that rows are asked.

Given coefficients for every key (a fold, a time step), what are the loss, the gradient and the
Hessian summed over the rows of each key? Whoever can answer it, from arrays in memory or from a
table far away, can be fitted; nobody above this layer touches a row.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol, Self

import numpy as np

from tempocal.inputs import Codes
from tempocal.links import Array

# exp2 is twice as quick as exp in NumPy, at the same accuracy.
LOG2_E = float(np.log2(np.e))


# A key and the rows of it that are summed at once.
Block = tuple[int, slice]


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

    def __add__(self, other: "Sums") -> "Sums":
        hessian = None
        if self.hessian is not None and other.hessian is not None:
            hessian = self.hessian + other.hessian
        return Sums(self.loss + other.loss, self.gradient + other.gradient, hessian)


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

    def sums(self, theta: Array, *, hessian: bool = True) -> Sums:
        """Negative log likelihood and derivatives at ``theta`` of shape (keys, coefficients)."""

    def group_gradients(self, theta: Array, codes: Codes, count: int) -> Array:
        """Gradient summed over the rows of each group, of shape (groups, coefficients)."""

    def sample(self, size: int) -> Self:
        """About ``size`` of the rows under a single key, evenly spaced; all, if no more."""


@dataclass(frozen=True)
class Layout:
    """Where the rows of each key lie once they are sorted by key."""

    order: Codes | None  # None: they already are
    offsets: Codes  # (keys + 1,)

    @classmethod
    def of(cls, keys: Codes | None, n_keys: int, n_rows: int) -> Self:
        """Sort by key, unless there is one key only or the rows are in order."""
        if keys is None:
            return cls(None, np.array([0, n_rows], dtype=np.intp))
        order = None if np.all(keys[1:] >= keys[:-1]) else np.argsort(keys, kind="stable")
        counts = np.bincount(keys, minlength=n_keys)
        return cls(order, np.concatenate([[0], np.cumsum(counts)]).astype(np.intp))

    def sort(self, values: Array) -> Array:
        """Put the last axis of ``values`` in the order of the keys."""
        return values if self.order is None else values[..., self.order]

    def blocks(self, size: int) -> Iterator[Block]:
        """Go over all rows in blocks that fit the cache and belong to one key each."""
        for key, (first, end) in enumerate(zip(self.offsets[:-1], self.offsets[1:], strict=True)):
            for start in range(int(first), int(end), size):
                yield key, slice(start, min(start + size, int(end)))


def stride(n_rows: int, size: int) -> int:
    """How many rows to step over to be left with about ``size`` of them."""
    return max(1, n_rows // size)


def sum_by_group(values: Array, codes: Codes, count: int) -> Array:
    """Sum the columns of ``values`` (coefficients, rows) by group: (groups, coefficients)."""
    return np.stack([np.bincount(codes, row, minlength=count) for row in values], axis=1)

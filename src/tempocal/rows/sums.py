"""The interface between rows and the solver.

Given coefficients for every key (a fold, a time step), what are the loss, the gradient and the
Hessian summed over the rows of each key? Anything that can answer, from arrays in memory or from a
remote table, can be fitted; nothing above this layer touches a row.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from tempocal.inputs import Codes
from tempocal.links import Array

# exp2 is twice as fast as exp in NumPy, at the same accuracy.
LOG2_E = float(np.log2(np.e))


@dataclass(frozen=True)
class Sums:
    """Weighted sums over the rows of each key."""

    loss: Array  # (keys,)
    gradient: Array  # (keys, coefficients)
    hessian: Array | None  # (keys, coefficients, coefficients)

    @classmethod
    def zeros(cls, n_keys: int, n_coefficients: int, *, hessian: bool) -> Self:
        """Return sums over no rows."""
        square = (n_keys, n_coefficients, n_coefficients)
        return cls(
            np.zeros(n_keys),
            np.zeros((n_keys, n_coefficients)),
            np.zeros(square) if hessian else None,
        )

    def add(self, keys: slice | Codes, part: "Sums") -> None:
        """Add the sums of some keys in place; ``keys`` must be distinct."""
        self.loss[keys] += part.loss
        self.gradient[keys] += part.gradient
        if self.hessian is not None and part.hessian is not None:
            self.hessian[keys] += part.hessian


class Rows(Protocol):
    """Labeled predictions whose loss can be summed by key."""

    @property
    def n_coefficients(self) -> int:
        """Number of coefficients of each key."""

    @property
    def n_keys(self) -> int:
        """Number of keys."""

    @property
    def total_weight(self) -> float:
        """Total weight of all rows."""

    @property
    def key_weights(self) -> Array:
        """Total weight of the rows of each key, of shape (keys,)."""

    def sums(self, theta: Array, *, hessian: bool = True) -> Sums:
        """Negative log likelihood and derivatives at ``theta`` of shape (keys, coefficients)."""

    def losses(self, theta: Array) -> Array:
        """Negative log likelihood alone, of shape (keys,)."""

    def group_gradients(
        self, theta: Array, codes: Codes, count: int
    ) -> Iterator[Sequence[Array | csr_array]]:
        """Gradient summed over the rows of each group and key, one chunk of groups at a time.

        A chunk has one matrix of shape (groups, keys) for each coefficient, dense or sparse.
        ``codes`` are the groups of the rows, in input order.
        """

    def groups_by_key(self, codes: Codes, count: int) -> Array:
        """Count the groups that have rows under each key, of shape (keys,)."""

    @property
    def mean_squares(self) -> Array:
        """Diagonal of the Hessian at theta = 0, times 4 and divided by the total weight.

        For a binary model these are the mean squares of the features.
        """

    def has_finite_optimum(self, direction: Array) -> NDArray[np.bool_]:
        """Whether the loss of each key grows eventually along ``direction``, of shape (keys,).

        ``direction`` is of shape (keys, coefficients). True where it is 0, and for rows that do not
        detect separation.
        """

    @property
    def detects_separation(self) -> bool:
        """Whether `has_finite_optimum` examines the rows."""

    @property
    def is_exact(self) -> bool:
        """Whether the sums are those of all rows, not of a surrogate."""

    @property
    def all_rows(self) -> "Rows":
        """These rows, or those that they are a surrogate for."""

    def refine(self, theta: Array, *, diverged: bool = False) -> bool:
        """Make the sums of a surrogate more accurate around ``theta``, its optimum.

        Return whether they have changed, so that they must be minimized again. If there is no
        finite optimum, say that it ``diverged`` from ``theta``.
        """


def mean_squares_of(rows: Rows) -> Array:
    """Compute `Rows.mean_squares` from the Hessian at zero."""
    sums = rows.sums(np.zeros((rows.n_keys, rows.n_coefficients)))
    assert sums.hessian is not None
    return np.asarray(4.0 * np.diag(sums.hessian.sum(axis=0)) / rows.total_weight)

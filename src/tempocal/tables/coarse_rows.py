"""Rows of finest keys under the coarser keys of one fit."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from tempocal.inputs import Codes
from tempocal.links import Array
from tempocal.rows import Sums, SurrogateRows
from tempocal.tables.exact_sums import TableRows


class CoarseRows:
    """Surrogate rows under some keys, each of which is a union of finest keys.

    Several fits share the rows of finest keys, and so each exact pass of any of them.

    Parameters
    ----------
    finest : SurrogateRows
        The rows, by finest key.
    key_of_finest : ndarray of shape (finest keys,)
        Key of each finest key; -1 for those that are left out.
    n_keys : int
        Number of keys.
    refines : bool
        Whether `refine` may make exact passes.
    """

    def __init__(
        self, finest: SurrogateRows, key_of_finest: Codes, n_keys: int, *, refines: bool = False
    ) -> None:
        self._finest, self._key_of_finest, self.n_keys = finest, key_of_finest, n_keys
        self._refines = refines
        self._counted = np.flatnonzero(key_of_finest >= 0)
        self._keys = key_of_finest[self._counted]
        self.n_coefficients = finest.n_coefficients
        self.detects_separation = finest.detects_separation
        weights = finest.key_weights[self._counted]
        self.key_weights = np.bincount(self._keys, weights, minlength=n_keys).astype(np.float64)
        self.total_weight = float(weights.sum())

    @property
    def is_exact(self) -> bool:
        """Whether each sum is a pass over all rows."""
        return self._finest.is_exact

    @property
    def all_rows(self) -> "CoarseRows":
        """These rows: passes over a table are made for `refine`, unless the few have misled."""
        return self

    @property
    def mean_squares(self) -> Array:
        """Those of the rows of all finest keys."""
        return self._finest.mean_squares

    def sums(self, theta: Array, *, hessian: bool = True) -> Sums:
        """Negative log likelihood and derivatives at ``theta`` of shape (keys, coefficients)."""
        by_finest_key = self._finest.sums(self._at_finest_keys(theta), hessian=hessian)
        total = Sums.zeros(self.n_keys, self.n_coefficients, hessian=hessian)
        np.add.at(total.loss, self._keys, by_finest_key.loss[self._counted])
        np.add.at(total.gradient, self._keys, by_finest_key.gradient[self._counted])
        if total.hessian is not None and by_finest_key.hessian is not None:
            np.add.at(total.hessian, self._keys, by_finest_key.hessian[self._counted])
        return total

    def losses(self, theta: Array) -> Array:
        """Negative log likelihood alone, of shape (keys,)."""
        return self.sums(theta, hessian=False).loss

    def refine(self, theta: Array, *, diverged: bool = False) -> bool:
        """Make an exact pass at ``theta`` if needed; return whether the sums changed."""
        at_finest, counted = self._at_finest_keys(theta), self._key_of_finest >= 0
        return self._refines and self._finest.refine(at_finest, diverged=diverged, counted=counted)

    def has_finite_optimum(self, direction: Array) -> NDArray[np.bool_]:
        """Return True for all keys: separation is not detected."""
        return np.ones(self.n_keys, dtype=bool)

    def group_gradients(self, theta: Array, codes: Codes, count: int) -> Iterator[list[csr_array]]:
        """Gradient summed over the rows of each group and key: (groups, keys) by coefficient."""
        for tables in self._finest.group_gradients(self._at_finest_keys(theta), codes, count):
            yield [self._by_key(table) for table in tables]

    def groups_by_key(self, codes: Codes, count: int) -> Array:
        """Count the groups that have rows under each key."""
        all_rows = self._finest.all_rows
        assert isinstance(all_rows, TableRows)
        pairs = self._by_key(all_rows.any_group_gradients[0]).tocsc()
        return np.asarray(np.diff(pairs.indptr), dtype=np.float64)

    def _by_key(self, by_finest_key: Any) -> csr_array:
        """Add up the columns of the finest keys of each key."""
        ones, indices = np.ones(len(self._keys)), (self._counted, self._keys)
        shape = (len(self._key_of_finest), self.n_keys)
        return csr_array(by_finest_key @ csr_array((ones, indices), shape=shape))

    def _at_finest_keys(self, theta: Array) -> Array:
        # The coefficients of finest keys that are left out do not matter: those of the first key.
        return theta[np.maximum(self._key_of_finest, 0)]

"""Rows sorted by key, and iteration over them in blocks that fit the cache.

Keys may be a few folds of many rows each or thousands of time steps of a few rows each. A block is
part of one large key or several complete keys, so that neither case is a loop over small arrays.
Keys without rows are left out, and added again at the end by `KeyLayout.for_all_keys`.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array

from tempocal.inputs import Codes
from tempocal.kernels import native
from tempocal.kernels.codes import as_narrow_ints
from tempocal.kernels.key_counts import (
    as_keys,
    count_keys,
    every_nth,
    parts_of_counts,
    scatter,
    sum_by_key,
)
from tempocal.lazy import cached
from tempocal.links import Array, Floats
from tempocal.rows.sums import Sums

# Types that the compiled loop sorts.
SORTED_TYPES = {np.dtype(kind) for kind in (np.float64, np.float32, np.int64, np.bool_)}
# Rows that are gathered at a time.
BLOCK = 2**15


@dataclass(frozen=True)
class Block:
    """Rows that are summed together: part of one key, or all rows of several keys."""

    keys: slice  # among the keys that have rows
    rows: slice
    starts: Codes  # first row of each key, relative to that of the block
    counts: Codes  # rows of each key

    @property
    def is_one_key(self) -> bool:
        """Whether all rows have the same key."""
        return len(self.starts) == 1

    def spread(self, values: Array) -> Array:
        """Repeat the values of each key (..., keys) for its rows (..., rows).

        The values of a single key (..., 1) are returned unchanged and broadcast.
        """
        return values if self.is_one_key else np.repeat(values, self.counts, axis=-1)

    def sum(self, values: Array) -> Array:
        """Sum ``values`` (..., rows) over the rows of each key (..., keys)."""
        if self.is_one_key:
            return np.asarray(values.sum(axis=-1, keepdims=True))
        return np.add.reduceat(values, self.starts, axis=-1)

    def project(self, features: Floats, values: Array) -> Array:
        """Sum ``features * values`` over the rows of each key: (keys, features)."""
        if self.is_one_key:
            # einsum rather than BLAS, whose threads slow it down on blocks this small.
            return np.asarray(np.einsum("pi,i->p", features, values)[None])
        return np.add.reduceat(features * values, self.starts, axis=-1).T


@dataclass(frozen=True)
class KeyLayout:
    """Positions of the rows of each key in key order."""

    unsorted_keys: Codes | None  # in input order; None if that is key order
    counts: Codes  # (parts, keys), rows of each key in each part of the input
    present: Codes  # keys that have rows
    offsets: Codes  # (present keys + 1,)
    input_keys: Codes | None = None  # of each row in input order; None is a single key

    @classmethod
    def of(cls, keys: Codes | None, n_keys: int, n_rows: int, width: int = 1) -> Self:
        """Count the rows of each key; a row has ``width`` numbers, and None is a single key."""
        if keys is None:
            counts = np.zeros((1, n_keys), dtype=np.intp)
            counts[0, 0] = n_rows
            # Without rows no key is present.
            offsets = np.array([0, n_rows] if n_rows else [0])
            return cls(None, counts, np.arange(len(offsets) - 1), offsets)
        keys = as_keys(keys)
        counts, is_sorted = count_keys(keys, n_keys, width)
        totals = counts.sum(axis=0)
        present = np.flatnonzero(totals)
        offsets = np.zeros(len(present) + 1, dtype=np.intp)
        np.cumsum(totals[present], out=offsets[1:])
        return cls(None if is_sorted else keys, counts, present, offsets, keys)

    def of_present(self, values: Array) -> Array:
        """Select the keys that have rows from ``values`` of all keys (keys, ...)."""
        return values if len(self.present) == self.n_keys else values[self.present]

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.offsets[-1])

    @property
    def n_keys(self) -> int:
        """Number of keys."""
        return int(self.counts.shape[1])

    def sort(self, values: NDArray[Any]) -> NDArray[Any]:
        """Sort the last axis of ``values`` by key."""
        keys = self.unsorted_keys
        if keys is None:
            return values
        result = np.empty(values.shape, dtype=values.dtype)
        if native is not None and values.dtype in SORTED_TYPES:
            scatter(values, keys, self.counts, result)
            return result
        order = self._order
        for start in range(0, len(order), BLOCK):
            rows = slice(start, start + BLOCK)
            result[..., rows] = values[..., order[rows]]
        return result

    def every_nth(self, step: int) -> slice | Codes:
        """Select every ``step``-th row in key order, by its index in input order."""
        keys = self.unsorted_keys
        if keys is None:
            return slice(None, None, step)
        if native is None:
            return self._order[::step].astype(np.intp)
        return every_nth(step, keys, self.counts)

    @cached
    def _order(self) -> NDArray[np.int32] | Codes:
        assert self.unsorted_keys is not None
        return stable_order(self.unsorted_keys, self.n_keys)

    def keys(self, step: int = 1) -> Codes:
        """Keys of all rows, or of every ``step``-th row, in key order."""
        counts = np.diff(-(-self.offsets // step)) if step > 1 else np.diff(self.offsets)
        return np.repeat(as_narrow_ints(self.present, self.n_keys), counts)

    @cached
    def parts(self) -> list[slice]:
        """Rows of each part of the input."""
        return parts_of_counts(self.counts)

    @cached
    def bounds(self) -> NDArray[np.int64]:
        """First row of each key within a sorted part, and the end: (parts, keys + 1)."""
        n_parts, n_keys = self.counts.shape
        bounds = np.zeros((n_parts, n_keys + 1), dtype=np.int64)
        np.cumsum(self.counts, axis=1, out=bounds[:, 1:])
        return bounds

    def blocks(self, size: int) -> Iterator[Block]:
        """Iterate over all rows in blocks of at most ``size``, as many complete keys as fit."""
        key = 0
        while key < len(self.present):
            first = int(self.offsets[key])
            end = int(np.searchsorted(self.offsets, first + size, side="right")) - 1
            if end <= key + 1:
                yield from self._parts(key, size)
            else:
                yield self._complete(slice(key, end))
            key = max(end, key + 1)

    def _parts(self, key: int, size: int) -> Iterator[Block]:
        first, end = int(self.offsets[key]), int(self.offsets[key + 1])
        for start in range(first, end, size):
            rows = slice(start, min(start + size, end))
            count = np.array([rows.stop - start], dtype=np.intp)
            yield Block(slice(key, key + 1), rows, np.zeros(1, dtype=np.intp), count)

    def _complete(self, keys: slice) -> Block:
        offsets = self.offsets[keys.start : keys.stop + 1]
        rows = slice(int(offsets[0]), int(offsets[-1]))
        return Block(keys, rows, offsets[:-1] - offsets[0], np.diff(offsets))

    def key_weights(self, weights: Array | None) -> Array:
        """Total weight of the rows of each key, or their number."""
        total = np.zeros(self.n_keys)
        if weights is None:
            total[self.present] = np.diff(self.offsets)
        elif self.unsorted_keys is None:
            total[self.present] = np.add.reduceat(weights, self.offsets[:-1])
        else:
            total += sum_by_key(self.unsorted_keys, self.n_keys, lambda rows: weights[rows])
        return total

    def for_all_keys(self, sums: Sums) -> Sums:
        """Insert zeros for the keys without rows."""
        if len(self.present) == self.n_keys:
            return sums
        hessian = sums.hessian is not None
        total = Sums.zeros(self.n_keys, sums.gradient.shape[1], hessian=hessian)
        total.add(self.present, sums)
        return total


def stable_order(codes: Codes, count: int) -> NDArray[np.int32] | Codes:
    """Permutation that sorts codes 0, ..., count - 1, stably.

    A sparse matrix with one entry per column is converted to row order, which SciPy does as a
    counting sort, in half the time of ``argsort``.
    """
    n = len(codes)
    if max(n, count) >= np.iinfo(np.int32).max:
        return np.argsort(codes, kind="stable")
    columns = np.arange(n + 1, dtype=np.int32)
    entries = (np.empty(n, dtype=np.int8), codes.astype(np.int32), columns)
    order: NDArray[np.int32] = csc_array(entries, shape=(count, n)).tocsr().indices
    return order

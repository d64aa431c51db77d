"""Where the rows of each key lie, and how to go over them in blocks that fit the cache.

Keys may be a few folds of many rows each or thousands of time steps of a few rows each. A block is
a part of one large key, or several whole keys, so that neither case is a loop over small arrays.
Keys without rows are left out of all this, and put back at the end by `Layout.for_all_keys`.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array

from tempocal.inputs import Codes
from tempocal.kernels import native
from tempocal.kernels.codes import in_few_bytes
from tempocal.kernels.key_counts import as_keys, count_keys, one_in, scatter, sum_by_key
from tempocal.lazy import cached
from tempocal.links import Array, Floats
from tempocal.rows.sums import Sums

# Types that the compiled loop puts in order.
SORTED = {np.dtype(kind) for kind in (np.float64, np.float32, np.int64, np.bool_)}
# Rows that are put in order at once.
BLOCK = 2**15


@dataclass(frozen=True)
class Block:
    """Rows that are summed at once: some of one key, or all of several keys."""

    keys: slice  # among the keys that have rows
    rows: slice
    starts: Codes  # first row of each key, counted from that of the block
    counts: Codes  # rows of each key

    @property
    def is_one_key(self) -> bool:
        """Whether all rows have the same key."""
        return len(self.starts) == 1

    def spread(self, values: Array) -> Array:
        """Repeat the values of each key (..., keys) for its rows (..., rows).

        Those of a single key (..., 1) stay as they are and broadcast.
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
            # einsum rather than BLAS, whose own threads get in the way on blocks this small.
            return np.asarray(np.einsum("pi,i->p", features, values)[None])
        return np.add.reduceat(features * values, self.starts, axis=-1).T


@dataclass(frozen=True)
class Layout:
    """Where the rows of each key lie once they are sorted by key."""

    keys_as_they_came: Codes | None  # None: they are in order
    counts: Codes  # (parts, keys), rows of each key, in each part of the rows
    present: Codes  # keys that have rows
    offsets: Codes  # (present keys + 1,)

    @classmethod
    def of(cls, keys: Codes | None, n_keys: int, n_rows: int, width: int = 1) -> Self:
        """Sort rows of ``width`` numbers by key, unless there is one or they are in order."""
        if keys is None:
            counts = np.zeros((1, n_keys), dtype=np.intp)
            counts[0, 0] = n_rows
            # Without rows there is not even that one.
            offsets = np.array([0, n_rows] if n_rows else [0])
            return cls(None, counts, np.arange(len(offsets) - 1), offsets)
        keys = as_keys(keys)
        counts, in_order = count_keys(keys, n_keys, width)
        totals = counts.sum(axis=0)
        present = np.flatnonzero(totals)
        offsets = np.zeros(len(present) + 1, dtype=np.intp)
        np.cumsum(totals[present], out=offsets[1:])
        return cls(None if in_order else keys, counts, present, offsets)

    def of_present(self, values: Array) -> Array:
        """Of values of all keys (keys, ...), those of the keys that have rows."""
        return values if len(self.present) == self.n_keys else values[self.present]

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return int(self.offsets[-1])

    @property
    def n_keys(self) -> int:
        """How many keys there are."""
        return int(self.counts.shape[1])

    def sort(self, values: NDArray[Any]) -> NDArray[Any]:
        """Put the last axis of ``values`` in the order of the keys."""
        keys = self.keys_as_they_came
        if keys is None:
            return values
        in_order = np.empty(values.shape, dtype=values.dtype)
        if native is not None and values.dtype in SORTED:
            for row, into in zip(np.atleast_2d(values), np.atleast_2d(in_order), strict=True):
                scatter(np.ascontiguousarray(row), keys, self.counts, into)
            return in_order
        order = self._order
        for start in range(0, len(order), BLOCK):
            rows = slice(start, start + BLOCK)
            in_order[..., rows] = values[..., order[rows]]
        return in_order

    def one_in(self, step: int) -> slice | Codes:
        """Find one row in ``step``, once they are in the order of their keys."""
        keys = self.keys_as_they_came
        if keys is None:
            return slice(None, None, step)
        if native is None:
            return self._order[::step].astype(np.intp)
        return one_in(step, keys, self.counts)

    @cached
    def _order(self) -> NDArray[np.int32] | Codes:
        assert self.keys_as_they_came is not None
        return stable_order(self.keys_as_they_came, self.n_keys)

    def keys(self, step: int = 1) -> Codes:
        """Key of each row, sorted; of one in ``step``."""
        counts = np.diff(-(-self.offsets // step)) if step > 1 else np.diff(self.offsets)
        return np.repeat(in_few_bytes(self.present, self.n_keys), counts)

    @cached
    def bounds(self) -> NDArray[np.int64]:
        """Where the rows of each key lie once a part is in order, and the end of the last."""
        n_parts, n_keys = self.counts.shape
        bounds = np.zeros((n_parts, n_keys + 1), dtype=np.int64)
        np.cumsum(self.counts, axis=1, out=bounds[:, 1:])
        return bounds

    def blocks(self, size: int) -> Iterator[Block]:
        """Go over all rows in blocks of at most ``size``, as many whole keys in each as fit."""
        key = 0
        while key < len(self.present):
            first = int(self.offsets[key])
            end = int(np.searchsorted(self.offsets, first + size, side="right")) - 1
            if end <= key + 1:
                yield from self._parts(key, size)
            else:
                yield self._whole(slice(key, end))
            key = max(end, key + 1)

    def _parts(self, key: int, size: int) -> Iterator[Block]:
        first, end = int(self.offsets[key]), int(self.offsets[key + 1])
        for start in range(first, end, size):
            rows = slice(start, min(start + size, end))
            count = np.array([rows.stop - start], dtype=np.intp)
            yield Block(slice(key, key + 1), rows, np.zeros(1, dtype=np.intp), count)

    def _whole(self, keys: slice) -> Block:
        offsets = self.offsets[keys.start : keys.stop + 1]
        rows = slice(int(offsets[0]), int(offsets[-1]))
        return Block(keys, rows, offsets[:-1] - offsets[0], np.diff(offsets))

    def key_weights(self, weights: Array | None) -> Array:
        """Total weight of the rows of each key, or their number."""
        total = np.zeros(self.n_keys)
        if weights is None:
            total[self.present] = np.diff(self.offsets)
        elif self.keys_as_they_came is None:
            total[self.present] = np.add.reduceat(weights, self.offsets[:-1])
        else:
            total += sum_by_key(self.keys_as_they_came, self.n_keys, lambda rows: weights[rows])
        return total

    def for_all_keys(self, sums: Sums) -> Sums:
        """Add zeros for the keys without rows."""
        if len(self.present) == self.n_keys:
            return sums
        hessian = sums.hessian is not None
        total = Sums.zeros(self.n_keys, sums.gradient.shape[1], hessian=hessian)
        total.add(self.present, sums)
        return total


def stable_order(codes: Codes, count: int) -> NDArray[np.int32] | Codes:
    """Order that sorts codes 0, ..., count - 1.

    A sparse matrix with an entry in each column is laid out by rows, which SciPy does by counting:
    in half the time of a sort.
    """
    n = len(codes)
    if max(n, count) >= np.iinfo(np.int32).max:
        return np.argsort(codes, kind="stable")
    columns = np.arange(n + 1, dtype=np.int32)
    entries = (np.empty(n, dtype=np.int8), codes.astype(np.int32), columns)
    order: NDArray[np.int32] = csc_array(entries, shape=(count, n)).tocsr().indices
    return order

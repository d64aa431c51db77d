"""Chunks of groups: a table of all groups and keys at once could be as large as the rows."""

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from tempocal.inputs import Codes

# A dense table is used up to this many cells (pairs of a group and a key) per row, for rows in any
# order and for rows sorted by group.
MAX_CELLS_PER_ROW, MAX_CELLS_PER_SORTED_ROW = 2, 8
# Cells of a dense table, so that it stays in the cache; and rows of a sparse one.
CELLS, ROWS = 2**17, 2**17
# Unless rows are sorted by group, every table takes a pass over all rows: then a table has at least
# this many cells, and there are at most this many tables.
MIN_CELLS_UNSORTED, MAX_TABLES_UNSORTED = 2**20, 16
# Rows that are compared at a time.
BLOCK = 2**16


class GroupChunks:
    """Groups of rows, split into chunks of consecutive groups."""

    def __init__(self, codes: Codes, count: int, n_keys: int) -> None:
        self._codes, self._count, self._n_keys = codes, count, n_keys
        self._is_sorted = _is_sorted(codes)
        cells_per_row = MAX_CELLS_PER_SORTED_ROW if self._is_sorted else MAX_CELLS_PER_ROW
        # Whether dense tables are better than sparse ones.
        self.is_dense = n_keys * count <= cells_per_row * len(codes)

    def dense(self) -> Iterator[tuple[range, slice]]:
        """Chunks for dense tables: consecutive groups, and a slice with all their rows."""
        size = max(1, (CELLS if self._is_sorted else MIN_CELLS_UNSORTED) // self._n_keys)
        if not self._is_sorted:
            size = max(size, -(-self._count // MAX_TABLES_UNSORTED))
        yield from self._split(np.arange(0, self._count, size))

    def sparse(self) -> Iterator[tuple[range, slice]]:
        """Chunks for sparse tables: consecutive groups, and their rows."""
        starts = self._codes[::ROWS] if self._is_sorted else np.zeros(1, dtype=np.intp)
        yield from self._split(np.unique(np.append(starts, 0)))

    def _split(self, starts: Codes) -> Iterator[tuple[range, slice]]:
        n_rows = len(self._codes)
        rows = [slice(0, n_rows)] * len(starts)
        if self._is_sorted:
            # Converted to the type of the codes, or searchsorted would copy all codes.
            bounds = np.searchsorted(self._codes, starts.astype(self._codes.dtype))
            rows = [slice(*bound) for bound in pairwise([*bounds.tolist(), n_rows])]
        for groups, own in zip(pairwise([*starts.tolist(), self._count]), rows, strict=True):
            yield range(*groups), own


def _is_sorted(codes: Codes) -> bool:
    starts = range(0, len(codes), BLOCK)
    blocks = (codes[start : start + BLOCK + 1] for start in starts)
    return all(bool((block[1:] >= block[:-1]).all()) for block in blocks)

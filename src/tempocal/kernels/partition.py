"""Values partitioned into ascending buckets that fit the cache: step one of a bucket sort."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from tempocal.kernels import native
from tempocal.kernels.thread_pool import run_on_cores, shares

Array = NDArray[np.float64]
# Values of either class.
Classes = tuple[Array, Array]

# Cells of the histogram of values, as in sort.h. A bucket is a run of cells.
CELLS = 2048
# Rows of a bucket, unless a single cell has more: with the buffer of the sort they fit the cache.
BUCKET_ROWS = 2**15


@dataclass(frozen=True)
class Partition:
    """Positions of rows ordered by bucket, then class, then cell, then part of the input."""

    values: Array
    is_second: NDArray[np.bool_]
    parts: list[slice]
    bucket_of_cell: NDArray[np.intp]
    positions: NDArray[np.int64]  # (parts, cells, 2) of the first row
    bounds: NDArray[np.int64]  # (2 buckets + 1,) of either class in each bucket

    def groups(self, count: int) -> list[range]:
        """Split the buckets into at most ``count`` groups of about as many rows."""
        group = self.bounds[:-1:2] * count // len(self.values)
        cuts = [0, *(np.flatnonzero(np.diff(group)) + 1).tolist(), len(group)]
        return [range(start, stop) for start, stop in pairwise(cuts)]

    def buckets(self, group: range) -> list[Classes]:
        """Values of either class in each bucket of a group, unsorted within the bucket."""
        bounds = self.bounds[2 * group.start : 2 * group.stop + 1]
        out = np.empty(bounds[-1] - bounds[0])
        cells = np.searchsorted(self.bucket_of_cell, [group.start, group.stop])
        positions = self.positions - bounds[0]

        def work(k: int) -> None:
            rows = self.parts[k]
            native.scatter_by_cell(
                self.values[rows], self.is_second[rows], cells, positions[k], out
            )

        run_on_cores(work, range(len(self.parts)))
        pieces = np.split(out, bounds[1:-1] - bounds[0])
        return list(zip(pieces[::2], pieces[1::2], strict=True))


def partition(values: Array, is_second: NDArray[np.bool_]) -> Partition:
    """Count at least one row by cell, and compute the position of each."""
    parts = list(shares(len(values)))
    counts = np.zeros((len(parts), CELLS, 2), dtype=np.int64)
    run_on_cores(
        lambda k: native.count_cells(values[parts[k]], is_second[parts[k]], counts[k]),
        range(len(parts)),
    )
    bucket = _bucket_of_cell(counts)
    return Partition(values, is_second, parts, bucket, *_positions(counts, bucket))


def _bucket_of_cell(counts: NDArray[np.int64]) -> NDArray[np.intp]:
    rows = counts.sum(axis=(0, 2))
    rows_before = np.cumsum(rows) - rows
    # Cells behind the last row would be a bucket without rows.
    rows_before = np.minimum(rows_before, rows_before[rows > 0].max())
    # Consecutive numbers, though a cell may have the rows of several buckets.
    return np.unique(rows_before // BUCKET_ROWS, return_inverse=True)[1]


def _positions(
    counts: NDArray[np.int64], bucket: NDArray[np.intp]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    by_cell = counts.transpose(1, 2, 0)
    own = (2 * bucket[:, None] + np.arange(2)).ravel()
    order = np.argsort(own, kind="stable")
    sizes = by_cell.reshape(-1, len(counts))[order]
    positions = np.empty_like(sizes)
    positions[order] = (np.cumsum(sizes) - sizes.ravel()).reshape(sizes.shape)
    rows = np.bincount(own, by_cell.sum(axis=2).ravel()).astype(np.int64)
    positions = np.ascontiguousarray(positions.reshape(CELLS, 2, len(counts)).transpose(2, 0, 1))
    return positions, np.append(0, np.cumsum(rows))

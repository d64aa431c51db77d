"""Rows spread into stretches of their values that fit the cache of a core."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from tempocal.kernels import native
from tempocal.kernels.thread_pool import run_on_cores, shares

Array = NDArray[np.float64]
# Values of either class.
Classes = tuple[Array, Array]

# Cells of values that rows are counted in, as in sort.h.
CELLS = 2048
# Rows of a stretch, unless a cell has more: with what it takes to sort them, they fit the cache.
STRETCH = 2**15


@dataclass(frozen=True)
class Layout:
    """Where rows go: by stretch, then class, then cell, then the part that they are read in."""

    values: Array
    is_second: NDArray[np.bool_]
    parts: list[slice]
    stretch_of_cells: NDArray[np.intp]
    places: NDArray[np.int64]  # (parts, cells, 2) of the first row
    bounds: NDArray[np.int64]  # (2 stretches + 1,) of either class in each stretch

    def groups(self, count: int) -> list[range]:
        """Cut stretches into groups by the rows before each."""
        group = self.bounds[:-1:2] * count // len(self.values)
        cuts = [0, *(np.flatnonzero(np.diff(group)) + 1).tolist(), len(group)]
        return [range(*ends) for ends in pairwise(cuts)]

    def stretches(self, group: range) -> list[Classes]:
        """Values of either class, in no order within a stretch."""
        bounds = self.bounds[2 * group.start : 2 * group.stop + 1]
        found = np.empty(bounds[-1] - bounds[0])
        cells = np.searchsorted(self.stretch_of_cells, [group.start, group.stop])
        places = self.places - bounds[0]

        def work(k: int) -> None:
            rows = self.parts[k]
            native.spread(self.values[rows], self.is_second[rows], cells, places[k], found)

        run_on_cores(work, range(len(self.parts)))
        pieces = np.split(found, bounds[1:-1] - bounds[0])
        return list(zip(pieces[::2], pieces[1::2], strict=True))


def lay_out(values: Array, is_second: NDArray[np.bool_]) -> Layout:
    """Count rows, of which there is one at least, and say where each goes."""
    parts = list(shares(len(values)))
    counts = np.zeros((len(parts), CELLS, 2), dtype=np.int64)
    run_on_cores(
        lambda k: native.count_cells(values[parts[k]], is_second[parts[k]], counts[k]),
        range(len(parts)),
    )
    stretch = _stretch_of_cells(counts)
    return Layout(values, is_second, parts, stretch, *_places(counts, stretch))


def _stretch_of_cells(counts: NDArray[np.int64]) -> NDArray[np.intp]:
    rows = counts.sum(axis=(0, 2))
    rows_before = np.cumsum(rows) - rows
    # Cells behind the last row would be a stretch without rows.
    rows_before = np.minimum(rows_before, rows_before[rows > 0].max())
    # Numbers of stretches without gaps, though some cells hold many of them.
    return np.unique(rows_before // STRETCH, return_inverse=True)[1]


def _places(
    counts: NDArray[np.int64], stretch: NDArray[np.intp]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    by_cell = counts.transpose(1, 2, 0)
    own = (2 * stretch[:, None] + np.arange(2)).ravel()
    order = np.argsort(own, kind="stable")
    sizes = by_cell.reshape(-1, len(counts))[order]
    places = np.empty_like(sizes)
    places[order] = (np.cumsum(sizes) - sizes.ravel()).reshape(sizes.shape)
    rows = np.bincount(own, by_cell.sum(axis=2).ravel()).astype(np.int64)
    places = np.ascontiguousarray(places.reshape(CELLS, 2, len(counts)).transpose(2, 0, 1))
    return places, np.append(0, np.cumsum(rows))

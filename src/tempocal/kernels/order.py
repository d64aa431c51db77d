"""Rows of two classes in the order of their values, by the compiled loops."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tempocal.kernels import native
from tempocal.kernels.cores import map_on_cores, run_on_cores, shares

Array = NDArray[np.float64]
Classes = tuple[Array, Array]

# Cells of values that rows are counted in, as in sort.h.
CELLS = 2048
# Rows that are sorted at once: with what it takes, they fit the cache of a core.
STRETCH = 2**15


def sorted_classes(values: Array, is_second: NDArray[np.bool_]) -> list[Classes]:
    """Values of either class in order, in stretches of which each is above the one before."""
    stretches = _stretches(
        np.require(values, np.float64, ["C", "A"]), np.require(is_second, np.bool_, ["C", "A"])
    )
    map_on_cores(sort, [one for classes in stretches for one in classes])
    return stretches


def sort(values: Array) -> None:
    """Put values in order, where they are; minus zero becomes zero."""
    native.sort(values, np.empty(len(values)))


def merge(classes: Classes, room: Array) -> int:
    """Fill the rows of ``room``: distinct values, rows at each, and those of the second class.

    It has a place for every row; how many are filled is returned.
    """
    return int(native.merge(*classes, *room))


def pool(weights: Array, positives: Array) -> tuple[NDArray[Any], Array, Array]:
    """Blocks of isotonic regression: where each starts, its weight and its positive weight."""
    starts = np.empty(len(weights), dtype=np.int64)
    sums = np.empty((2, len(weights)))
    count = native.pool(
        np.ascontiguousarray(weights), np.ascontiguousarray(positives), starts, *sums
    )
    # Copies, for blocks are few and would hold on to all of it.
    return starts[:count].copy(), sums[0, :count].copy(), sums[1, :count].copy()


def _stretches(values: Array, is_second: NDArray[np.bool_]) -> list[Classes]:
    """Values of either class, in no order within a stretch."""
    if len(values) <= STRETCH:
        return [(values[~is_second], values[is_second])]
    parts = list(shares(len(values)))
    counts = np.zeros((len(parts), CELLS, 2), dtype=np.int64)
    run_on_cores(
        lambda k: native.count_cells(values[parts[k]], is_second[parts[k]], counts[k]),
        range(len(parts)),
    )
    places, bounds = _places(counts)
    found = np.empty(len(values))
    run_on_cores(
        lambda k: native.spread(values[parts[k]], is_second[parts[k]], places[k], found),
        range(len(parts)),
    )
    pieces = np.split(found, bounds)
    return list(zip(pieces[::2], pieces[1::2], strict=True))


def _places(counts: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Where the first row of each part, cell and class goes, and what lies between stretches.

    Rows are laid out by stretch, then class, then cell, then the part that they are read in.
    """
    n_parts = len(counts)
    by_cell = counts.transpose(1, 2, 0)
    rows_before = np.cumsum(by_cell.sum(axis=(1, 2))) - by_cell.sum(axis=(1, 2))
    # Cells behind the last row would be a stretch without rows.
    rows_before = np.minimum(rows_before, rows_before[by_cell.any(axis=(1, 2))].max())
    # Numbers of stretches without gaps, though some cells hold many of them.
    stretch = np.unique(rows_before // STRETCH, return_inverse=True)[1]
    own = (2 * stretch[:, None] + np.arange(2)).ravel()
    order = np.argsort(own, kind="stable")
    sizes = by_cell.reshape(-1, n_parts)[order]
    places = np.empty_like(sizes)
    places[order] = (np.cumsum(sizes) - sizes.ravel()).reshape(sizes.shape)
    bounds = np.cumsum(np.bincount(own, by_cell.sum(axis=2).ravel()))[:-1].astype(np.int64)
    return np.ascontiguousarray(places.reshape(CELLS, 2, n_parts).transpose(2, 0, 1)), bounds

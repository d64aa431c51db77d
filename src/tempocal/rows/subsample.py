"""A few weighted rows that stand for many: where a solver finds its start.

The even part of the loss of a row with one feature depends on the size of that feature alone. So
the rows of a key are counted in cells of that size, and each cell is replaced by two points that
have its weight, mean and variance. Sums over the points differ from those over rows by the fourth
power of a cell's width, so that the optimum on them is the start for a single pass over all rows.
Rows far out, where there are no cells, stand for themselves.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from tempocal.inputs import Codes
from tempocal.kernels import native
from tempocal.kernels.extremes import extremes
from tempocal.kernels.thread_pool import map_on_cores
from tempocal.links import Array, Floats
from tempocal.rows.compiled import moments as compiled_moments
from tempocal.rows.compiled import points as compiled_points
from tempocal.rows.key_layout import Block, Layout

# Cells of a key: fewer than the least say too little, and more than the most cost time.
LEAST_CELLS, MOST_CELLS = 16, 128
# About the most of all keys together.
MOST_IN_ALL = 2**16
# Rows for each point; with fewer it is not worth the while.
ROWS_A_POINT = 8
LEAST_ROWS_A_KEY = 2 * ROWS_A_POINT * LEAST_CELLS
BLOCK = 2**15
# Rows that are looked at together for such as lie far out: few calls, and still in the cache.
LARGE_BLOCK = 2**17
# Cells end at this many times the median size, so that rows far out do not take them all; and at
# this many times the largest of a sample.
REACH, BEYOND = 10.0, 2.0
SAMPLE = 2**8


@dataclass(frozen=True)
class Moments:
    """Rows counted in cells of their size."""

    # (keys, cells, 4): weights, weighted sums of sizes and of their squares; the fourth is for
    # whoever counts
    sums: Array
    inside: int  # how many rows that were; the others are beyond the last cell
    pulls: Array | None  # (keys,), if labels were given: the sum of (1/2 - label) x


@dataclass(frozen=True)
class Points:
    """Points in the order of their keys, none of which is without."""

    sizes: Array
    weights: Array
    offsets: Codes  # (keys + 1,), where those of each key begin
    pulls: Array | None = None  # as those of the moments

    def keys(self, present: Codes) -> Codes:
        """Key of each point."""
        return np.repeat(present, np.diff(self.offsets))


class Counted(Protocol):
    """Rows of one feature that can be counted."""

    @property
    def feature(self) -> Floats:
        """The feature of each row."""

    @property
    def weights(self) -> Array | None:
        """The weight of each row; None counts every row once."""

    def moments(self, cells: int, scale: float) -> Moments:
        """Count rows in cells of their size times ``scale``."""

    def keys_of(self, rows: Codes) -> Codes:
        """Keys of some of the rows."""


def condense(rows: Counted, present: Codes) -> Points | None:
    """Find the points of rows, whose keys are ``present``; None where there would be too many."""
    feature, weights = rows.feature, rows.weights
    cells = min(MOST_CELLS, max(LEAST_CELLS, MOST_IN_ALL // len(present)))
    cells = min(cells, len(feature) // (2 * ROWS_A_POINT * len(present)))
    some = np.abs(feature[:: len(feature) // SAMPLE + 1])
    middle = len(some) // 2
    some.partition((middle, -1))
    reach = min(REACH * float(some[middle]), BEYOND * float(some[-1]))
    if cells < LEAST_CELLS or not reach > 0.0:
        return None
    scale = cells / reach
    counted = rows.moments(cells, scale)
    if ROWS_A_POINT * (len(feature) - counted.inside) > len(feature):
        return None
    points = Points(*_two_in_each(counted.sums), counted.pulls)
    if counted.inside < len(feature):
        far_out = _far_out(feature, cells, scale)
        own = np.ones(len(far_out)) if weights is None else weights[far_out]
        few = np.abs(feature[far_out]), own, rows.keys_of(far_out)
        points = _with_rows(points, few, present)
    return points


@dataclass(frozen=True)
class InOrder:
    """Rows that are sorted by key; labels of rows without weights are summed over in passing."""

    feature: Floats
    weights: Array | None
    layout: Layout
    labels: Codes | None

    def moments(self, cells: int, scale: float) -> Moments:
        """Count rows in cells of their size times ``scale``."""
        x, weights, offsets = self.feature, self.weights, self.layout.offsets
        if native is None:
            found = _moments(x, weights, self.layout, cells=cells, scale=scale)
            return Moments(found, int(found[..., 3].sum()), None)
        return Moments(
            *compiled_moments(x, weights, offsets, cells=cells, scale=scale, labels=self.labels)
        )

    def keys_of(self, rows: Codes) -> Codes:
        """Keys of some of the rows."""
        places = np.searchsorted(self.layout.offsets, rows, side="right") - 1
        return np.asarray(self.layout.present[places])


def _moments(
    feature: Floats,
    weights: Array | None,
    layout: Layout,
    *,
    cells: int,
    scale: float,
) -> Array:
    """Weight, weighted sums of sizes and of their squares, and number of rows (keys, cells, 4)."""
    found = np.zeros((len(layout.present), cells, 4))
    blocks = list(layout.blocks(BLOCK))

    def count(block: Block) -> Array:
        own = None if weights is None else weights[block.rows]
        return _count(np.abs(feature[block.rows]), own, block, cells, scale)

    for block, part in zip(blocks, map_on_cores(count, blocks), strict=True):
        found[block.keys] += part
    return found


def _far_out(feature: Floats, cells: int, scale: float) -> Codes:
    """Rows beyond the last cell, which are few as a rule: most blocks have none."""

    def find(start: int) -> Codes:
        block = feature[start : start + LARGE_BLOCK]
        low, high = extremes(block)
        if max(float(high), -float(low)) * scale < cells:
            return np.zeros(0, dtype=np.intp)
        return start + np.flatnonzero(~(np.abs(block, dtype=float) * scale < cells))

    return np.concatenate(map_on_cores(find, range(0, len(feature), LARGE_BLOCK)))


def _with_rows(points: Points, rows: tuple[Array, Array, Codes], present: Codes) -> Points:
    """Add rows, their sizes, weights and keys, as they are, in the order of the keys."""
    sizes, weights, keys = rows
    both = np.concatenate([points.keys(present), keys])
    order = np.argsort(both, kind="stable")
    return Points(
        np.concatenate([points.sizes, sizes])[order],
        np.concatenate([points.weights, weights])[order],
        np.append(np.searchsorted(both[order], present), len(both)),
        points.pulls,
    )


def _count(size: Array, weights: Array | None, block: Block, cells: int, scale: float) -> Array:
    inside = size * scale < cells
    n_keys = len(block.starts)
    codes = np.where(inside, size * scale, 0.0).astype(np.intp)
    if n_keys > 1:
        codes += np.repeat(np.arange(0, n_keys * cells, cells), block.counts)
    weighed = inside.astype(np.float64) if weights is None else np.where(inside, weights, 0.0)
    sizes = np.where(inside, size, 0.0)
    summed = [
        np.bincount(codes, values, minlength=n_keys * cells)
        for values in (weighed, weighed * sizes, weighed * sizes * sizes, inside)
    ]
    return np.stack(summed, axis=-1).reshape(n_keys, cells, 4).astype(np.float64, copy=False)


def _two_in_each(sums: Array) -> tuple[Array, Array, Codes]:
    """Two points in each cell that has rows: sizes, weights, and where those of a key begin."""
    if native is not None:
        return compiled_points(sums)
    there = sums[..., 0] > 0.0
    weight, size, square, _ = sums[there].T
    mean = size / weight
    off = np.sqrt(np.maximum(square / weight - mean * mean, 0.0))
    offsets = np.append(0, np.cumsum(2 * there.sum(axis=1)))
    return np.stack([mean - off, mean + off], axis=1).ravel(), np.repeat(0.5 * weight, 2), offsets

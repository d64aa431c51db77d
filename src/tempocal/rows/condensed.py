"""A few weighted rows that stand for many: where a solver finds its start.

The even part of the loss of a row with one feature depends on the size of that feature alone. So
the rows of a key are counted in cells of that size, and each cell is replaced by two points that
have its weight, mean and variance. Sums over the points differ from those over rows by the fourth
power of a cell's width, so that the optimum on them is the start for a single pass over all rows.
Rows far out, where there are no cells, stand for themselves.
"""

from dataclasses import dataclass, replace

import numpy as np

from tempocal.inputs import Codes
from tempocal.kernels import native
from tempocal.kernels.cores import map_on_cores
from tempocal.links import Array
from tempocal.rows.compiled import Pieces
from tempocal.rows.compiled import moments as compiled_moments
from tempocal.rows.layout import Block, Layout

# Cells of a key: fewer than the least say too little, and more than the most cost time.
LEAST_CELLS, MOST_CELLS = 16, 128
# Rows for each point; with fewer it is not worth the while.
ROWS_A_POINT = 8
BLOCK = 2**15
# Cells end at this many times the median size, so that rows far out do not take them all; and at
# this many times the largest of a sample.
REACH, BEYOND = 10.0, 2.0
SAMPLE = 2**10


@dataclass(frozen=True)
class Points:
    """Points in the order of their keys."""

    sizes: Array
    weights: Array
    keys: Codes
    pulls: Array | None = (
        None  # (keys with rows,), if labels were given: the sum of (1/2 - label) x
    )


def condense(
    feature: Array,
    weights: Array | None,
    layout: Layout,
    pieces: Pieces,
    labels: Codes | None = None,
) -> Points | None:
    """Find the points of rows that are sorted by key; None where there would be too many.

    Labels of rows without weights are summed over in passing.
    """
    cells = min(MOST_CELLS, len(feature) // (2 * ROWS_A_POINT * len(layout.present)))
    some = np.abs(feature[:: len(feature) // SAMPLE + 1])
    reach = min(REACH * float(np.median(some)), BEYOND * float(some.max()))
    if cells < LEAST_CELLS or not reach > 0.0:
        return None
    scale = cells / reach
    if native is not None:
        moments, inside, pulls = compiled_moments(
            feature, weights, pieces, cells=cells, scale=scale, labels=labels
        )
    else:
        moments, inside = _moments(feature, weights, layout, cells=cells, scale=scale)
        pulls = None
    if ROWS_A_POINT * (len(feature) - inside) > len(feature):
        return None
    if not layout.key_weights(weights)[layout.present].all():
        # Keys whose rows all weigh nothing.
        return None
    points = _two_in_each(moments, layout.present)
    if inside < len(feature):
        points = _with_rows(points, _far_out(feature, cells, scale), feature, weights, layout)
    return replace(points, pulls=pulls)


def _moments(
    feature: Array,
    weights: Array | None,
    layout: Layout,
    *,
    cells: int,
    scale: float,
) -> tuple[Array, int]:
    """Weight, and weighted sums of sizes and of their squares (3, keys, cells); and of how many."""
    found = np.zeros((3, len(layout.present), cells))
    blocks = list(layout.blocks(BLOCK))

    def count(block: Block) -> tuple[Array, int]:
        own = None if weights is None else weights[block.rows]
        return _count(np.abs(feature[block.rows]), own, block, cells, scale)

    inside = 0
    for block, (part, number) in zip(blocks, map_on_cores(count, blocks), strict=True):
        found[:, block.keys] += part
        inside += number
    return found, inside


def _far_out(feature: Array, cells: int, scale: float) -> Codes:
    """Rows beyond the last cell, which are few as a rule."""
    found = [
        start + np.flatnonzero(~(np.abs(feature[start : start + BLOCK]) * scale < cells))
        for start in range(0, len(feature), BLOCK)
    ]
    return np.concatenate(found)


def _with_rows(
    points: Points, rows: Codes, feature: Array, weights: Array | None, layout: Layout
) -> Points:
    """Add rows as they are, in the order of the keys."""
    keys = layout.present[np.searchsorted(layout.offsets, rows, side="right") - 1]
    own = np.ones(len(rows)) if weights is None else weights[rows]
    both = np.concatenate([points.keys, keys])
    order = np.argsort(both, kind="stable")
    return Points(
        np.concatenate([points.sizes, np.abs(feature[rows])])[order],
        np.concatenate([points.weights, own])[order],
        both[order],
    )


def _count(
    size: Array, weights: Array | None, block: Block, cells: int, scale: float
) -> tuple[Array, int]:
    inside = size * scale < cells
    n_keys = len(block.starts)
    codes = np.where(inside, size * scale, 0.0).astype(np.intp)
    if n_keys > 1:
        codes += np.repeat(np.arange(0, n_keys * cells, cells), block.counts)
    weighed = inside.astype(np.float64) if weights is None else np.where(inside, weights, 0.0)
    sizes = np.where(inside, size, 0.0)
    summed = [
        np.bincount(codes, values, minlength=n_keys * cells)
        for values in (weighed, weighed * sizes, weighed * sizes * sizes)
    ]
    found = np.stack(summed).reshape(3, n_keys, cells).astype(np.float64, copy=False)
    return found, int(inside.sum())


def _two_in_each(moments: Array, keys: Codes) -> Points:
    key, cell = np.nonzero(moments[0])
    weight, mean, square = moments[:, key, cell]
    mean, square = mean / weight, square / weight
    off = np.sqrt(np.maximum(square - mean * mean, 0.0))
    return Points(
        np.stack([mean - off, mean + off], axis=1).ravel(),
        np.repeat(0.5 * weight, 2),
        np.repeat(keys[key], 2),
    )

"""A few weighted rows that stand for many: where a solver finds its start.

The even part of the loss of a row with one feature depends on the size of that feature alone. So
the rows of a key are counted in cells of that size, and each cell is replaced by two points that
have its weight, mean and variance. Sums over the points differ from those over rows by the fourth
power of a cell's width, so that the optimum on them is the start for a single pass over all rows.
"""

from dataclasses import dataclass

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
# Cells end at this many times the mean size, so that one row far out does not take them all.
REACH = 8.0
SAMPLE = 2**12


@dataclass(frozen=True)
class Points:
    """Points in the order of their keys."""

    sizes: Array
    weights: Array
    keys: Codes


def condense(
    feature: Array, weights: Array | None, layout: Layout, pieces: Pieces
) -> Points | None:
    """Find the points of rows that are sorted by key; None where there would be too many."""
    cells = min(MOST_CELLS, len(feature) // (2 * ROWS_A_POINT * len(layout.present)))
    some = np.abs(feature[:: len(feature) // SAMPLE + 1])
    reach = min(REACH * float(some.mean()), float(some.max()))
    if cells < LEAST_CELLS or not reach > 0.0:
        return None
    # What lies farther out goes into the last cell.
    scale = cells / reach
    # (keys, cells) of the weight, and of the weighted sums of sizes and of their squares.
    if native is not None:
        found = compiled_moments(feature, weights, pieces, cells=cells, scale=scale)
        return _two_in_each(found, layout.present)
    moments = np.zeros((3, len(layout.present), cells))
    blocks = list(layout.blocks(BLOCK))

    def count(block: Block) -> Array:
        own = None if weights is None else weights[block.rows]
        return _count(np.abs(feature[block.rows]), own, block, cells, scale)

    for block, part in zip(blocks, map_on_cores(count, blocks), strict=True):
        moments[:, block.keys] += part
    return _two_in_each(moments, layout.present)


def _count(size: Array, weights: Array | None, block: Block, cells: int, scale: float) -> Array:
    place = np.minimum(size * scale, cells - 0.5)
    n_keys = len(block.starts)
    if n_keys > 1:
        place += block.spread(np.arange(0.0, n_keys * cells, cells))
    codes = place.astype(np.intp)
    weighted = size if weights is None else size * weights
    summed = [
        np.bincount(codes, values, minlength=n_keys * cells)
        for values in (weights, weighted, weighted * size)
    ]
    return np.stack(summed).reshape(3, n_keys, cells).astype(np.float64, copy=False)


def _two_in_each(moments: Array, keys: Codes) -> Points | None:
    if not moments[0].any(axis=1).all():
        # Keys whose rows all weigh nothing.
        return None
    key, cell = np.nonzero(moments[0])
    weight, mean, square = moments[:, key, cell]
    mean, square = mean / weight, square / weight
    off = np.sqrt(np.maximum(square - mean * mean, 0.0))
    return Points(
        np.stack([mean - off, mean + off], axis=1).ravel(),
        np.repeat(0.5 * weight, 2),
        np.repeat(keys[key], 2),
    )

"""A few weighted points with the moments of many rows, on which a solver finds its start.

The even part of the loss of a row with one feature x depends on ``|x|`` alone. So the rows of a key
are counted in cells of ``|x|``, and each cell is replaced by two points with its weight, mean and
variance. Sums over the points differ from those over the rows by a term in the fourth power of the
cell width, and the optimum on them is a start from which a single pass over all rows is enough.
Rows beyond the last cell are kept as they are.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from tempocal.inputs import Codes
from tempocal.kernels import native
from tempocal.kernels.min_max import min_max
from tempocal.kernels.thread_pool import map_on_cores
from tempocal.links import Array, Floats
from tempocal.rows.compiled import moments as compiled_moments
from tempocal.rows.compiled import points as compiled_points
from tempocal.rows.key_layout import Block, KeyLayout

# Cells of a key: with fewer the sums are too inaccurate, and more cost time.
MIN_CELLS, MAX_CELLS = 16, 128
# Cells of all keys together, about.
MAX_TOTAL_CELLS = 2**16
# With fewer rows per point, points are not worth their construction.
ROWS_PER_POINT = 8
MIN_ROWS_PER_KEY = 2 * ROWS_PER_POINT * MIN_CELLS
BLOCK = 2**15
# Rows that are searched for outliers at a time: few calls, and still in the cache.
LARGE_BLOCK = 2**17
# The last cell ends at this many times the median of |x|, so that outliers do not stretch the
# cells, or at this many times the largest |x| of a sample, whichever is less.
MEDIAN_FACTOR, MAX_FACTOR = 10.0, 2.0
SAMPLE = 2**8


@dataclass(frozen=True)
class Moments:
    """Moments of rows in cells of ``|x|``."""

    # (keys, cells, 4): sums of w, w |x| and w x^2; the fourth is internal to what computed them
    sums: Array
    n_inside: int  # number of rows in cells; the others are beyond the last one
    linear: Array | None  # (keys,), the sum of (1/2 - label) x, if labels were given


@dataclass(frozen=True)
class Points:
    """Weighted points in key order; every key has some."""

    sizes: Array  # |x|
    weights: Array
    offsets: Codes  # (keys + 1,), first point of each key
    linear: Array | None = None  # as in `Moments`

    def keys(self, present: Codes) -> Codes:
        """Key of each point, where ``present`` are the keys that have rows."""
        return np.repeat(present, np.diff(self.offsets))


class SingleFeatureRows(Protocol):
    """Rows of one feature whose moments can be computed."""

    @property
    def feature(self) -> Floats:
        """The feature of each row."""

    @property
    def weights(self) -> Array | None:
        """The weight of each row; None counts every row once."""

    def moments(self, cells: int, scale: float) -> Moments:
        """Sum moments in cells of ``|x| * scale``, each of width 1."""

    def keys_of(self, rows: Codes) -> Codes:
        """Keys of the given rows."""


def match_moments(rows: SingleFeatureRows, present: Codes) -> Points | None:
    """Replace rows, whose keys are ``present``, by points; None if there would be too many."""
    feature, weights = rows.feature, rows.weights
    cells = min(MAX_CELLS, max(MIN_CELLS, MAX_TOTAL_CELLS // len(present)))
    cells = min(cells, len(feature) // (2 * ROWS_PER_POINT * len(present)))
    sample = np.abs(feature[:: len(feature) // SAMPLE + 1])
    middle = len(sample) // 2
    sample.partition((middle, -1))
    reach = min(MEDIAN_FACTOR * float(sample[middle]), MAX_FACTOR * float(sample[-1]))
    if cells < MIN_CELLS or not reach > 0.0:
        return None
    scale = cells / reach
    moments = rows.moments(cells, scale)
    if ROWS_PER_POINT * (len(feature) - moments.n_inside) > len(feature):
        return None
    points = Points(*_two_points(moments.sums), moments.linear)
    if moments.n_inside < len(feature):
        outliers = _find_outliers(feature, cells, scale)
        own_weights = np.ones(len(outliers)) if weights is None else weights[outliers]
        columns = np.abs(feature[outliers]), own_weights, rows.keys_of(outliers)
        points = _with_rows(points, columns, present)
    return points


@dataclass(frozen=True)
class SortedRows:
    """Rows in key order; with labels, which exclude weights, the linear term is summed as well."""

    feature: Floats
    weights: Array | None
    layout: KeyLayout
    labels: Codes | None

    def moments(self, cells: int, scale: float) -> Moments:
        """Sum moments in cells of ``|x| * scale``, each of width 1."""
        x, weights, offsets = self.feature, self.weights, self.layout.offsets
        if native is None:
            sums = _moments(x, weights, self.layout, cells=cells, scale=scale)
            return Moments(sums, int(sums[..., 3].sum()), None)
        return Moments(
            *compiled_moments(x, weights, offsets, cells=cells, scale=scale, labels=self.labels)
        )

    def keys_of(self, rows: Codes) -> Codes:
        """Keys of the given rows."""
        indices = np.searchsorted(self.layout.offsets, rows, side="right") - 1
        return np.asarray(self.layout.present[indices])


def _moments(
    feature: Floats,
    weights: Array | None,
    layout: KeyLayout,
    *,
    cells: int,
    scale: float,
) -> Array:
    """Sum w, w |x|, w x^2 and 1 over the rows of each cell: (keys, cells, 4)."""
    sums = np.zeros((len(layout.present), cells, 4))
    blocks = list(layout.blocks(BLOCK))

    def sum_block(block: Block) -> Array:
        own = None if weights is None else weights[block.rows]
        return _block_moments(np.abs(feature[block.rows]), own, block, cells, scale)

    for block, part in zip(blocks, map_on_cores(sum_block, blocks), strict=True):
        sums[block.keys] += part
    return sums


def _find_outliers(feature: Floats, cells: int, scale: float) -> Codes:
    """Rows beyond the last cell; most blocks have none, and are skipped."""

    def find(start: int) -> Codes:
        block = feature[start : start + LARGE_BLOCK]
        low, high = min_max(block)
        if max(float(high), -float(low)) * scale < cells:
            return np.zeros(0, dtype=np.intp)
        return start + np.flatnonzero(~(np.abs(block, dtype=float) * scale < cells))

    return np.concatenate(map_on_cores(find, range(0, len(feature), LARGE_BLOCK)))


def _with_rows(points: Points, rows: tuple[Array, Array, Codes], present: Codes) -> Points:
    """Add rows, given by ``|x|``, weights and keys, as further points."""
    sizes, weights, keys = rows
    both = np.concatenate([points.keys(present), keys])
    order = np.argsort(both, kind="stable")
    return Points(
        np.concatenate([points.sizes, sizes])[order],
        np.concatenate([points.weights, weights])[order],
        np.append(np.searchsorted(both[order], present), len(both)),
        points.linear,
    )


def _block_moments(
    size: Array, weights: Array | None, block: Block, cells: int, scale: float
) -> Array:
    inside = size * scale < cells
    n_keys = len(block.starts)
    codes = np.where(inside, size * scale, 0.0).astype(np.intp)
    if n_keys > 1:
        codes += np.repeat(np.arange(0, n_keys * cells, cells), block.counts)
    weight = inside.astype(np.float64) if weights is None else np.where(inside, weights, 0.0)
    sizes = np.where(inside, size, 0.0)
    sums = [
        np.bincount(codes, values, minlength=n_keys * cells)
        for values in (weight, weight * sizes, weight * sizes * sizes, inside)
    ]
    return np.stack(sums, axis=-1).reshape(n_keys, cells, 4).astype(np.float64, copy=False)


def _two_points(sums: Array) -> tuple[Array, Array, Codes]:
    """Two points for each nonempty cell: sizes, weights, and the offsets of the keys."""
    if native is not None:
        return compiled_points(sums)
    filled = sums[..., 0] > 0.0
    weight, size, square, _ = sums[filled].T
    mean = size / weight
    std = np.sqrt(np.maximum(square / weight - mean * mean, 0.0))
    offsets = np.append(0, np.cumsum(2 * filled.sum(axis=1)))
    return np.stack([mean - std, mean + std], axis=1).ravel(), np.repeat(0.5 * weight, 2), offsets

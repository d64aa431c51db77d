"""A few weighted points with the moments of many rows: a surrogate for rows of one feature.

The even part of the loss of a row with one feature x depends on ``|x|`` alone. So the rows of a key
are counted in cells of ``|x|``, and each cell is replaced by two points with its weight, mean and
variance. Sums over the points differ from those over the rows by a term in the fourth power of the
cell width, and one exact pass at their optimum is enough to correct it (`tempocal.rows.surrogate`).
Rows beyond the last cell are kept as they are.
"""

from dataclasses import dataclass

import numpy as np

from tempocal.inputs import Codes
from tempocal.kernels.min_max import min_max
from tempocal.kernels.thread_pool import map_on_cores
from tempocal.links import Array, Floats
from tempocal.rows.compiled import sum_cells

# Cells of a key: with fewer the sums are too inaccurate, and more cost time.
MIN_CELLS, MAX_CELLS = 16, 128
# Cells of all keys together, about.
MAX_TOTAL_CELLS = 2**16
# With fewer rows per point, points are not worth their construction.
ROWS_PER_POINT = 8
MIN_ROWS_PER_KEY = 2 * ROWS_PER_POINT * MIN_CELLS
# Rows that are searched for outliers at a time: few calls, and still in the cache.
BLOCK = 2**17
# The last cell ends at this many times the median of |x|, so that outliers do not stretch the
# cells, or at this many times the largest |x| of a sample, whichever is less.
MEDIAN_FACTOR, MAX_FACTOR = 10.0, 2.0
SAMPLE = 2**8


@dataclass(frozen=True)
class SingleFeatureRows:
    """Rows of one feature, in any order."""

    feature: Floats
    labels: Codes | None  # then the linear term is summed in the same pass
    weights: Array | None  # without labels only
    keys: Codes | None  # None is a single key
    n_keys: int


@dataclass(frozen=True)
class Points:
    """Weighted points in key order; every key that has rows has some."""

    sizes: Array  # |x|
    weights: Array
    keys: Codes
    linear: Array | None  # (all keys,), the sum of (1/2 - label) x, if labels were given


def match_moments(rows: SingleFeatureRows, n_present: int) -> Points | None:
    """Replace rows under ``n_present`` keys by points; None if there would be too many."""
    n_rows, reach = len(rows.feature), _reach(rows.feature)
    cells = _count_cells(n_rows, n_present)
    if cells < MIN_CELLS or not reach > 0.0:
        return None
    scale = cells / reach
    given = rows.feature, rows.labels, rows.weights, rows.keys
    sums = sum_cells(*given, n_keys=rows.n_keys, cells=cells, scale=scale)
    has_labels = rows.labels is not None
    n_inside = int(sums[:, :-1, 0 if has_labels else 3].sum())
    if ROWS_PER_POINT * (n_rows - n_inside) > n_rows:
        return None
    columns = _two_points(sums[:, :-1])
    if n_inside < n_rows:
        columns = _with_rows(columns, rows, _find_outliers(rows.feature, cells, scale))
    return Points(*columns, sums[..., 3].sum(axis=1) if has_labels else None)


def _count_cells(n_rows: int, n_keys: int) -> int:
    """Count the cells of a key."""
    cells = min(MAX_CELLS, max(MIN_CELLS, MAX_TOTAL_CELLS // n_keys))
    return min(cells, n_rows // (2 * ROWS_PER_POINT * n_keys))


def _reach(feature: Floats) -> float:
    """Upper end of the last cell, from a sample."""
    sample = np.abs(feature[:: len(feature) // SAMPLE + 1])
    middle = len(sample) // 2
    sample.partition((middle, -1))
    return min(MEDIAN_FACTOR * float(sample[middle]), MAX_FACTOR * float(sample[-1]))


def _two_points(sums: Array) -> tuple[Array, Array, Codes]:
    """Sizes, weights and keys of two points for each nonempty cell."""
    keys, cells = np.nonzero(sums[..., 0] > 0.0)
    weight, size, square, _ = sums[keys, cells].T
    mean = size / weight
    std = np.sqrt(np.maximum(square / weight - mean * mean, 0.0))
    sizes = np.stack([mean - std, mean + std], axis=1).ravel()
    return sizes, np.repeat(0.5 * weight, 2), np.repeat(keys, 2)


def _find_outliers(feature: Floats, cells: int, scale: float) -> Codes:
    """Rows beyond the last cell; most blocks have none, and are skipped."""

    def find(start: int) -> Codes:
        block = feature[start : start + BLOCK]
        low, high = min_max(block)
        if max(float(high), -float(low)) * scale < cells:
            return np.zeros(0, dtype=np.intp)
        return start + np.flatnonzero(~(np.abs(block, dtype=float) * scale < cells))

    return np.concatenate(map_on_cores(find, range(0, len(feature), BLOCK)))


def _with_rows(
    points: tuple[Array, Array, Codes], rows: SingleFeatureRows, indices: Codes
) -> tuple[Array, Array, Codes]:
    """Add rows as further points, in key order."""
    sizes, weights, keys = points
    weight = np.ones(len(indices)) if rows.weights is None else rows.weights[indices]
    own = np.zeros(len(indices), dtype=np.intp) if rows.keys is None else rows.keys[indices]
    both = np.concatenate([keys, own])
    order = np.argsort(both, kind="stable")
    return (
        np.concatenate([sizes, np.abs(rows.feature[indices])])[order],
        np.concatenate([weights, weight])[order],
        both[order],
    )

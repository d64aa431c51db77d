"""The range that holds nearly all times, where a few lie absurdly far beyond it.

One wrong time, such as a missing value that was written as 1e9, would stretch the grid, the knots
and the search for a rate over a range in which all other times are one and the same. Times are
stray if the gap between them and the others is more than `STRAY_GAP` times the range of all others,
and no more than `STRAY_SHARE` of the rows lie beyond it, on each side. Clocks with a long tail have
no such gap: with Pareto's distribution of a finite mean, it occurs in less than one in 10,000.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from tempocal.curves.curve import Bulk, Track
from tempocal.curves.grid import CELLS, TimeSpan
from tempocal.kernels.min_max import min_max
from tempocal.links import Array

# A gap of this many times the range of all other times sets stray times apart.
STRAY_GAP = 1e4
# At most this share of the rows is stray on each side; or one row, of at least so many.
STRAY_SHARE = 0.01
LEAST_ROWS = 20
ROUNDING = 1e-9
# Rows on which most clocks show that none of their times is stray.
SAMPLE = 2**14

Lay = Callable[[Array, Array | None, TimeSpan | None], Track]


def within_bulk(lay: Lay, times: Array, weights: Array | None, span: TimeSpan | None) -> Track:
    """Lay a curve along all times but the stray ones; cells have been laid without these."""
    bulk = None if span is not None else find_bulk(times, weights)
    if bulk is None:
        return lay(times, weights, span)
    return without_stray(lay, bulk, times, weights)


def without_stray(lay: Lay, bulk: Bulk, times: Array, weights: Array | None) -> Track:
    """Lay a curve along the times within a range; rows beyond it are not fitted."""
    kept = bulk.holds(times)
    track = lay(times[kept], None if weights is None else weights[kept], None)
    if track.kept is not None:
        # On another clock there were stray times as well.
        kept[kept] = track.kept
    return replace(track, kept=kept, bulk=bulk)


def find_bulk(times: Array, weights: Array | None) -> Bulk | None:
    """Return the range without stray times; None where there are none."""
    # The few times of a table have the weight of all its rows: a sample of them shows nothing.
    is_cheap = weights is not None and len(times) <= CELLS
    if not is_cheap and not _may_stray(times):
        return None
    found, codes = np.unique(np.asarray(times, dtype=np.float64), return_inverse=True)
    totals = np.bincount(codes.ravel(), weights, minlength=len(found)).astype(np.float64)
    most = most_stray(float(totals.sum()), max(float(len(times)), float(totals.sum())))
    low, high = _closed(found, *_core(totals, most))
    stray = float(totals[:low].sum() + totals[high + 1 :].sum())
    if stray == 0.0:
        return None
    beyond = found[[0, -1]][[low > 0, high + 1 < len(found)]]
    farthest = beyond[np.argmax(np.abs(beyond - found[low]))]
    return Bulk(float(found[low]), float(found[high]), stray, float(farthest))


def most_stray(total_weight: float, n_rows: float) -> float:
    """Weight of the rows that can be stray on each side."""
    if n_rows < LEAST_ROWS:
        return 0.0
    return total_weight * max(STRAY_SHARE, 1.0 / n_rows) * (1.0 + ROUNDING)


def _may_stray(times: Array) -> bool:
    """Whether the range of all times is many times that of nearly all of a sample."""
    first, last = (float(end) for end in min_max(times))
    low, high = inner_range(times[:: max(1, len(times) // SAMPLE)])
    with np.errstate(over="ignore"):
        return bool(last - first > STRAY_GAP * (high - low))


def inner_range(some: Array) -> TimeSpan:
    """First and last of nearly all times of a sample, of which the share of stray ones varies."""
    ordered = np.sort(some)
    cut = max(1, int(2.0 * STRAY_SHARE * len(some)))
    inner = ordered[cut:-cut] if len(some) > 2 * cut else ordered
    return float(inner[0]), float(inner[-1])


def _core(totals: Array, most: float) -> tuple[int, int]:
    """Positions of the first and the last time that have too much weight beyond them to stray."""
    low = int(np.searchsorted(np.cumsum(totals), most, side="right"))
    high = len(totals) - 1 - int(np.searchsorted(np.cumsum(totals[::-1]), most, side="right"))
    return min(low, high), max(low, high)


def _closed(found: Array, low: int, high: int) -> tuple[int, int]:
    """Take in the nearest time beyond, until it is too far away."""
    with np.errstate(over="ignore"):
        while low > 0 or high + 1 < len(found):
            below = found[low] - found[low - 1] if low > 0 else np.inf
            above = found[high + 1] - found[high] if high + 1 < len(found) else np.inf
            size = found[high] - found[low]
            # Where all are the same, there is nothing to compare with.
            if size > 0.0 and min(below, above) > STRAY_GAP * size:
                break
            low, high = (low - 1, high) if below <= above else (low, high + 1)
    return max(low, 0), min(high, len(found) - 1)

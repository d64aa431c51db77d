"""The times at which rows are summed: each distinct one, or cells of a fine grid.

Continuous time has as many distinct values as rows. It is cut into `CELLS` cells that are narrow at
the start and widen as time goes on, to a sixth of a percent of the range; a cell has the mean
time of its rows. Grids depend on the least and the greatest time and on counts, not on the order of
the rows; and on square roots, which round alike wherever they are taken.

One wrong time, such as a missing value that was written as 1e9, would stretch the grid, the knots
and the search for a rate over a range in which all other times are one and the same. Times are
stray if the gap between them and the others is more than `STRAY_GAP` times the range of all others,
and no more than `STRAY_SHARE` of the rows lie beyond it, on each side. Clocks with a long tail have
no such gap: with Pareto's distribution of a finite mean, it occurs in less than one in 10,000.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tempocal.errors import StrayTimesWarning, warn_user
from tempocal.inputs import Codes
from tempocal.kernels.codes import codes_in_blocks, integer_codes, renumbered
from tempocal.kernels.key_counts import as_keys, count_keys, sum_by_key
from tempocal.kernels.min_max import min_max
from tempocal.links import Array

# First and last time.
TimeSpan = tuple[float, float]
# Up to this many distinct times each is a key of its own.
CELLS = 2048
# Cells widen with this root of time, and are narrow within this share of the range.
NARROW = 1e-3
# Integers within this span are counted instead of sorted.
COUNTED_SPAN = 2**20
SAMPLE = 10 * CELLS
# A gap of this many times the range of all other times sets stray times apart.
STRAY_GAP = 1e4
# At most this share of the rows is stray on each side; or one row, of at least so many.
STRAY_SHARE = 0.01
LEAST_ROWS = 20
ROUNDING = 1e-9
# Rows on which most clocks show that none of their times is stray.
STRAY_SAMPLE = 2**14


@dataclass(frozen=True)
class Grid:
    """Which key each row has, and the time and the weight of each key, in order of time."""

    keys: Codes  # (rows,), of a type that need not be wider than they are
    times: Array  # (keys,), or (keys, 2) for two clocks
    weights: Array  # (keys,)
    is_exact: bool = False  # whether the time of a row is that of its key

    @property
    def n_keys(self) -> int:
        """How many keys there are."""
        return len(self.times)


def single(times: Array, weights: Array | None) -> Grid:
    """Put all rows under one key, whatever their time."""
    keys: Codes = np.zeros(len(times), dtype=np.uint16)
    # Added up as doubles: sums of many integers are rounded as well.
    mean = times.mean(axis=0, keepdims=True, dtype=np.float64)
    total = len(times) if weights is None else weights.sum()
    return Grid(keys, mean, np.array([total], dtype=np.float64))


def distinct(times: Array, weights: Array | None) -> Grid:
    """Give each distinct time a key of its own."""
    grid = _of_whole(times, weights)
    if grid is not None:
        return grid
    found, keys = np.unique(times, return_inverse=True)
    return replace(_weighed(keys.astype(np.intp, copy=False), found, weights), is_exact=True)


def fine(
    times: Array, weights: Array | None, cells: int = CELLS, span: TimeSpan | None = None
) -> Grid:
    """Distinct times where they are few, else cells.

    Where times are the means of such cells already, ``span`` is the range of the times themselves.
    """
    if span is not None:
        return in_cells(_cells_of(times, span, cells), times, weights)
    grid = _of_whole(times, weights)
    # Most columns of continuous times show it within a few rows, without a sort of all of them.
    if grid is None and len(np.unique(times[:: max(1, len(times) // SAMPLE)])) <= cells:
        grid = distinct(times, weights)
    if grid is not None and grid.n_keys <= cells:
        return grid
    span = (float(times.min()), float(times.max()))
    return in_cells(_cells_of(times, span, cells), times, weights)


def _cells_of(times: Array, span: TimeSpan, cells: int) -> Codes:
    narrow = _fourth_root(np.float64(NARROW))
    width = _fourth_root(1.0 + NARROW) - narrow

    def codes_of(some: Array) -> Codes:
        since = (some - span[0]) / (span[1] - span[0])
        position = (_fourth_root(since + NARROW) - narrow) / width
        return np.asarray(np.clip((cells * position).astype(np.intp), 0, cells - 1))

    return codes_in_blocks(codes_of, times, cells)


def _fourth_root(values: Any) -> Any:
    return np.sqrt(np.sqrt(values))


def in_cells(codes: Codes, times: Array, weights: Array | None) -> Grid:
    """Give each cell that has rows a key, at their mean time."""
    counts = count_keys(as_keys(codes), int(codes.max()) + 1)[0].sum(axis=0)
    found, keys = _present(codes, counts > 0)
    totals = counts[found] if weights is None else _sum(keys, len(found), weights)
    # Measured from the first time, for the sum of many large ones loses digits.
    first = times.min()

    def since(rows: slice) -> Array:
        later = times[rows] - first
        return np.asarray(later if weights is None else later * weights[rows])

    means = first + sum_by_key(keys, len(found), since) / totals
    return Grid(keys, means, totals.astype(np.float64))


def pairs(one: Grid, other: Grid, weights: Array | None) -> Grid:
    """Give each pair of keys that occurs a key of its own."""
    codes = one.keys.astype(np.intp) * other.n_keys + other.keys
    found, keys = _compressed(codes)
    times = np.stack([one.times[found // other.n_keys], other.times[found % other.n_keys]], axis=1)
    return _weighed(keys, times, weights)


def equal_mass_edges(grid: Grid, bins: int) -> Array:
    """Inner edges of bins of about the same weight; a step lies in one bin."""
    # There are no more bins than times, however many are requested: a number that a double and
    # an index hold parts all of them.
    bins = min(bins, 2**53)
    middle = np.cumsum(grid.weights) - 0.5 * grid.weights
    codes = np.minimum((bins * middle / grid.weights.sum()).astype(np.intp), bins - 1)
    opening = np.flatnonzero(np.diff(codes)) + 1
    return np.asarray(grid.times[opening])


def _of_whole(times: Array, weights: Array | None) -> Grid | None:
    """Give each of some integers a key; None if they are not, or lie far apart."""
    integers = integer_codes(times, COUNTED_SPAN)
    if integers is None:
        return None
    counts = count_keys(integers.codes, integers.span)[0].sum(axis=0)
    found, keys = _present(integers.codes, counts > 0)
    totals = counts[found] if weights is None else _sum(keys, len(found), weights)
    times = (found + integers.low).astype(np.float64)
    return Grid(keys, times, totals.astype(np.float64), is_exact=True)


def _compressed(codes: Codes) -> tuple[Codes, Codes]:
    """Codes that occur, and the position of each row's among them."""
    return _present(codes, np.bincount(codes) > 0)


def _present(codes: Codes, present: NDArray[np.bool_]) -> tuple[Codes, Codes]:
    return np.flatnonzero(present), codes if present.all() else renumbered(codes, present)


def _weighed(keys: Codes, times: Array, weights: Array | None) -> Grid:
    totals = np.bincount(keys, weights, minlength=len(times))
    return Grid(keys, np.asarray(times, dtype=np.float64), totals.astype(np.float64))


def _sum(keys: Codes, n_keys: int, weights: Array) -> Array:
    return sum_by_key(keys, n_keys, lambda rows: weights[rows])


@dataclass(frozen=True)
class Bulk:
    """The range of nearly all times, and what lies beyond it.

    Attributes
    ----------
    first, last : float
        First and last time of the others.
    n_stray : float
        Weight of the stray rows.
    farthest : float
        The stray time that is farthest away.
    clock : int
        The column of ``time``, where it has two.
    """

    first: float
    last: float
    n_stray: float
    farthest: float
    clock: int = 0

    def holds(self, times: Array) -> NDArray[np.bool_]:
        """Whether times lie in the range."""
        times = times[:, self.clock] if times.ndim == 2 else times
        return np.asarray((times >= self.first) & (times <= self.last))


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
    low, high = inner_range(times[:: max(1, len(times) // STRAY_SAMPLE)])
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


def warn_of_stray_times(bulk: Bulk, total_weight: float) -> None:
    """Warn of rows that the fit of a curve leaves out because their times are outliers."""
    warn_user(
        f"time goes to {bulk.farthest:.6g}, but all rows except {bulk.n_stray:.6g} of "
        f"{total_weight:.6g} lie from {bulk.first:.6g} to {bulk.last:.6g}. The curve is "
        "fitted without those, which would flatten it for all others. Look at them: mend their "
        "time, or leave them out",
        StrayTimesWarning,
    )

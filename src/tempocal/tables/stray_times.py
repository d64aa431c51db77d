"""Stray times of a table, absurdly far from all others: the rule of `tempocal.curves.grid`."""

import narwhals as nw

from tempocal.curves.grid import STRAY_GAP, Bulk, inner_range, most_stray
from tempocal.links import Array
from tempocal.tables.labeled_table import LabeledTable
from tempocal.tables.transfer import Columns

# The range grows by a factor of about STRAY_GAP in each pass, if at all.
MAX_PASSES = 8


def bulk_of_table(labeled: LabeledTable, sample: Array) -> Bulk | None:
    """Return the range without stray times, or None if no time is stray.

    Starts from the inner range of a sample of times. Each pass extends the range by the times near
    it, until there are none. No pass is needed unless the range of all rows is many times larger.
    """
    assert labeled.time_range is not None
    first, last = labeled.time_range
    low, high = inner_range(sample)
    for _ in range(MAX_PASSES):
        reach = STRAY_GAP * (high - low)
        if not high > low or (first >= low - reach and last <= high + reach):
            return None
        found = _near_range(labeled, low, high, reach)
        low, high = float(found["low"][0]), float(found["high"][0])
        reach = STRAY_GAP * (high - low)
        if found["before"][0] < low - reach and found["after"][0] > high + reach:
            break
    below, above = float(found["below"][0]), float(found["above"][0])
    max_weight = most_stray(labeled.total_weight, float(labeled.n_rows))
    if max(below, above) > max_weight or below + above == 0.0:
        return None
    return Bulk(low, high, below + above, last if above > 0.0 else first)


def _near_range(labeled: LabeledTable, low: float, high: float, reach: float) -> Columns:
    """First and last time near a range, the nearest times beyond it, and the weight beyond."""
    time, weight = nw.col("time"), nw.col("mass")
    assert labeled.time_range is not None
    first, last = labeled.time_range
    is_below, is_above = time < low - reach, time > high + reach
    # Beyond all times: the result where no row is below, or above.
    sentinel = 2.0 * (last - first) + abs(first) + abs(last)
    frame = labeled.frame.with_columns(mass=labeled.weight).select(
        low=nw.when(is_below | is_above).then(nw.lit(high)).otherwise(time),
        high=nw.when(is_below | is_above).then(nw.lit(low)).otherwise(time),
        before=nw.when(is_below).then(time).otherwise(nw.lit(-sentinel)),
        after=nw.when(is_above).then(time).otherwise(nw.lit(sentinel)),
        below=nw.when(is_below).then(weight).otherwise(nw.lit(0.0)),
        above=nw.when(is_above).then(weight).otherwise(nw.lit(0.0)),
    )
    summed = frame.select(
        nw.col("low").min(),
        nw.col("high").max(),
        nw.col("before").max(),
        nw.col("after").min(),
        nw.col("below").sum(),
        nw.col("above").sum(),
    )
    return labeled.passes.collect(summed, "looking at times far away")

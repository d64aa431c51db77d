"""The time of each row as a key: the time itself, or a cell of the fine grid.

Which it is depends on how many distinct times there are, as with arrays (`tempocal.curves.grid`);
cells are found with additions, multiplications and square roots only, which every engine rounds the
same way.
"""

from dataclasses import dataclass

import narwhals as nw
import numpy as np

from tempocal.curves.curve import Bulk
from tempocal.curves.grid import CELLS, NARROW
from tempocal.errors import InputError
from tempocal.links import Array
from tempocal.tables.labelled import Labelled
from tempocal.tables.open_table import Frame
from tempocal.tables.stray_times import bulk_of_table

# Rows that show whether times are continuous, before all of them are counted.
FIRST_ROWS = 10 * CELLS
# Whole numbers within this span are keys as they are.
WHOLE_SPAN = 2**16


@dataclass(frozen=True)
class Clock:
    """How rows are keyed by time.

    Attributes
    ----------
    n_keys : int
        How many keys there are, at most.
    ends : tuple of float or None
        First and last time, where rows lie in cells; None where each distinct time is a key.
    first : float or None
        Whole numbers are counted from here.
    bulk : Bulk or None
        The range of the rows that count, where the times of some are too far away.
    """

    n_keys: int
    ends: tuple[float, float] | None = None
    first: float | None = None
    bulk: Bulk | None = None

    def add_key(self, frame: Frame) -> Frame:
        """Add the column ``key``."""
        time = nw.col("time")
        if self.bulk is not None:
            frame = frame.filter((time >= self.bulk.first) & (time <= self.bulk.last))
        if self.ends is not None:
            return frame.with_columns(since=_since(time, self.ends)).with_columns(
                key=_cell(nw.col("since"), CELLS)
            )
        if self.first is not None:
            return frame.with_columns(key=(time - self.first).cast(nw.Int64))
        return frame.with_columns(key=time)

    def times(self, keys: Array) -> Array:
        """Return the times of keys that are times."""
        return keys if self.first is None else keys + self.first


def clock_of(labelled: Labelled, most_distinct: int, *, may_be_cells: bool) -> Clock:
    """Decide how rows are keyed; there may be one more pass to count the distinct times."""
    assert labelled.time_ends is not None
    first, last = labelled.time_ends
    whole = labelled.whole_times and last - first < WHOLE_SPAN
    if whole and last - first < most_distinct:
        return Clock(int(last - first) + 1, first=first)
    count, some = _count_distinct(labelled, most_distinct, whole=whole)
    if count <= most_distinct:
        return Clock(count, first=first if whole else None)
    if not may_be_cells:
        raise InputError(
            f"time has more than {most_distinct} distinct values, too many for one model each: "
            "Spline() follows it; or make a column of stretches of time"
        )
    bulk = None if some is None else bulk_of_table(labelled, some)
    ends = (first, last) if bulk is None else (bulk.first, bulk.last)
    return Clock(CELLS, ends=ends, bulk=bulk)


def _count_distinct(labelled: Labelled, most: int, *, whole: bool) -> tuple[int, Array | None]:
    """Count the times; return also those of the first rows, where these were looked at."""
    times, some = labelled.frame.select("time"), None
    if not whole:
        # Most columns of continuous times show it within a few rows.
        few = labelled.passes.collect(times.head(FIRST_ROWS).unique(), "looking at the times")
        some = few["time"].astype(np.float64)
        if len(some) > most:
            return len(some), some
    counted = times.unique().select(nw.len().alias("count"))
    return int(labelled.passes.collect(counted, "counting the times")["count"][0]), some


def _since(time: nw.Expr, ends: tuple[float, float]) -> nw.Expr:
    """Share of the range that has passed."""
    return (time - ends[0]) / (ends[1] - ends[0])


def _cell(since: nw.Expr, cells: int) -> nw.Expr:
    narrow = float(np.sqrt(np.sqrt(NARROW)))
    whole = float(np.sqrt(np.sqrt(1.0 + NARROW))) - narrow
    place = ((since + NARROW).sqrt().sqrt() - narrow) / whole
    return (place * float(cells)).floor().clip(0.0, cells - 1.0).cast(nw.Int64)

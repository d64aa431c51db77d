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
from tempocal.tables.labeled_table import LabeledTable
from tempocal.tables.open_table import Frame
from tempocal.tables.stray_times import bulk_of_table

# Rows that show whether times are continuous, before all of them are counted.
FIRST_ROWS = 10 * CELLS
# Whole numbers within this span are keys as they are.
MAX_INTEGER_SPAN = 2**16


@dataclass(frozen=True)
class TimeKeys:
    """How rows are keyed by time.

    Attributes
    ----------
    n_keys : int
        How many keys there are, at most.
    time_range : tuple of float or None
        First and last time, where rows lie in cells; None where each distinct time is a key.
    origin : float or None
        Whole numbers are counted from here.
    bulk : Bulk or None
        The range of the rows that count, where the times of some are too far away.
    """

    n_keys: int
    time_range: tuple[float, float] | None = None
    origin: float | None = None
    bulk: Bulk | None = None

    def add_key(self, frame: Frame) -> Frame:
        """Add the column ``key``."""
        time = nw.col("time")
        if self.bulk is not None:
            frame = frame.filter((time >= self.bulk.first) & (time <= self.bulk.last))
        if self.time_range is not None:
            return frame.with_columns(since=_since(time, self.time_range)).with_columns(
                key=_cell(nw.col("since"), CELLS)
            )
        if self.origin is not None:
            return frame.with_columns(key=(time - self.origin).cast(nw.Int64))
        return frame.with_columns(key=time)

    def times(self, keys: Array) -> Array:
        """Return the times of keys that are times."""
        return keys if self.origin is None else keys + self.origin


def choose_time_keys(labeled: LabeledTable, max_distinct: int, *, allow_cells: bool) -> TimeKeys:
    """Decide how rows are keyed; there may be one more pass to count the distinct times."""
    assert labeled.time_range is not None
    first, last = labeled.time_range
    whole = labeled.integer_times and last - first < MAX_INTEGER_SPAN
    if whole and last - first < max_distinct:
        return TimeKeys(int(last - first) + 1, origin=first)
    count, some = _count_distinct(labeled, max_distinct, whole=whole)
    if count <= max_distinct:
        return TimeKeys(count, origin=first if whole else None)
    if not allow_cells:
        raise InputError(
            f"time has more than {max_distinct} distinct values, too many for one model each: "
            "Spline() follows it; or make a column of stretches of time"
        )
    bulk = None if some is None else bulk_of_table(labeled, some)
    time_range = (first, last) if bulk is None else (bulk.first, bulk.last)
    return TimeKeys(CELLS, time_range=time_range, bulk=bulk)


def _count_distinct(labeled: LabeledTable, most: int, *, whole: bool) -> tuple[int, Array | None]:
    """Count the times; return also those of the first rows, where these were looked at."""
    times, some = labeled.frame.select("time"), None
    if not whole:
        # Most columns of continuous times show it within a few rows.
        few = labeled.passes.collect(times.head(FIRST_ROWS).unique(), "looking at the times")
        some = few["time"].astype(np.float64)
        if len(some) > most:
            return len(some), some
    counted = times.unique().select(nw.len().alias("count"))
    return int(labeled.passes.collect(counted, "counting the times")["count"][0]), some


def _since(time: nw.Expr, time_range: tuple[float, float]) -> nw.Expr:
    """Share of the range that has passed."""
    return (time - time_range[0]) / (time_range[1] - time_range[0])


def _cell(since: nw.Expr, cells: int) -> nw.Expr:
    narrow = float(np.sqrt(np.sqrt(NARROW)))
    whole = float(np.sqrt(np.sqrt(1.0 + NARROW))) - narrow
    place = ((since + NARROW).sqrt().sqrt() - narrow) / whole
    return (place * float(cells)).floor().clip(0.0, cells - 1.0).cast(nw.Int64)

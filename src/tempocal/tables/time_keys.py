"""Keys of time: each distinct time, or a cell of the fine grid.

Which of the two depends on the number of distinct times, as with arrays (`tempocal.curves.grid`).
Cells are computed with additions, multiplications and square roots only, which every engine rounds
the same way.
"""

from dataclasses import dataclass

import narwhals as nw
import numpy as np

from tempocal.curves.grid import CELLS, NARROW, Bulk
from tempocal.errors import InputError
from tempocal.links import Array
from tempocal.tables.labeled_table import LabeledTable
from tempocal.tables.open_table import Frame
from tempocal.tables.stray_times import bulk_of_table

# Rows that are checked for continuous times before all distinct times are counted.
FIRST_ROWS = 10 * CELLS
# Integer times within this span are keys themselves.
MAX_INTEGER_SPAN = 2**16


@dataclass(frozen=True)
class TimeKeys:
    """How rows are keyed by time.

    Attributes
    ----------
    n_keys : int
        Upper bound of the number of keys.
    time_range : tuple of float or None
        First and last time, where keys are cells; None where each distinct time is a key.
    origin : float or None
        First time, from which integer times are counted.
    bulk : Bulk or None
        Range of the rows that are used, where some have stray times.
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
            return frame.with_columns(elapsed=_elapsed(time, self.time_range)).with_columns(
                key=_cell(nw.col("elapsed"), CELLS)
            )
        if self.origin is not None:
            return frame.with_columns(key=(time - self.origin).cast(nw.Int64))
        return frame.with_columns(key=time)

    def times(self, keys: Array) -> Array:
        """Return the times of keys, where each distinct time is one."""
        return keys if self.origin is None else keys + self.origin


def choose_time_keys(labeled: LabeledTable, max_distinct: int, *, allow_cells: bool) -> TimeKeys:
    """Choose the keys; may need a pass to count the distinct times."""
    assert labeled.time_range is not None
    first, last = labeled.time_range
    are_integers = labeled.integer_times and last - first < MAX_INTEGER_SPAN
    if are_integers and last - first < max_distinct:
        return TimeKeys(int(last - first) + 1, origin=first)
    count, sample = _count_distinct(labeled, max_distinct, are_integers=are_integers)
    if count <= max_distinct:
        return TimeKeys(count, origin=first if are_integers else None)
    if not allow_cells:
        raise InputError(
            f"time has more than {max_distinct} distinct values, too many for one model each: "
            "Spline() follows it; or make a column of stretches of time"
        )
    bulk = None if sample is None else bulk_of_table(labeled, sample)
    time_range = (first, last) if bulk is None else (bulk.first, bulk.last)
    return TimeKeys(CELLS, time_range=time_range, bulk=bulk)


def _count_distinct(
    labeled: LabeledTable, max_distinct: int, *, are_integers: bool
) -> tuple[int, Array | None]:
    """Count the distinct times; also return those of the first rows, if these were collected."""
    times, sample = labeled.frame.select("time"), None
    if not are_integers:
        # Continuous times are mostly recognized within a few rows.
        found = labeled.passes.collect(times.head(FIRST_ROWS).unique(), "looking at the times")
        sample = found["time"].astype(np.float64)
        if len(sample) > max_distinct:
            return len(sample), sample
    counted = times.unique().select(nw.len().alias("count"))
    return int(labeled.passes.collect(counted, "counting the times")["count"][0]), sample


def _elapsed(time: nw.Expr, time_range: tuple[float, float]) -> nw.Expr:
    """Elapsed fraction of the time range."""
    return (time - time_range[0]) / (time_range[1] - time_range[0])


def _cell(elapsed: nw.Expr, cells: int) -> nw.Expr:
    """Cell of the grid, of equal width in the fourth root of the elapsed time."""
    first = float(np.sqrt(np.sqrt(NARROW)))
    width = float(np.sqrt(np.sqrt(1.0 + NARROW))) - first
    position = ((elapsed + NARROW).sqrt().sqrt() - first) / width
    return (position * float(cells)).floor().clip(0.0, cells - 1.0).cast(nw.Int64)

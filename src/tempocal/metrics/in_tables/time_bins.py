"""Time bins, cut where the rows of a table are."""

from dataclasses import dataclass

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from tempocal.errors import InputError
from tempocal.formula import choose
from tempocal.inputs import Times, from_seconds
from tempocal.links import Array
from tempocal.metrics.in_tables.scored_frame import ScoredFrame
from tempocal.metrics.time_bins import Bins, TimeBins, cut_times, is_steps, single_time_bin
from tempocal.tables.narwhals_engine import NarwhalsEngine
from tempocal.tables.open_table import Frame
from tempocal.tables.transfer import Columns
from tempocal.tables.unchanged import require_same

# Up to so many distinct times stretches are those of arrays; more are cut on a grid of as many.
MAX_TIMES = 2**20


@dataclass(frozen=True, eq=False)
class TableTimeBins:
    """Time bins, and where each but the first begins."""

    ends: TimeBins  # with one code for each distinct time
    edges: Array  # (S - 1,)
    rows: NDArray[np.intp] | None  # (S,) how many there are; None if not counted

    @property
    def count(self) -> int:
        """How many there are."""
        return self.ends.count

    def locate(self, frame: Frame) -> Frame:
        """Add the ``stretch`` of each row."""
        pieces = [nw.lit(k) for k in range(self.count)]
        found = choose(NarwhalsEngine(), nw.col("time"), self.edges.tolist(), pieces, "right")
        return frame.with_columns(stretch=found)


def whole() -> TableTimeBins:
    """Put all rows into one stretch, without a clock."""
    return TableTimeBins(single_time_bin(1), np.zeros(0), None)


def cut_table(table: ScoredFrame, bins: Bins) -> TableTimeBins:
    """Cut time into stretches of about the same weight, or into its steps."""
    return cut_moments(table, find_moments(table), bins)


def cut_moments(table: ScoredFrame, moments: tuple[Columns, bool], bins: Bins) -> TableTimeBins:
    """Cut the times that `find_moments` found."""
    assert table.rows.time_kind is not None
    found, is_exact = moments
    if is_steps(bins) and not is_exact:
        raise InputError(
            f'bins is "steps", but there are more than {MAX_TIMES:,} distinct times: bins=20 cuts '
            "time into twenty"
        )
    times = Times(found["middle"], (table.rows.time_kind,))
    ends = cut_times(times, found["mass"], bins)
    low, high = np.full(ends.count, np.inf), np.full(ends.count, -np.inf)
    np.minimum.at(low, ends.codes, found["low"])
    np.maximum.at(high, ends.codes, found["high"])
    counts = np.bincount(ends.codes, found["one"], minlength=ends.count)
    first, last = (from_seconds(each, table.rows.time_kind) for each in (low, high))
    placed = TimeBins(ends.codes, first, last, ends.middle)
    return TableTimeBins(placed, low[1:], counts.astype(np.intp))


def find_moments(table: ScoredFrame) -> tuple[Columns, bool]:
    """Weight and number of rows at each time, in order, and whether these are all times."""
    # Minus zero is zero, but not to every engine.
    time = nw.when(nw.col("time") == 0.0).then(nw.lit(0.0)).otherwise(nw.col("time"))
    frame = table.frame.select(low=time, mass=nw.col("weight"), one=nw.lit(1.0))
    sums = (nw.col("mass").sum(), nw.col("one").sum())
    few = frame.group_by("low").agg(*sums).head(MAX_TIMES + 1)
    found = table.passes.collect(few, "looking for times")
    if len(found["low"]) <= MAX_TIMES:
        require_same(table.rows.total_weight, found["mass"].sum())
        found = _sorted(found)
        return {**found, "high": found["low"], "middle": found["low"]}, True
    return _cells(table, frame, sums), False


def _cells(table: ScoredFrame, frame: Frame, sums: tuple[nw.Expr, ...]) -> Columns:
    """Sum over cells of the same length, between the first time and the last."""
    assert table.rows.time_range is not None
    first, last = table.rows.time_range
    frame = frame.with_columns(high=nw.col("low"), since=nw.col("low") - first)
    place = (nw.col("since") * (MAX_TIMES / (last - first))).floor()
    frame = frame.with_columns(
        cell=place.clip(0.0, MAX_TIMES - 1.0), moved=nw.col("since") * nw.col("mass")
    )
    ends = (nw.col("low").min(), nw.col("high").max(), nw.col("moved").sum())
    found = _sorted(table.passes.collect(frame.group_by("cell").agg(*sums, *ends), "cutting time"))
    return {**found, "middle": first + found["moved"] / found["mass"]}


def _sorted(found: Columns) -> Columns:
    order = np.argsort(found["low"])
    return {name: column[order] for name, column in found.items()}

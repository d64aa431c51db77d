"""Time bins of the rows of a table, computed by the engine that holds them."""

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

# Up to this many distinct times, bins are those of arrays; beyond, times are summed on a grid of as
# many cells.
MAX_TIMES = 2**20


@dataclass(frozen=True, eq=False)
class TableTimeBins:
    """Time bins, and the lower edges of all but the first."""

    ranges: TimeBins  # with one code for each distinct time
    edges: Array  # (S - 1,)
    n_rows: NDArray[np.intp] | None  # (S,) rows in each; None where they were not counted

    @property
    def count(self) -> int:
        """Number of time bins."""
        return self.ranges.count

    def add_time_bin(self, frame: Frame) -> Frame:
        """Add the ``time_bin`` of each row."""
        pieces = [nw.lit(k) for k in range(self.count)]
        found = choose(NarwhalsEngine(), nw.col("time"), self.edges.tolist(), pieces, "right")
        return frame.with_columns(time_bin=found)


def one_time_bin() -> TableTimeBins:
    """Put all rows into one bin; needs no times."""
    return TableTimeBins(single_time_bin(1), np.zeros(0), None)


def cut_table(table: ScoredFrame, bins: Bins) -> TableTimeBins:
    """Cut time into bins of about the same weight, or into its steps."""
    return cut_weighted_times(table, weights_by_time(table), bins)


def cut_weighted_times(
    table: ScoredFrame, by_time: tuple[Columns, bool], bins: Bins
) -> TableTimeBins:
    """Cut the times that `weights_by_time` found."""
    assert table.rows.time_kind is not None
    found, is_exact = by_time
    if is_steps(bins) and not is_exact:
        raise InputError(
            f'bins is "steps", but there are more than {MAX_TIMES:,} distinct times: bins=20 cuts '
            "time into twenty"
        )
    times = Times(found["middle"], (table.rows.time_kind,))
    ranges = cut_times(times, found["mass"], bins)
    low, high = np.full(ranges.count, np.inf), np.full(ranges.count, -np.inf)
    np.minimum.at(low, ranges.codes, found["low"])
    np.maximum.at(high, ranges.codes, found["high"])
    n_rows = np.bincount(ranges.codes, found["n_rows"], minlength=ranges.count)
    first, last = (from_seconds(each, table.rows.time_kind) for each in (low, high))
    exact_ranges = TimeBins(ranges.codes, first, last, ranges.middle)
    return TableTimeBins(exact_ranges, low[1:], n_rows.astype(np.intp))


def weights_by_time(table: ScoredFrame) -> tuple[Columns, bool]:
    """Weight and number of rows by time, sorted; and whether by distinct times or grid cells."""
    # Some engines keep minus zero and zero apart.
    time = nw.when(nw.col("time") == 0.0).then(nw.lit(0.0)).otherwise(nw.col("time"))
    frame = table.frame.select(low=time, mass=nw.col("weight"), n_rows=nw.lit(1.0))
    sums = (nw.col("mass").sum(), nw.col("n_rows").sum())
    by_time = frame.group_by("low").agg(*sums).head(MAX_TIMES + 1)
    found = table.passes.collect(by_time, "looking for times")
    if len(found["low"]) <= MAX_TIMES:
        require_same(table.rows.total_weight, found["mass"].sum())
        found = _sorted(found)
        return {**found, "high": found["low"], "middle": found["low"]}, True
    return _by_grid_cell(table, frame, sums), False


def _by_grid_cell(table: ScoredFrame, frame: Frame, sums: tuple[nw.Expr, ...]) -> Columns:
    """Sum over cells of equal length between the first and the last time."""
    assert table.rows.time_range is not None
    first, last = table.rows.time_range
    frame = frame.with_columns(high=nw.col("low"), elapsed=nw.col("low") - first)
    position = (nw.col("elapsed") * (MAX_TIMES / (last - first))).floor()
    frame = frame.with_columns(
        cell=position.clip(0.0, MAX_TIMES - 1.0), elapsed_sum=nw.col("elapsed") * nw.col("mass")
    )
    ranges = (nw.col("low").min(), nw.col("high").max(), nw.col("elapsed_sum").sum())
    by_cell = frame.group_by("cell").agg(*sums, *ranges)
    found = _sorted(table.passes.collect(by_cell, "cutting time"))
    return {**found, "middle": first + found["elapsed_sum"] / found["mass"]}


def _sorted(found: Columns) -> Columns:
    order = np.argsort(found["low"])
    return {name: column[order] for name, column in found.items()}

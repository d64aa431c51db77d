"""Time bins of the rows of a table, computed by the engine that holds them."""

from dataclasses import replace

import narwhals as nw
import numpy as np

from tempocal.errors import InputError
from tempocal.inputs import Times, from_seconds
from tempocal.metrics.time_bins import Bins, TimeBins, cut_times, is_steps
from tempocal.tables.labeled_table import LabeledTable
from tempocal.tables.open_table import Frame
from tempocal.tables.transfer import Columns
from tempocal.tables.unchanged import require_same

# Up to this many distinct times, bins are those of arrays; beyond, times are summed on a grid of as
# many cells.
MAX_TIMES = 2**20


def cut_table(labeled: LabeledTable, bins: Bins) -> TimeBins:
    """Cut time into bins of about the same weight, or into its steps."""
    return cut_weighted_times(labeled, weights_by_time(labeled), bins)


def cut_weighted_times(
    labeled: LabeledTable, by_time: tuple[Columns, bool], bins: Bins
) -> TimeBins:
    """Cut the times that `weights_by_time` found."""
    assert labeled.time_kind is not None
    found, is_exact = by_time
    if is_steps(bins) and not is_exact:
        raise InputError(
            f'bins is "steps", but there are more than {MAX_TIMES:,} distinct times: bins=20 cuts '
            "time into twenty"
        )
    cut = cut_times(Times(found["middle"], (labeled.time_kind,)), found["mass"], bins)
    low, high = np.full(cut.count, np.inf), np.full(cut.count, -np.inf)
    np.minimum.at(low, cut.codes, found["low"])
    np.maximum.at(high, cut.codes, found["high"])
    first, last = (from_seconds(each, labeled.time_kind) for each in (low, high))
    n_rows = np.rint(np.bincount(cut.codes, found["n_rows"], minlength=cut.count)).astype(np.intp)
    return replace(cut, first=first, last=last, n_rows=n_rows, edges=low[1:])


def weights_by_time(labeled: LabeledTable) -> tuple[Columns, bool]:
    """Weight and number of rows by time, sorted; and whether by distinct times or grid cells."""
    # Some engines keep minus zero and zero apart.
    time = nw.when(nw.col("time") == 0.0).then(nw.lit(0.0)).otherwise(nw.col("time"))
    frame = labeled.frame.select(low=time, mass=labeled.weight, n_rows=labeled.row_count)
    sums = (nw.col("mass").sum(), nw.col("n_rows").sum())
    by_time = frame.group_by("low").agg(*sums).head(MAX_TIMES + 1)
    found = labeled.passes.collect(by_time, "looking for times")
    if len(found["low"]) <= MAX_TIMES:
        require_same(labeled.total_weight, found["mass"].sum())
        found = _sorted(found)
        return {**found, "high": found["low"], "middle": found["low"]}, True
    return _by_grid_cell(labeled, frame, sums), False


def _by_grid_cell(labeled: LabeledTable, frame: Frame, sums: tuple[nw.Expr, ...]) -> Columns:
    """Sum over cells of equal length between the first and the last time."""
    assert labeled.time_range is not None
    first, last = labeled.time_range
    frame = frame.with_columns(high=nw.col("low"), elapsed=nw.col("low") - first)
    position = (nw.col("elapsed") * (MAX_TIMES / (last - first))).floor()
    frame = frame.with_columns(
        cell=position.clip(0.0, MAX_TIMES - 1.0), elapsed_sum=nw.col("elapsed") * nw.col("mass")
    )
    ranges = (nw.col("low").min(), nw.col("high").max(), nw.col("elapsed_sum").sum())
    by_cell = frame.group_by("cell").agg(*sums, *ranges)
    found = _sorted(labeled.passes.collect(by_cell, "cutting time"))
    return {**found, "middle": first + found["elapsed_sum"] / found["mass"]}


def _sorted(found: Columns) -> Columns:
    order = np.argsort(found["low"])
    return {name: column[order] for name, column in found.items()}

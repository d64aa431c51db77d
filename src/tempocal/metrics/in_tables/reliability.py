"""Reliability diagrams of a table: of all rows, or of each time bin."""

import narwhals as nw
import numpy as np

from tempocal.links import Array
from tempocal.metrics.binsums import BinSums
from tempocal.metrics.cells import GapMetric
from tempocal.metrics.edges import Edges
from tempocal.metrics.estimates import ReliabilityTable, reliability_table
from tempocal.metrics.events import EventKind
from tempocal.metrics.frequency import (
    FrequencyInterval,
    interval_from_group_sums,
    interval_over_rows,
)
from tempocal.metrics.in_tables.confidence_bins import add_bin_by_edges, equal_mass_edges
from tempocal.metrics.in_tables.events import add_event, number_of_events
from tempocal.metrics.in_tables.group_draws import draw_by_group
from tempocal.metrics.in_tables.scored_frame import ScoredFrame
from tempocal.metrics.in_tables.time_bins import TableTimeBins
from tempocal.metrics.sample import BUCKETS
from tempocal.tables.open_table import Frame
from tempocal.tables.transfer import Columns

_SUMS = ("n_rows", "weight", "confidence_sum", "outcome_sum")
_SQUARES = {
    "ww": ("weight", "weight"),
    "wo": ("weight", "outcome_sum"),
    "oo": ("outcome_sum", "outcome_sum"),
}
_DESCRIPTION = "summing for diagrams"


def reliability_tables(
    table: ScoredFrame, time_bins: TableTimeBins, *, bins: int, of: EventKind, level: float = 0.95
) -> tuple[ReliabilityTable, ...]:
    """Compute the reliability curve of each time bin, in bins of equal mass; two passes.

    Parameters
    ----------
    table : ScoredFrame
        The rows.
    time_bins : TableTimeBins
        Time bins.
    bins, of, level
        As in `reliability_curve`.

    Returns
    -------
    tuple of ReliabilityTable
        One for each time bin. More than 10,000 groups are summed in 1,000 buckets, so that the
        widths of intervals and numbers of groups are known to a few percent.
    """
    metric = GapMetric(of, bins, "equal_mass")
    number_of_events(metric, table.n_classes)
    frame = time_bins.add_time_bin(add_event(table.frame, metric, 0, table.n_classes))
    edges = equal_mass_edges(table, frame, bins, time_bins.count, 0)
    frame = add_bin_by_edges(frame, edges, 0)
    if table.groups is None:
        found = table.passes.collect(_sums_by_bin(frame, []), _DESCRIPTION)
        n_units = 0
    else:
        max_buckets = table.groups.count if table.groups.are_few else BUCKETS
        draws = draw_by_group(frame, table.groups, max_buckets, range(0), 0)
        found = table.passes.collect(
            _with_squares(_sums_by_bin(draws.frame, ["bucket"])), _DESCRIPTION
        )
        n_units = 0 if draws.buckets == table.groups.count else draws.buckets
    return tuple(_table(found, k, each, n_units, level) for k, each in enumerate(edges))


def _sums_by_bin(frame: Frame, by: list[str]) -> Frame:
    weight, keys = nw.col("weight"), [*by, "time_bin", "bin0"]
    columns = {
        "n_rows": nw.lit(1.0),
        "confidence_sum": weight * nw.col("confidence0"),
        "outcome_sum": weight * nw.col("outcome0"),
    }
    sums = [nw.col(name).sum() for name in _SUMS]
    return frame.select(*keys, "weight", **columns).group_by(*keys).agg(*sums)


def _with_squares(frame: Frame) -> Frame:
    """Sum over groups, also the squares and products of their sums."""
    squares = {name: nw.col(a) * nw.col(b) for name, (a, b) in _SQUARES.items()}
    sums = [nw.col(name).sum() for name in (*_SUMS, *_SQUARES)]
    return frame.with_columns(**squares).group_by("time_bin", "bin0").agg(*sums)


def _table(
    found: Columns, time_bin: int, edges: Edges, n_buckets: int, level: float
) -> ReliabilityTable:
    inside = found["time_bin"] == time_bin
    bins_found = found["bin0"][inside].astype(np.intp)

    def by_bin(name: str) -> Array:
        values = np.zeros(edges.n_bins)
        values[bins_found] = found[name][inside]
        return values

    count, weight, confidence_sum, outcome_sum = (by_bin(name) for name in _SUMS)
    sums = BinSums(count.astype(np.intp), weight, confidence_sum, outcome_sum)
    if "ww" not in found:
        return reliability_table(sums, edges, interval_over_rows(sums, level))
    squares = {name: by_bin(name) for name in _SQUARES}
    return reliability_table(sums, edges, _interval_over_groups(sums, squares, n_buckets, level))


def _interval_over_groups(
    sums: BinSums, squares: dict[str, Array], n_buckets: int, level: float
) -> FrequencyInterval:
    f = sums.outcome / np.where(sums.weight > 0.0, sums.weight, 1.0)
    deviations = squares["oo"] - 2.0 * f * squares["wo"] + f**2 * squares["ww"]
    weights = squares["ww"]
    if n_buckets:
        # Groups are in random buckets: E[sum over buckets of S**2] has cross terms between groups.
        share = 1.0 - 1.0 / n_buckets
        weights = np.maximum(weights - sums.weight**2 / n_buckets, 0.0) / share
        deviations = deviations / share
    return interval_from_group_sums(sums, weights, np.maximum(deviations, 0.0), level)

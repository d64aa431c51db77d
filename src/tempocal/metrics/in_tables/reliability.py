"""The numbers of reliability diagrams of a table: of all its rows, or of each stretch of time."""

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
from tempocal.metrics.in_tables.bins import equal_mass_edges, place_in_bins
from tempocal.metrics.in_tables.events import add_event, number_of_events
from tempocal.metrics.in_tables.group_draws import draw_by_group
from tempocal.metrics.in_tables.scored_frame import ScoredFrame
from tempocal.metrics.in_tables.time_bins import TableTimeBins
from tempocal.metrics.sample import BUCKETS
from tempocal.tables.open_table import Frame
from tempocal.tables.transfer import Columns

_SUMS = ("one", "weight", "said", "hit")
_SQUARES = {"ww": ("weight", "weight"), "wh": ("weight", "hit"), "hh": ("hit", "hit")}
_DOING = "summing for diagrams"


def reliability_tables(
    table: ScoredFrame, stretches: TableTimeBins, *, bins: int, of: EventKind, level: float = 0.95
) -> tuple[ReliabilityTable, ...]:
    """Take the reliability curve of each stretch, in bins of equal mass; two passes.

    Parameters
    ----------
    table : ScoredFrame
        The rows.
    stretches : TableTimeBins
        Time bins.
    bins, of, level
        As in `reliability_curve`.

    Returns
    -------
    tuple of ReliabilityTable
        One for each stretch. More than 10,000 groups are summed in 1,000 buckets, so that the
        widths of intervals and numbers of groups are known to a few percent.
    """
    metric = GapMetric(of, bins, "equal_mass")
    number_of_events(metric, table.n_classes)
    frame = stretches.locate(add_event(table.frame, metric, 0, table.n_classes))
    edges = equal_mass_edges(table, frame, bins, stretches.count, 0)
    frame = place_in_bins(frame, edges, 0)
    if table.groups is None:
        found = table.passes.collect(_summed(frame, []), _DOING)
        n_units = 0
    else:
        most = table.groups.count if table.groups.are_few else BUCKETS
        drawn = draw_by_group(frame, table.groups, most, range(0), 0)
        found = table.passes.collect(_squared(_summed(drawn.frame, ["bucket"])), _DOING)
        n_units = 0 if drawn.buckets == table.groups.count else drawn.buckets
    return tuple(_table(found, k, each, n_units, level) for k, each in enumerate(edges))


def _summed(frame: Frame, by: list[str]) -> Frame:
    weight, keys = nw.col("weight"), [*by, "stretch", "bin0"]
    columns = {
        "one": nw.lit(1.0),
        "said": weight * nw.col("sure0"),
        "hit": weight * nw.col("came0"),
    }
    sums = [nw.col(name).sum() for name in _SUMS]
    return frame.select(*keys, "weight", **columns).group_by(*keys).agg(*sums)


def _squared(frame: Frame) -> Frame:
    """Sum over groups, and with them the squares and products of their sums."""
    squares = {name: nw.col(a) * nw.col(b) for name, (a, b) in _SQUARES.items()}
    sums = [nw.col(name).sum() for name in (*_SUMS, *_SQUARES)]
    return frame.with_columns(**squares).group_by("stretch", "bin0").agg(*sums)


def _table(
    found: Columns, stretch: int, edges: Edges, n_buckets: int, level: float
) -> ReliabilityTable:
    inside = found["stretch"] == stretch
    places = found["bin0"][inside].astype(np.intp)

    def spread(name: str) -> Array:
        values = np.zeros(edges.n_bins)
        values[places] = found[name][inside]
        return values

    count, weight, said, hit = (spread(name) for name in _SUMS)
    sums = BinSums(count.astype(np.intp), weight, said, hit)
    if "ww" not in found:
        return reliability_table(sums, edges, interval_over_rows(sums, level))
    squares = {name: spread(name) for name in _SQUARES}
    return reliability_table(sums, edges, _spread(sums, squares, n_buckets, level))


def _spread(
    sums: BinSums, squares: dict[str, Array], n_buckets: int, level: float
) -> FrequencyInterval:
    f = sums.outcome / np.where(sums.weight > 0.0, sums.weight, 1.0)
    deviations = squares["hh"] - 2.0 * f * squares["wh"] + f**2 * squares["ww"]
    weights = squares["ww"]
    if n_buckets:
        # Groups fall into buckets at random, and the spread of these shows the squares of those.
        share = 1.0 - 1.0 / n_buckets
        weights = np.maximum(weights - sums.weight**2 / n_buckets, 0.0) / share
        deviations = deviations / share
    return interval_from_group_sums(sums, weights, np.maximum(deviations, 0.0), level)

"""Bins of confidence, computed by the engine that holds the rows."""

import narwhals as nw
import numpy as np

from tempocal.formula import choose
from tempocal.metrics.cells import GapMetric
from tempocal.metrics.edges import Edges, equal_mass, equal_width
from tempocal.metrics.events import Events
from tempocal.metrics.in_tables.scored_frame import MAX_SUMS, ScoredFrame, indicator, sum_of
from tempocal.metrics.in_tables.time_bins import TableTimeBins
from tempocal.tables.narwhals_engine import NarwhalsEngine
from tempocal.tables.open_table import Frame
from tempocal.tables.surrogate import MAX_VALUES
from tempocal.tables.transfer import join

# With many rows, equal-mass edges lie on a grid of at most this many cells of confidence.
MAX_GRID_CELLS = 2**16
# Larger than any confidence.
ABOVE_ALL = 2.0


def add_bin(
    table: ScoredFrame, frame: Frame, metric: GapMetric, time_bins: TableTimeBins, event: int
) -> Frame:
    """Add the ``bin`` of one event, followed by its number; needs its ``confidence``."""
    if metric.binning == "equal_width":
        return _add_equal_width_bin(frame, metric.bins, event)
    edges = equal_mass_edges(table, frame, metric.bins, time_bins.count, event)
    return add_bin_by_edges(frame, edges, event)


def add_bin_by_edges(frame: Frame, edges: list[Edges], event: int) -> Frame:
    """Add the ``bin`` of one event, from the edges in each time bin."""
    max_inner = max(each.n_bins for each in edges) - 1
    if max_inner == 0:
        return frame.with_columns(**{f"bin{event}": nw.lit(0)})
    names = [f"edge{event}_{k}" for k in range(max_inner)]
    inner = np.full((len(edges), max_inner), ABOVE_ALL)
    for k, each in enumerate(edges):
        inner[k, : each.n_bins - 1] = each.values[1:-1]
    columns = {"time_bin": np.arange(len(edges)), **dict(zip(names, inner.T, strict=True))}
    bin_index = sum_of(indicator(nw.col(f"confidence{event}") > nw.col(name)) for name in names)
    return join(frame, columns, on=["time_bin"]).with_columns(**{f"bin{event}": bin_index})


def _add_equal_width_bin(frame: Frame, bins: int, event: int) -> Frame:
    """Compare with the edges themselves: engines round quotients differently."""
    inner, pieces = equal_width(bins).values[1:-1].tolist(), [nw.lit(k) for k in range(bins)]
    bin_index = choose(NarwhalsEngine(), nw.col(f"confidence{event}"), inner, pieces, "left")
    return frame.with_columns(**{f"bin{event}": bin_index})


def equal_mass_edges(
    table: ScoredFrame, frame: Frame, bins: int, n_time_bins: int, event: int
) -> list[Edges]:
    """Return the edges in each time bin, from the weight of each confidence or grid cell."""
    cells = min(MAX_GRID_CELLS, MAX_SUMS // n_time_bins)
    confidence = nw.col(f"confidence{event}")
    cell = confidence if table.rows.n_rows <= MAX_VALUES else (confidence * float(cells)).ceil()
    frame = frame.select("time_bin", "weight", top=confidence, cell=cell)
    sums = (nw.col("weight").sum(), nw.col("top").max())
    counted = frame.group_by("time_bin", "cell").agg(*sums)
    found = table.passes.collect(counted, "looking for bins of equal mass")
    edges = []
    for k in range(n_time_bins):
        inside = found["time_bin"] == k
        nothing = np.zeros(0, dtype=np.bool_)
        events = Events(found["top"][inside], nothing, found["weight"][inside], "", 0)
        edges.append(equal_mass(events, bins))
    return edges

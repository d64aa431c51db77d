"""Bins of confidence, found where the rows of a table are."""

import narwhals as nw
import numpy as np

from tempocal.formula import choose
from tempocal.metrics.cells import GapMetric
from tempocal.metrics.edges import Edges, equal_mass, equal_width
from tempocal.metrics.events import Events
from tempocal.metrics.in_tables.scored_frame import MAX_SUMS, ScoredFrame, added, flag
from tempocal.metrics.in_tables.time_bins import TableTimeBins
from tempocal.tables.narwhals_engine import NarwhalsEngine
from tempocal.tables.open_table import Frame
from tempocal.tables.surrogate import MAX_VALUES
from tempocal.tables.transfer import join

# Of many rows, equal-mass bins end at the ends of cells of confidence, at most so many.
FINEST = 2**16
# Above every confidence.
NEVER = 2.0


def add_bin(
    table: ScoredFrame, frame: Frame, metric: GapMetric, stretches: TableTimeBins, event: int
) -> Frame:
    """Add the ``bin`` of one event, followed by its number; ``frame`` has its ``sure``."""
    if metric.binning == "equal_width":
        return _equal_width(frame, metric.bins, event)
    edges = equal_mass_edges(table, frame, metric.bins, stretches.count, event)
    return place_in_bins(frame, edges, event)


def place_in_bins(frame: Frame, edges: list[Edges], event: int) -> Frame:
    """Add the ``bin`` of one event, by the edges of each stretch."""
    most = max(each.n_bins for each in edges) - 1
    if most == 0:
        return frame.with_columns(**{f"bin{event}": nw.lit(0)})
    names = [f"edge{event}_{k}" for k in range(most)]
    inner = np.full((len(edges), most), NEVER)
    for stretch, each in enumerate(edges):
        inner[stretch, : each.n_bins - 1] = each.values[1:-1]
    columns = {"stretch": np.arange(len(edges)), **dict(zip(names, inner.T, strict=True))}
    found = added(flag(nw.col(f"sure{event}") > nw.col(name)) for name in names)
    return join(frame, columns, on=["stretch"]).with_columns(**{f"bin{event}": found})


def _equal_width(frame: Frame, bins: int, event: int) -> Frame:
    """Compare with the edges themselves: what engines make of a quotient differs."""
    inner, pieces = equal_width(bins).values[1:-1].tolist(), [nw.lit(k) for k in range(bins)]
    found = choose(NarwhalsEngine(), nw.col(f"sure{event}"), inner, pieces, "left")
    return frame.with_columns(**{f"bin{event}": found})


def equal_mass_edges(
    table: ScoredFrame, frame: Frame, bins: int, n_stretches: int, event: int
) -> list[Edges]:
    """Edges of each stretch, from the weight of each confidence, or in each of many cells."""
    cells = min(FINEST, MAX_SUMS // n_stretches)
    sure = nw.col(f"sure{event}")
    cell = sure if table.rows.n_rows <= MAX_VALUES else (sure * float(cells)).ceil()
    frame = frame.select("stretch", "weight", top=sure, cell=cell)
    sums = (nw.col("weight").sum(), nw.col("top").max())
    counted = frame.group_by("stretch", "cell").agg(*sums)
    found = table.passes.collect(counted, "looking for bins of equal mass")
    edges = []
    for stretch in range(n_stretches):
        inside = found["stretch"] == stretch
        nothing = np.zeros(0, dtype=np.bool_)
        events = Events(found["top"][inside], nothing, found["weight"][inside], "", 0)
        edges.append(equal_mass(events, bins))
    return edges

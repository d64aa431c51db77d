"""Bins of confidence, found where the rows of a table are."""

import narwhals as nw
import numpy as np

from tempocal.formula import choose
from tempocal.metrics.cells import GapMetric
from tempocal.metrics.edges import equal_mass, equal_width
from tempocal.metrics.events import Events
from tempocal.metrics.in_tables.scored import MOST_SUMS, Scored, added, flag
from tempocal.metrics.in_tables.stretches import TableStretches
from tempocal.tables.engine import NarwhalsEngine
from tempocal.tables.open import Frame
from tempocal.tables.small import Columns, join

# Equal-mass bins end at the ends of cells of confidence, at most so many.
FINEST = 2**16
# Above every confidence.
NEVER = 2.0


def add_bin(
    table: Scored, frame: Frame, metric: GapMetric, stretches: TableStretches, event: int
) -> Frame:
    """Add the ``bin`` of one event, followed by its number; ``frame`` has its ``sure``."""
    if metric.binning == "equal_width":
        return _equal_width(frame, metric.bins, event)
    edges = _equal_mass_edges(table, frame, metric.bins, stretches.count, event)
    names = [name for name in edges if name != "stretch"]
    if not names:
        return frame.with_columns(**{f"bin{event}": nw.lit(0)})
    found = added(flag(nw.col(f"sure{event}") > nw.col(name)) for name in names)
    return join(frame, edges, on=["stretch"]).with_columns(**{f"bin{event}": found})


def _equal_width(frame: Frame, bins: int, event: int) -> Frame:
    """Compare with the edges themselves: what engines make of a quotient differs."""
    inner, pieces = equal_width(bins).values[1:-1].tolist(), [nw.lit(k) for k in range(bins)]
    found = choose(NarwhalsEngine(), nw.col(f"sure{event}"), inner, pieces, "left")
    return frame.with_columns(**{f"bin{event}": found})


def _equal_mass_edges(
    table: Scored, frame: Frame, bins: int, n_stretches: int, event: int
) -> Columns:
    """Inner edges of each stretch, from the weight in each of many cells of confidence."""
    cells = min(FINEST, MOST_SUMS // n_stretches)
    sure = nw.col(f"sure{event}")
    frame = frame.select("stretch", "weight", top=sure, cell=(sure * float(cells)).ceil())
    sums = (nw.col("weight").sum(), nw.col("top").max())
    counted = frame.group_by("stretch", "cell").agg(*sums)
    found = table.passes.collect(counted, "looking for bins of equal mass")
    edges = np.full((n_stretches, bins - 1), NEVER)
    for stretch in range(n_stretches):
        inside = found["stretch"] == stretch
        nothing = np.zeros(0, dtype=np.bool_)
        events = Events(found["top"][inside], nothing, found["weight"][inside], "", 0)
        inner = equal_mass(events, bins).values[1:-1]
        edges[stretch, : len(inner)] = inner
    columns = {f"edge{event}_{k}": column for k, column in enumerate(edges.T)}
    return {"stretch": np.arange(n_stretches), **columns}

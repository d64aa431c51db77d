"""Metrics of each method on held-out rows."""

from dataclasses import dataclass
from functools import partial

from tempocal.assessment.row_source import SWAPPED, HeldOutRows
from tempocal.metrics import (
    IntervalEstimate,
    OverTime,
    ReliabilityTable,
    brier,
    ece,
    nll,
    overconfidence,
)
from tempocal.metrics.events import EventKind

# Number of time bins with at least MANY_GROUPS groups, and with fewer.
MANY_TIME_BINS, FEW_TIME_BINS, MANY_GROUPS = 20, 10, 1000
RELIABILITY_BINS = 10


@dataclass(frozen=True, eq=False)
class MethodScores:
    """Metrics of one method on held-out rows."""

    nll: IntervalEstimate
    brier: IntervalEstimate
    ece: IntervalEstimate
    ece_over_time: OverTime
    overconfidence: OverTime
    gain: IntervalEstimate  # NLL of the raw predictions minus NLL of this method
    reliability: ReliabilityTable  # of all rows
    reliability_over_time: tuple[ReliabilityTable, ...]  # of each time bin


def score_method(rows: HeldOutRows, name: str) -> MethodScores:
    """Compute all metrics of one method."""
    return MethodScores(
        nll=rows.overall(nll, name),
        brier=rows.overall(brier, name),
        ece=rows.overall(ece, name),
        ece_over_time=rows.over_time(ece, name),
        overconfidence=rows.over_time(overconfidence, name),
        gain=rows.gain(nll, "raw", name),
        reliability=rows.reliability(name),
        reliability_over_time=rows.reliability_over_time(name),
    )


def is_reversed(rows: HeldOutRows) -> bool:
    """Whether swapping the two classes would lower the NLL significantly."""
    return rows.gain(partial(nll, clip=1e-12), "raw", SWAPPED).lower > 0.0


def n_time_bins(units: int) -> int:
    """Return the number of time bins for a number of independent groups or rows."""
    return MANY_TIME_BINS if units >= MANY_GROUPS else FEW_TIME_BINS


def diagram_event(n_classes: int) -> EventKind:
    """Event that reliability diagrams show: the second of two classes, else the top label."""
    return "positive_class" if n_classes == 2 else "top_label"

"""How good each method is on rows that it was not fitted to."""

from dataclasses import dataclass
from functools import partial

from tempocal.assessment.row_source import EXCHANGED, Judged
from tempocal.metrics import (
    IntervalEstimate,
    OverTime,
    ReliabilityTable,
    brier,
    ece,
    nll,
    overconfidence,
)
from tempocal.metrics.events import Of

# Stretches of time, fewer where few groups would leave little of each; and bins in a diagram.
MANY_STRETCHES, FEW_STRETCHES, MANY_GROUPS = 20, 10, 1000
RELIABILITY_BINS = 10


@dataclass(frozen=True, eq=False)
class Scores:
    """What one method does on held-out rows."""

    nll: IntervalEstimate
    brier: IntervalEstimate
    ece: IntervalEstimate
    ece_over_time: OverTime
    overconfidence: OverTime
    gain: IntervalEstimate  # in NLL over raw predictions
    reliability: ReliabilityTable  # of all rows
    reliability_over_time: tuple[ReliabilityTable, ...]  # of each stretch


def score(rows: Judged, name: str) -> Scores:
    """Judge the probabilities of one method."""
    return Scores(
        nll=rows.whole(nll, name),
        brier=rows.whole(brier, name),
        ece=rows.whole(ece, name),
        ece_over_time=rows.along(ece, name),
        overconfidence=rows.along(overconfidence, name),
        gain=rows.gain(nll, "raw", name),
        reliability=rows.reliability(name),
        reliability_over_time=rows.reliability_over_time(name),
    )


def is_reversed(rows: Judged) -> bool:
    """Whether the other of two classes would surely be the better one to read them as."""
    return rows.gain(partial(nll, clip=1e-12), "raw", EXCHANGED).lower > 0.0


def n_stretches(units: int) -> int:
    """How many stretches time is cut into, for so many independent groups or rows."""
    return MANY_STRETCHES if units >= MANY_GROUPS else FEW_STRETCHES


def diagram_of(n_classes: int) -> Of:
    """Say what diagrams are of: the second of two classes, else the most probable one."""
    return "positive_class" if n_classes == 2 else "top_label"

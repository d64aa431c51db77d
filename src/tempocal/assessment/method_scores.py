"""Metrics of each method on held-out rows."""

from dataclasses import dataclass
from functools import partial

from tempocal.assessment.row_source import SWAPPED, HeldOutRows
from tempocal.metrics import (
    GainOverTime,
    IntervalEstimate,
    OverTime,
    ReliabilityTable,
    brier,
    ece,
    nll,
    overconfidence,
)


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
    gain_over_time: GainOverTime  # that gain in each time bin


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
        gain_over_time=rows.gain_over_time(nll, "raw", name),
    )


def is_reversed(rows: HeldOutRows) -> bool:
    """Whether swapping the two classes would lower the NLL significantly."""
    return rows.gain(partial(nll, clip=1e-12), "raw", SWAPPED).lower > 0.0

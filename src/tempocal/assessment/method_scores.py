"""Metrics of each method on held-out rows."""

from dataclasses import dataclass
from functools import partial

from tempocal.assessment.chance import chance_limit
from tempocal.assessment.class_scores import ClassScores, score_classes
from tempocal.assessment.discrimination import Discrimination
from tempocal.assessment.row_source import SWAPPED, HeldOutRows
from tempocal.links import Array
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
    chance_limit: Array  # (S,) errors over time up to this may be chance
    overconfidence: OverTime
    gain: IntervalEstimate  # NLL of what is judged minus NLL of this method
    reliability: ReliabilityTable  # of all rows
    reliability_over_time: tuple[ReliabilityTable, ...]  # of each time bin
    auc: Discrimination  # of the second of two classes, else of the most probable being the true
    classes: tuple[ClassScores, ...]  # each against the rest, if there are more than two
    gain_over_time: GainOverTime  # that gain in each time bin


def score_method(
    rows: HeldOutRows, name: str, subject: str, shares: tuple[float, ...]
) -> MethodScores:
    """Compute all metrics of one method; its gain is over another. Shares are those of classes."""
    ece_over_time = rows.over_time(ece, name)
    return MethodScores(
        nll=rows.overall(nll, name),
        brier=rows.overall(brier, name),
        ece=rows.overall(ece, name),
        ece_over_time=ece_over_time,
        chance_limit=chance_limit(ece_over_time),
        overconfidence=rows.over_time(overconfidence, name),
        gain=rows.gain(nll, subject, name),
        reliability=rows.reliability(name),
        reliability_over_time=rows.reliability_over_time(name),
        auc=rows.auc(name),
        classes=score_classes(rows, name, shares),
        gain_over_time=rows.gain_over_time(nll, subject, name),
    )


def is_reversed(rows: HeldOutRows) -> bool:
    """Whether swapping the two classes would lower the NLL significantly."""
    return rows.gain(partial(nll, clip=1e-12), "raw", SWAPPED).lower > 0.0

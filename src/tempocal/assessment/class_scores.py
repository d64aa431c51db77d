"""Metrics of one class against the rest, where there are several."""

from dataclasses import dataclass
from functools import partial

from tempocal.assessment.chance import chance_limit
from tempocal.assessment.discrimination import Discrimination
from tempocal.assessment.row_source import HeldOutRows
from tempocal.links import Array
from tempocal.metrics import OverTime, ReliabilityTable, ece

# With more classes than this, the most frequent ones are shown.
MAX_CLASSES = 10


@dataclass(frozen=True, eq=False)
class ClassScores:
    """Metrics of one method for one class against the rest."""

    column: int  # of the class
    ece_over_time: OverTime
    chance_limit: Array  # (S,) errors over time up to this may be chance
    reliability_over_time: tuple[ReliabilityTable, ...]
    auc: Discrimination


def score_classes(
    rows: HeldOutRows, name: str, shares: tuple[float, ...]
) -> tuple[ClassScores, ...]:
    """Compute the metrics of each class, of the most frequent ones if there are many."""
    if len(shares) == 2:
        return ()
    frequent = sorted(range(len(shares)), key=lambda k: -shares[k])[:MAX_CLASSES]
    return tuple(_score_class(rows, name, column) for column in sorted(frequent))


def _score_class(rows: HeldOutRows, name: str, column: int) -> ClassScores:
    one = rows.against_rest(name, column)
    errors = rows.errors_over_time(one, partial(ece, of="positive_class"))
    return ClassScores(
        column,
        errors,
        chance_limit(errors),
        rows.reliability_of(one),
        rows.discriminate(one),
    )

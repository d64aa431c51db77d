"""How good each method is on rows that it was not fitted to."""

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tempocal.assessment.predictions import PastPredictions
from tempocal.links import Array
from tempocal.metrics import (
    IntervalEstimate,
    OverTime,
    ReliabilityTable,
    brier,
    ece,
    gain,
    nll,
    over_time,
    overconfidence,
    reliability_curve,
    with_interval,
)

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


def score(
    proba: Array, raw: Array, rows: PastPredictions, classes: NDArray[Any], seed: int
) -> Scores:
    """Judge the probabilities of one method."""
    common: dict[str, Any] = {
        "groups": rows.group,
        "sample_weight": rows.weight,
        "classes": classes,
    }
    in_time = {**common, "bins": n_stretches(rows), "seed": seed}
    errors = over_time(ece, rows.label, proba, rows.time, **in_time)
    return Scores(
        nll=with_interval(nll, rows.label, proba, **common),
        brier=with_interval(brier, rows.label, proba, **common),
        ece=with_interval(ece, rows.label, proba, seed=seed, **common),
        ece_over_time=errors,
        overconfidence=over_time(overconfidence, rows.label, proba, rows.time, **in_time),
        gain=gain(nll, rows.label, raw, proba, **common),
        reliability=_reliability(proba, rows, classes),
        reliability_over_time=tuple(
            _reliability(proba[inside], rows.take(inside), classes)
            for inside in _stretches(errors, rows)
        ),
    )


def is_reversed(raw: Array, rows: PastPredictions, classes: NDArray[Any]) -> bool:
    """Whether the other of two classes would surely be the better one to read them as."""
    if len(classes) != 2:
        return False
    swapped = gain(
        partial(nll, clip=1e-12),
        rows.label,
        raw,
        raw[:, ::-1],
        groups=rows.group,
        sample_weight=rows.weight,
        classes=classes,
    )
    return swapped.lower > 0.0


def n_stretches(rows: PastPredictions) -> int:
    """How many stretches time is cut into."""
    groups = len(rows) if rows.group is None else len(np.unique(rows.group))
    return MANY_STRETCHES if groups >= MANY_GROUPS else FEW_STRETCHES


def _reliability(proba: Array, rows: PastPredictions, classes: NDArray[Any]) -> ReliabilityTable:
    """Of the second class where there are two, else of the most probable one."""
    return reliability_curve(
        rows.label,
        proba,
        bins=RELIABILITY_BINS,
        of="positive_class" if len(classes) == 2 else "top_label",
        groups=rows.group,
        sample_weight=rows.weight,
        classes=classes,
    )


def _stretches(table: OverTime, rows: PastPredictions) -> list[NDArray[Any]]:
    ends = zip(table.time_from, table.time_to, strict=True)
    return [((first <= rows.time) & (rows.time <= last)).nonzero()[0] for first, last in ends]

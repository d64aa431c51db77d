"""What the data of an assessment are."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tempocal.assessment.method_scores import Scores
from tempocal.assessment.split_predictions import PastPredictions
from tempocal.assessment.wording import printable

# A stretch with fewer independent groups than this is called thin.
THIN = 30


@dataclass(frozen=True, eq=False)
class Facts:
    """What the data are."""

    rows: int
    sequences: int | None
    groups: int | None
    classes: tuple[str, ...]
    shares: tuple[float, ...]  # how often each class came
    time_from: Any
    time_to: Any
    distinct_times: int
    fitted_rows: int
    fitted_groups: int | None
    judged_rows: int
    judged_groups: int | None
    thin: tuple[tuple[Any, Any, int], ...] = ()  # stretches with few groups: from, to, groups


def read_facts(
    past: PastPredictions,
    fit_rows: PastPredictions,
    test_rows: PastPredictions,
    classes: NDArray[Any],
) -> Facts:
    """Count rows, groups and times, in all and in both parts."""
    return Facts(
        rows=len(past),
        sequences=_count(past.sequence),
        groups=_count(past.group),
        classes=tuple(printable(one) for one in classes),
        shares=tuple(float(np.mean(past.label == one)) for one in classes),
        time_from=past.time.min(),
        time_to=past.time.max(),
        distinct_times=len(np.unique(past.time)),
        fitted_rows=len(fit_rows),
        fitted_groups=_count(fit_rows.group),
        judged_rows=len(test_rows),
        judged_groups=_count(test_rows.group),
    )


def thin_stretches(raw: Scores) -> tuple[tuple[Any, Any, int], ...]:
    """Return the stretches with few groups: from, to, groups."""
    table = raw.ece_over_time
    few = np.flatnonzero(table.sequences < THIN).tolist()
    return tuple((table.time_from[k], table.time_to[k], int(table.sequences[k])) for k in few)


def _count(ids: NDArray[Any] | None) -> int | None:
    return None if ids is None else len(np.unique(ids))

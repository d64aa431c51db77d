"""Counts that describe the data of an assessment."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tempocal.assessment.method_scores import MethodScores
from tempocal.assessment.split_predictions import PastPredictions
from tempocal.assessment.wording import printable

# Time bins with fewer independent groups than this are listed as thin.
MIN_GROUPS_PER_BIN = 30


@dataclass(frozen=True, eq=False)
class Facts:
    """Counts that describe the data: in total, and of training and held-out rows."""

    rows: int
    sequences: int | None
    groups: int | None
    classes: tuple[str, ...]
    shares: tuple[float, ...]  # frequency of each class
    time_from: Any
    time_to: Any
    distinct_times: int
    fitted_rows: int
    fitted_groups: int | None
    judged_rows: int
    judged_groups: int | None
    thin: tuple[tuple[Any, Any, int], ...] = ()  # time bins with few groups: from, to, groups


def read_facts(
    all_rows: PastPredictions,
    training: PastPredictions,
    held_out: PastPredictions,
    classes: NDArray[Any],
) -> Facts:
    """Count rows, groups and times."""
    return Facts(
        rows=len(all_rows),
        sequences=_count(all_rows.sequence),
        groups=_count(all_rows.group),
        classes=tuple(printable(one) for one in classes),
        shares=_shares(all_rows.label, classes),
        time_from=all_rows.time.min(),
        time_to=all_rows.time.max(),
        distinct_times=len(np.unique(all_rows.time)),
        fitted_rows=len(training),
        fitted_groups=_count(training.group),
        judged_rows=len(held_out),
        judged_groups=_count(held_out.group),
    )


def thin_time_bins(raw: MethodScores) -> tuple[tuple[Any, Any, int], ...]:
    """Return the time bins with few groups: from, to, groups."""
    table = raw.ece_over_time
    few = np.flatnonzero(table.sequences < MIN_GROUPS_PER_BIN).tolist()
    return tuple((table.time_from[k], table.time_to[k], int(table.sequences[k])) for k in few)


def _shares(label: NDArray[Any], classes: NDArray[Any]) -> tuple[float, ...]:
    """Frequency of each class, or the mean of its soft labels."""
    if label.ndim == 2:
        return tuple(label.mean(axis=0).tolist())
    return tuple(float(np.mean(label == one)) for one in classes)


def _count(ids: NDArray[Any] | None) -> int | None:
    return None if ids is None else len(np.unique(ids))

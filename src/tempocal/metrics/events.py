"""Events whose calibration is measured: for each row a predicted probability and an outcome."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from tempocal.inputs import check_choice
from tempocal.links import Array
from tempocal.metrics.predictions import CheckedPredictions, check_two_classes, row_blocks

EventKind = Literal["top_label", "positive_class"]
EVENT_NAMES = {"top_label": "top-label", "positive_class": "positive-class"}


@dataclass(frozen=True, eq=False)
class Events:
    """One event for each row, such as "the most probable class is the true one"."""

    confidence: Array  # (n,) predicted probability of the event
    outcome: NDArray[np.bool_]  # (n,) whether it happened
    weight: Array | None  # (n,)
    name: str = ""
    soft: Array | None = None  # (n,) probability that it happened, of soft labels


def events_of(rows: CheckedPredictions, of: EventKind) -> Events:
    """Return the events for a value of the argument ``of``."""
    check_choice(of, "of", tuple(EVENT_NAMES))
    check_two_classes(of, rows.n_classes, 'of="top_label", or classwise_ece for every class')
    return top_label(rows) if of == "top_label" else one_class(rows, 1, EVENT_NAMES[of])


def top_label(rows: CheckedPredictions) -> Events:
    """Event: the most probable class (the first of them in a tie) is the true one."""
    confidence = np.empty(len(rows.codes))
    outcome = np.empty(len(rows.codes), dtype=np.bool_)
    soft = None if rows.soft is None else np.empty(len(rows.codes))
    for part in row_blocks(len(rows.codes), rows.n_classes):
        proba = rows.proba[part]
        top = proba.argmax(axis=1)
        confidence[part] = proba[np.arange(len(top)), top]
        outcome[part] = top == rows.codes[part]
        if rows.soft is not None and soft is not None:
            soft[part] = rows.soft.proba[part][np.arange(len(top)), top]
    return Events(confidence, outcome, rows.weight, EVENT_NAMES["top_label"], soft)


def one_class(rows: CheckedPredictions, column: int, name: str) -> Events:
    """Event: the class of this column is the true one."""
    soft = None if rows.soft is None else rows.soft.proba[:, column]
    return Events(rows.proba[:, column], rows.codes == column, rows.weight, name, soft)

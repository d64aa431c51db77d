"""Time spans with a calibration error: runs of adjacent time bins with the same kind of error."""

from dataclasses import dataclass
from itertools import groupby
from typing import Any, Literal

import numpy as np

from tempocal.assessment.chance import may_be_chance
from tempocal.metrics import OverTime

# Share of the error that must have one sign for the error to be named after it.
ONE_SIGN = 0.6
Direction = Literal["too sure", "too timid", "off in both directions"]


@dataclass(frozen=True, eq=False)
class ErrorSpan:
    """A run of adjacent time bins in which predictions are off in the same direction."""

    first: Any
    last: Any
    direction: Direction
    error: float  # calibration error, mean over rows
    overconfidence: float  # mean over rows


def find_error_spans(errors: OverTime, overconfidence: OverTime) -> tuple[ErrorSpan, ...]:
    """Find the runs of time bins whose error is significant; see `direction`."""
    kinds = [direction(errors, overconfidence, k) for k in range(len(errors))]
    spans = []
    for kind, bins in groupby(range(len(errors)), key=kinds.__getitem__):
        if kind is not None:
            spans.append(_make_span(errors, overconfidence, list(bins), kind))
    return tuple(spans)


def direction(errors: OverTime, overconfidence: OverTime, time_bin: int) -> Direction | None:
    """Sign of the error in a time bin; None if the error may be due to chance.

    See `chance_limit` for the rule.
    """
    if may_be_chance(errors)[time_bin]:
        return None
    signed = overconfidence.value[time_bin]
    if abs(signed) < ONE_SIGN * errors.value[time_bin]:
        return "off in both directions"
    return "too sure" if signed > 0.0 else "too timid"


def _make_span(errors: OverTime, over: OverTime, bins: list[int], kind: Direction) -> ErrorSpan:
    share = errors.rows[bins] / errors.rows[bins].sum()
    return ErrorSpan(
        errors.time_from[bins[0]],
        errors.time_to[bins[-1]],
        kind,
        float(np.dot(share, errors.value[bins])),
        float(np.dot(share, over.value[bins])),
    )

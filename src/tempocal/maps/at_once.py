"""Probabilities in one pass over logits as they came, by maps that only scale and shift them."""

from typing import Any

from tempocal.inputs import read_logits
from tempocal.kernels import native
from tempocal.kernels.proba import sigmoid_at_once, softmax_at_once
from tempocal.links import Array
from tempocal.maps.binary import Line
from tempocal.maps.multiclass import FittedMap, OneVsRest, Scale


def proba_at_once(fitted: FittedMap, scores: Any, columns: int) -> Array | None:
    """Probabilities of logits that nobody has checked yet, and that should have some columns.

    None where the map is another, where there are other columns, and where a logit is not a number
    within 2**53: then `check_scores` has an error or another reading for it.
    """
    line = _line(fitted)
    if native is None or line is None or (columns > 1 and not isinstance(fitted, Scale)):
        return None
    logits = read_logits(scores)
    if columns != (1 if logits.ndim == 1 else logits.shape[1]):
        return None
    if columns == 1:
        return sigmoid_at_once(logits, line.slope, line.bias)
    return softmax_at_once(logits, line.slope)


def _line(fitted: FittedMap) -> Line | None:
    """Return the line that the log-odds of one column go through."""
    if isinstance(fitted, Scale):
        return Line(fitted.inverse_temperature, 0.0)
    if isinstance(fitted, OneVsRest) and len(fitted.maps) == 1:
        only = fitted.maps[0]
        return only if isinstance(only, Line) else None
    return None

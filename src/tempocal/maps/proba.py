"""Probabilities of mapped rows: block by block, or in one pass where a map is a line."""

from typing import Any

import numpy as np

from tempocal.inputs import read_logits
from tempocal.kernels import native
from tempocal.kernels.proba import sigmoid_affine, sigmoid_one_pass, softmax_one_pass
from tempocal.kernels.thread_pool import map_on_cores
from tempocal.links import Array, proba_from_logits
from tempocal.maps.along_time import CoefficientMap, TemporalMap
from tempocal.maps.average import AverageMap
from tempocal.maps.fitted_map import FittedMap
from tempocal.maps.one_vs_rest import Line, OneVsRest
from tempocal.maps.scale import Scale

# Rows that are mapped at once.
BLOCK = 2**15


def proba_at_once(fitted: FittedMap, scores: Any, columns: int) -> Array | None:
    """Probabilities of logits that nobody has checked yet, and that should have some columns.

    None where the map is no line, where there are other columns, and where a logit is not a number
    within 2**53: then `as_logits` has an error or another reading for it.
    """
    line = _line(fitted)
    if native is None or line is None or (columns > 1 and not isinstance(fitted, Scale)):
        return None
    logits = read_logits(scores)
    if columns != (1 if logits.ndim == 1 else logits.shape[1]):
        return None
    if columns == 1:
        return sigmoid_one_pass(logits, line.slope, line.bias)
    return softmax_one_pass(logits, line.slope)


def proba_of_map(fitted: FittedMap | TemporalMap, *columns: Array) -> Array:
    """Probabilities of mapped rows; ``columns`` are what the map is given: logits, maybe times.

    It goes block by block, so that what is in between stays in the cache.
    """
    n = len(columns[0])
    first = _proba(fitted, *(column[:BLOCK] for column in columns))
    if n <= BLOCK:
        return first
    proba = np.empty((n, first.shape[1]))
    proba[:BLOCK] = first

    def work(start: int) -> None:
        rows = slice(start, start + BLOCK)
        _proba(fitted, *(column[rows] for column in columns), out=proba[rows])

    map_on_cores(work, range(BLOCK, n, BLOCK))
    return proba


def _proba(fitted: Any, logits: Array, *time: Array, out: Array | None = None) -> Array:
    if (
        native is not None
        and logits.ndim == 1
        and isinstance(fitted, CoefficientMap)
        and fitted.is_line
    ):
        # Every row has a line of its own.
        line = _line(fitted.at(*time))
        assert line is not None
        return sigmoid_affine(logits, line.slope, line.bias, out)
    return proba_from_logits(fitted(logits, *time), out)


def _line(fitted: FittedMap) -> Line | None:
    """Return the line that a map makes of one column, if that is what it makes."""
    if isinstance(fitted, Scale):
        return Line(fitted.inverse_temperature, 0.0)
    if isinstance(fitted, OneVsRest) and len(fitted.maps) == 1:
        only = fitted.maps[0]
        return only if isinstance(only, Line) else None
    return _mean_line(fitted) if isinstance(fitted, AverageMap) else None


def _mean_line(average: AverageMap) -> Line | None:
    """Return the line that an average of lines makes."""
    lines = [line for line in map(_line, average.maps) if line is not None]
    if len(lines) < len(average.maps):
        return None
    pairs = list(zip(average.weights, lines, strict=True))
    slope = sum(weight * line.slope for weight, line in pairs)
    return Line(slope, sum(weight * line.bias for weight, line in pairs))

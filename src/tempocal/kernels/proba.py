"""Probabilities from logits by the compiled loops, on all cores."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tempocal.kernels import native
from tempocal.kernels.thread_pool import map_on_cores, run_on_cores, shares

Array = NDArray[np.float64]
# Doubles or floats, as they came.
Logits = NDArray[np.floating[Any]]

ONE, ZERO = np.ones(1), np.zeros(1)
# Numbers that are copied at once, where they do not lie next to each other.
BLOCK = 2**15


def sigmoid(odds: Array, out: Array | None = None) -> Array:
    """Probabilities of two classes (n, 2), from log-odds of the second (n,)."""
    odds = np.ascontiguousarray(odds, dtype=np.float64)
    proba = np.empty((len(odds), 2)) if out is None else out
    run_on_cores(
        lambda part: native.sigmoid(odds[part], ONE, ZERO, proba[part]), list(shares(len(odds), 2))
    )
    return proba


def sigmoid_of_lines(odds: Array, scale: Any, bias: Any, out: Array | None = None) -> Array:
    """Probabilities (n, 2) of ``scale * odds + bias``, where these are one number or one a row."""
    given = (np.ascontiguousarray(each, dtype=np.float64) for each in (odds, scale, bias))
    proba = np.empty((len(odds), 2)) if out is None else out
    native.sigmoid(*given, proba)
    return proba


def softmax(logits: Array, out: Array | None = None) -> Array:
    """Probabilities of all classes (n, K), from logits of that shape."""
    logits = np.ascontiguousarray(logits, dtype=np.float64)
    proba = np.empty(logits.shape) if out is None else out
    run_on_cores(
        lambda part: native.softmax(logits[part], ONE, proba[part]), list(shares(*logits.shape))
    )
    return proba


def sigmoid_at_once(logits: Logits, scale: float, bias: float) -> Array | None:
    """Probabilities (n, 2) of ``scale * logits + bias``, in one pass over logits as they came.

    None if one of them is not a number within 2**53.
    """
    line = np.array([scale]), np.array([bias])
    return _at_once(logits, 2, lambda rows, out: native.sigmoid(rows, *line, out))


def softmax_at_once(logits: Logits, scale: float) -> Array | None:
    """Probabilities (n, K) of ``scale * logits``, as `sigmoid_at_once` has them."""
    factor = np.array([scale])
    return _at_once(logits, logits.shape[1], lambda rows, out: native.softmax(rows, factor, out))


def _at_once(logits: Logits, width: int, work: Callable[[Logits, Array], bool]) -> Array | None:
    proba = np.empty((len(logits), width))
    if logits.flags.c_contiguous:
        parts = list(shares(len(logits), width))
    else:
        size = max(1, BLOCK // width)
        parts = [slice(start, start + size) for start in range(0, len(logits), size)]

    def work_on(part: slice) -> bool:
        rows: Logits = np.ascontiguousarray(logits[part])
        return work(rows, proba[part])

    return proba if all(map_on_cores(work_on, parts)) else None

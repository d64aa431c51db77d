"""Probabilities from logits by the compiled loops, on all cores."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tempocal.kernels import native
from tempocal.kernels.thread_pool import map_on_cores, run_on_cores, shares

Array = NDArray[np.float64]
# float64 or float32, not converted.
Logits = NDArray[np.floating[Any]]

ONE, ZERO = np.ones(1), np.zeros(1)
# Numbers that are copied at a time, if they are not contiguous.
BLOCK = 2**15


def sigmoid(odds: Array, out: Array | None = None) -> Array:
    """Probabilities of two classes (n, 2), from log-odds of the second (n,)."""
    odds = np.ascontiguousarray(odds, dtype=np.float64)
    proba = np.empty((len(odds), 2)) if out is None else out
    run_on_cores(
        lambda part: native.sigmoid(odds[part], ONE, ZERO, proba[part]), list(shares(len(odds), 2))
    )
    return proba


def sigmoid_affine(odds: Array, scale: Any, bias: Any, out: Array | None = None) -> Array:
    """Probabilities (n, 2) of ``scale * odds + bias``, with scalars or one value per row."""
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


def sigmoid_one_pass(logits: Logits, scale: float, bias: float) -> Array | None:
    """Probabilities (n, 2) of ``scale * logits + bias``, in one pass over unchecked logits.

    None if one of them is NaN or beyond 2**53.
    """
    coefficients = np.array([scale]), np.array([bias])
    return _one_pass(logits, 2, lambda rows, out: native.sigmoid(rows, *coefficients, out))


def softmax_one_pass(logits: Logits, scale: float) -> Array | None:
    """Probabilities (n, K) of ``scale * logits``, as in `sigmoid_one_pass`."""
    factor = np.array([scale])
    return _one_pass(logits, logits.shape[1], lambda rows, out: native.softmax(rows, factor, out))


def _one_pass(logits: Logits, width: int, work: Callable[[Logits, Array], bool]) -> Array | None:
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

"""Probabilities from logits by the compiled loops, on all cores."""

import numpy as np
from numpy.typing import NDArray

from tempocal.kernels import native
from tempocal.kernels.cores import run_on_cores, shares

Array = NDArray[np.float64]


def sigmoid(odds: Array, out: Array | None = None) -> Array:
    """Probabilities of two classes (n, 2), from log-odds of the second (n,)."""
    odds = np.ascontiguousarray(odds, dtype=np.float64)
    proba = np.empty((len(odds), 2)) if out is None else out
    run_on_cores(lambda part: native.sigmoid(odds[part], proba[part]), list(shares(len(odds), 2)))
    return proba


def softmax(logits: Array, out: Array | None = None) -> Array:
    """Probabilities of all classes (n, K), from logits of that shape."""
    logits = np.ascontiguousarray(logits, dtype=np.float64)
    proba = np.empty(logits.shape) if out is None else out
    run_on_cores(
        lambda part: native.softmax(logits[part], proba[part]), list(shares(*logits.shape))
    )
    return proba

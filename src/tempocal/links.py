"""Conversions between logits and probabilities, accurate for small ones and without overflow."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tempocal.kernels import native
from tempocal.kernels import proba as kernels

Array = NDArray[np.float64]
# float64, or float32 that is not converted.
Floats = NDArray[np.floating[Any]]

# A probability of 0 is read as this, and a probability of 1 as 1 minus this.
SMALLEST_PROBABILITY = 2.0**-53


def log_sigmoid(logits: Array) -> Array:
    """Log of the sigmoid, accurate for large negative and large positive logits."""
    return np.minimum(logits, 0.0) - np.log1p(np.exp(-np.abs(logits)))


def sigmoid(logits: Array) -> Array:
    """Logistic function."""
    small = np.exp(-np.abs(logits))
    return np.where(logits >= 0, 1.0, small) / (1.0 + small)


def logsumexp(logits: Array) -> Array:
    """Log of the sum of exponentials along the last axis, which is kept."""
    top = logits.max(axis=-1, keepdims=True)
    # A row of -inf has no finite top to subtract.
    top = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore"):
        total = np.log(np.exp(logits - top).sum(axis=-1, keepdims=True)) + top
    return np.asarray(total, dtype=np.float64)


def log_softmax(logits: Array) -> Array:
    """Log-probabilities of softmax along the last axis."""
    # The maximum is subtracted first: next to 1e9 the logarithm of the sum would be rounded away.
    shifted = logits - logits.max(axis=-1, keepdims=True)
    total = np.exp(shifted).sum(axis=-1, keepdims=True)
    return np.asarray(shifted - np.log(total), dtype=np.float64)


def log_odds(logits: Array) -> Array:
    """Log-odds of each class against all the others, from softmax logits of shape (n, K).

    The log-odds of class k are ``z_k - logsumexp(z_j, j != k)``, and their sigmoid is the softmax.
    For two classes this is the difference of the two logits and its negative.
    """
    # Sums over sorted logits do not depend on the order of the classes, so that ties stay ties. The
    # copy is needed because NumPy's order of summation depends on the memory layout.
    logits = np.ascontiguousarray(logits)
    ordered = np.sort(logits, axis=1)
    rest = logsumexp(ordered[:, :-1] - ordered[:, -1:])
    shifted = logits - ordered[:, -1:]
    log_p = shifted - np.log1p(np.exp(rest))
    with np.errstate(divide="ignore"):
        odds = log_p - np.log1p(-np.exp(log_p))
    # log(1 - p) cancels where p is near 1: there the log-odds are minus the log of the others' sum.
    return np.where((shifted == 0.0) & (rest < 0.0), -rest, odds)


def log_proba_from_logits(logits: Array) -> Array:
    """Log-probabilities of shape (n, K), from one column (sigmoid) or K columns (softmax)."""
    if logits.ndim == 1:
        return np.stack([log_sigmoid(-logits), log_sigmoid(logits)], axis=1)
    return log_softmax(logits)


def proba_from_logits(logits: Array, out: Array | None = None) -> Array:
    """Probabilities of shape (n, K), from one column (sigmoid) or K columns (softmax)."""
    if native is not None:
        return kernels.sigmoid(logits, out) if logits.ndim == 1 else kernels.softmax(logits, out)
    proba = np.exp(log_proba_from_logits(logits))
    result = proba if out is None else out
    np.divide(proba, proba.sum(axis=1, keepdims=True), out=result)
    return result


def nll_from_logits(logits: Array, labels: NDArray[np.intp]) -> Array:
    """Negative log-probability of the true class of each row, given by its code."""
    if logits.ndim == 1:
        return -log_sigmoid(np.where(labels == 1, logits, -logits))
    # Transposed, so that sums over the few classes run along contiguous memory.
    shifted = np.ascontiguousarray(logits.T, dtype=np.float64)
    shifted = shifted - shifted.max(axis=0)
    true = np.take_along_axis(shifted, labels[None], axis=0)[0]
    return np.asarray(np.log(np.exp(shifted, out=shifted).sum(axis=0)) - true)


def log_features(logits: Array) -> Array:
    """Log-probabilities (n, K), clipped at the log of the smallest probability.

    So a class masked by a logit of -1e9 is as improbable as one of probability 0.
    """
    return np.maximum(log_proba_from_logits(logits), np.log(SMALLEST_PROBABILITY))


def one_column(logits: Array) -> Array:
    """Log-odds of the second class of two, from one column or two."""
    return logits if logits.ndim == 1 else logits[:, 1] - logits[:, 0]

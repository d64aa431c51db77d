"""Between logits and probabilities, without overflow and without losing the small ones."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tempocal.kernels import native
from tempocal.kernels import proba as kernels

Array = NDArray[np.float64]
# Doubles, or floats that are read as they are.
Floats = NDArray[np.floating[Any]]

# A probability of 0 is read as this one, and one of 1 as 1 less this.
SMALLEST_PROBABILITY = 2.0**-53


def log_sigmoid(logits: Array) -> Array:
    """Log of the sigmoid, exact for large negative and large positive logits alike."""
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
    # The top goes first: a logit of 1e9 leaves no digits for the logarithm of the sum.
    shifted = logits - logits.max(axis=-1, keepdims=True)
    total = np.exp(shifted).sum(axis=-1, keepdims=True)
    return np.asarray(shifted - np.log(total), dtype=np.float64)


def log_odds(logits: Array) -> Array:
    """Log-odds of each class against all the others, from softmax logits of shape (n, K).

    The log-odds of class k are ``z_k - logsumexp(z_j, j != k)``: a sigmoid of them gives back
    softmax. For two classes this is the difference of the two logits and its negative.
    """
    # Sums in order of size round alike in whatever order the classes come, so ties stay ties; but
    # NumPy adds up in another order where columns lie together in memory.
    logits = np.ascontiguousarray(logits)
    ordered = np.sort(logits, axis=1)
    rest = logsumexp(ordered[:, :-1] - ordered[:, -1:])
    shifted = logits - ordered[:, -1:]
    log_p = shifted - np.log1p(np.exp(rest))
    with np.errstate(divide="ignore"):
        odds = log_p - np.log1p(-np.exp(log_p))
    # log(1 - p) cancels where p is near 1: a class with more than half has the others' sum.
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
    found = proba if out is None else out
    np.divide(proba, proba.sum(axis=1, keepdims=True), out=found)
    return found


def nll_from_logits(logits: Array, labels: NDArray[np.intp]) -> Array:
    """Negative log-probability of the true class of each row, given by its code."""
    if logits.ndim == 1:
        return -log_sigmoid(np.where(labels == 1, logits, -logits))
    # Turned, for sums over few classes run along whole columns then.
    shifted = np.ascontiguousarray(logits.T, dtype=np.float64)
    shifted = shifted - shifted.max(axis=0)
    true = np.take_along_axis(shifted, labels[None], axis=0)[0]
    return np.asarray(np.log(np.exp(shifted, out=shifted).sum(axis=0)) - true)


def log_features(logits: Array) -> Array:
    """Log-probabilities (n, K), none below that of the smallest probability that is told from 0.

    So a class that is masked by a logit of -1e9 is as improbable as one given probability 0.
    """
    return np.maximum(log_proba_from_logits(logits), np.log(SMALLEST_PROBABILITY))


def one_column(logits: Array) -> Array:
    """Log-odds of the second class of two, whatever the number of columns they came in."""
    return logits if logits.ndim == 1 else logits[:, 1] - logits[:, 0]

"""The predictions that a metric scores: as they were given, certain ones included.

A fit reads a certain prediction as odds of 2**53 to 1 (`logits`). A metric does not: what was said
to be impossible and happened has a surprisal of infinity.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from tempocal.errors import InputError
from tempocal.inputs.logits import (
    Inputs,
    as_logits_and_range,
    check_proba,
    read_logits,
    warn_of_probabilities,
)
from tempocal.links import Array, proba_from_logits

_HINT = 'metrics take probabilities, after the labels: metric(y, proba); or say inputs="logits"'


@dataclass(frozen=True, eq=False)
class Predicted:
    """Probabilities, and their surprisals where they are known better than as ``-log(proba)``."""

    proba: Array  # (n, K)
    surprisal: Array | None = None  # (n, K): -log p, infinite for what is impossible


def check_predicted(given: Any, inputs: Inputs = "proba", name: str = "proba") -> Predicted:
    """Check probabilities or logits, said by ``inputs``; one column is of the second class."""
    if inputs == "proba":
        return Predicted(check_proba(given, name, _HINT))
    if inputs != "logits":
        raise InputError(f'inputs must be "logits" or "proba", but it is {inputs!r}')
    finite, low, high = as_logits_and_range(given, "logits", name)
    warn_of_probabilities(finite, low, high)
    logits = read_logits(given, name).astype(np.float64, copy=False)
    surprisal = surprisal_from_logits(logits)
    proba = proba_from_logits(finite.astype(np.float64, copy=False))
    certain = ~np.isfinite(logits.reshape(len(logits), -1)).all(axis=1)
    if certain.any():
        proba[certain] = np.exp(-surprisal[certain])
    return Predicted(proba, surprisal)


def surprisal_from_logits(logits: Array) -> Array:
    """Return ``-log p`` of each class, exact near 0 and for logits of any size: (n, K)."""
    if logits.ndim == 1:
        return np.stack([np.logaddexp(0.0, logits), np.logaddexp(0.0, -logits)], axis=1)
    certain = np.isposinf(logits)
    if certain.any():
        # Beside a certain class all others are impossible.
        rows = certain.any(axis=1, keepdims=True)
        logits = np.where(rows, np.where(certain, 0.0, -np.inf), logits)
    top = logits.argmax(axis=1)[:, None]
    shifted = logits - np.take_along_axis(logits, top, axis=1)
    others = np.exp(shifted)
    np.put_along_axis(others, top, 0.0, axis=1)
    return np.asarray(np.log1p(others.sum(axis=1, keepdims=True)) - shifted)

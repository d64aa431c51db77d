"""Fitted maps from the logits of a classifier to calibrated logits.

Every map takes logits of shape (n,) or (n, K) and gives calibrated ones: of shape (n,), whose
sigmoid is the probability of the second class, or (n, K), whose softmax is that of each class.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from tempocal.links import (
    Array,
    log_features,
    log_odds,
    log_sigmoid,
    log_softmax,
    one_column,
)
from tempocal.maps.binary import BinaryMap


class FittedMap(Protocol):
    """What a fitted calibrator can do."""

    def __call__(self, logits: Array) -> Array:
        """Return calibrated logits."""


@dataclass(frozen=True)
class Scale:
    """All logits times one number, the inverse temperature."""

    inverse_temperature: float

    def __call__(self, logits: Array) -> Array:
        """Calibrate logits."""
        # Transposed, so that an array with a number for each row multiplies rows.
        return np.asarray((self.inverse_temperature * logits.T).T)


@dataclass(frozen=True)
class Affine:
    """Softmax of ``W x + b``; ``weights`` is (K,) for a diagonal W, else (K, K).

    Where every row has its own W and b, they are (n, K) or (n, K, K), and (n, K).

    ``x`` are the logits, or if ``of_log_proba`` their log-probabilities as in `log_features`.
    """

    weights: Array
    bias: Array
    of_log_proba: bool

    def __call__(self, logits: Array) -> Array:
        """Calibrate logits."""
        x = log_features(logits) if self.of_log_proba else logits
        if self.weights.ndim == self.bias.ndim:
            scaled = x * self.weights
        elif self.bias.ndim == 1:
            scaled = x @ self.weights.T
        else:
            scaled = np.einsum("nkj,nj->nk", self.weights, x)
        return np.asarray(scaled + self.bias, dtype=np.float64)


@dataclass(frozen=True)
class OneVsRest:
    """One binary map a class, normalized; a single one where there are two classes."""

    maps: tuple[BinaryMap, ...]

    def __call__(self, logits: Array) -> Array:
        """Calibrate logits."""
        if len(self.maps) == 1:
            return self.maps[0](one_column(logits))
        odds = log_odds(logits)
        log_p = np.stack(
            [log_sigmoid(fitted(odds[:, k])) for k, fitted in enumerate(self.maps)], axis=1
        )
        # Where every class is given probability 0 there is nothing to normalize: keep the input.
        lost = np.isneginf(log_p).all(axis=1)
        if lost.any():
            log_p[lost] = log_softmax(logits[lost])
        return log_p

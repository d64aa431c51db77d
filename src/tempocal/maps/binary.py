"""Fitted maps from the log-odds of one class to its calibrated log-odds."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from tempocal.links import Array, log_sigmoid


class BinaryMap(Protocol):
    """What a fitted calibrator of one class can do."""

    def __call__(self, odds: Array) -> Array:
        """Return calibrated log-odds; ``odds`` has shape (n,)."""


@dataclass(frozen=True)
class Line:
    """Slope and bias: ``slope * odds + bias``."""

    slope: float
    bias: float

    def __call__(self, odds: Array) -> Array:
        """Calibrate log-odds."""
        return self.slope * odds + self.bias


@dataclass(frozen=True)
class Beta:
    """Beta calibration: ``a * log(p) - b * log(1 - p) + c``."""

    a: float
    b: float
    c: float

    def __call__(self, odds: Array) -> Array:
        """Calibrate log-odds."""
        return self.a * log_sigmoid(odds) - self.b * log_sigmoid(-odds) + self.c


@dataclass(frozen=True)
class Steps:
    """A constant probability in each bin; ``edges`` are the inner ones, each closing a bin.

    A value equal to an edge belongs to the bin on its left.
    """

    edges: Array
    probabilities: Array

    def __call__(self, odds: Array) -> Array:
        """Calibrate log-odds."""
        return _logit(self.probabilities[np.searchsorted(self.edges, odds, side="left")])


@dataclass(frozen=True)
class Knots:
    """A probability that is linear in the log-odds between knots and held beyond the last ones."""

    odds: Array
    probabilities: Array

    def __call__(self, odds: Array) -> Array:
        """Calibrate log-odds."""
        # Interpolation can overshoot its knots by a rounding error.
        inside = np.clip(np.interp(odds, self.odds, self.probabilities), 0.0, 1.0)
        return _logit(inside)


def _logit(probabilities: Array) -> Array:
    with np.errstate(divide="ignore"):
        return np.log(probabilities) - np.log1p(-probabilities)

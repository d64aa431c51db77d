"""The coordinates in which coefficients are penalized, where logits are not of ordinary size.

The penalties of ``shrinkage="auto"`` expect a slope to move by about 1 and a bias by about 1. That
is right for ordinary logits. Where logits are tiny, the slope that mends them is in the hundreds;
where they lie far from zero, bias and slope must move together, and the bias by as much as the
logits are off. There the model is fitted in other coordinates::

    eta = slope' * scale * (feature - center) + bias'

with the same predictions at the identity, so that doing nothing is still what the penalty prefers.
``bias'`` is the value at the center, and is penalized in units of how far off that can be. Ordinary
logits have no such coordinates, and go through none of this.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from tempocal.links import Array

# Logits with a standard deviation below this are small; from half of it on they are scaled to 1.
SMALL = 0.2
# Means this far from zero and from the log-odds of the labels are ordinary, or so many standard
# deviations; a quarter beyond, the penalty is wholly measured at the mean.
NEAR, NEAR_DEVIATIONS = 2.5, 2.0
QUICKLY = 4.0
# A mean that all classes share does not change a softmax: it may be so many times as large.
COMMON = 4.0
# The identity may be off by a mean of this many units of the bias.
UNITS_TO_MEAN = 2.0
# Deviations below this, or this share of the largest value, are rounding errors.
ROUNDING = 1e-12


@dataclass(frozen=True)
class Standardization:
    """Coordinates of the coefficients of one model.

    Attributes
    ----------
    centers : tuple of float
        What is subtracted from each feature of a slope; zeros where there is no bias.
    scale : float
        What features are multiplied by.
    bias_unit : float
        How far a bias may move at strength 1.
    """

    centers: tuple[float, ...]
    scale: float
    bias_unit: float

    def to_raw(self, biases: NDArray[np.bool_]) -> Array:
        """Matrix from all coefficients to those of the map; each bias comes after its slopes."""
        slopes = np.flatnonzero(~biases)
        raw = np.diag(np.where(biases, 1.0, self.scale))
        if biases.any():
            own_bias = np.flatnonzero(biases)[np.cumsum(biases)[slopes]]
            # Every output has all features, or each its own.
            centers = np.resize(self.centers, len(slopes))
            raw[own_bias, slopes] = -self.scale * centers
        return raw


@dataclass
class StandardizationCache:
    """Coordinates that were found so far, for all fits to the same rows or to parts of them.

    ``fixed`` are those of an earlier fit, one for each model, that this one goes on from.
    """

    fixed: tuple[Standardization | None, ...] | None = None
    _found: dict[tuple[str, int], Standardization | None] = field(default_factory=dict)

    def get(
        self, kind: str, model: int, find: Callable[[], Standardization | None]
    ) -> Standardization | None:
        """Return the coordinates of a model; None where its logits are ordinary."""
        if self.fixed is not None:
            return self.fixed[model]
        if (kind, model) not in self._found:
            self._found[kind, model] = find()
        return self._found[kind, model]


def without_bias(
    logits: Array, weights: Array | None, n_features: int = 1
) -> Standardization | None:
    """Coordinates of slopes alone, for logits (outputs, n) whose size is what counts."""
    size = float(np.sqrt(_mean(logits**2, weights).mean()))
    is_small = _share_small(size, logits)
    return Standardization((0.0,) * n_features, size**-is_small, 1.0) if is_small else None


def of_sigmoid(
    odds: Array, features: Array, weights: Array | None, log_odds_of_label: float
) -> Standardization | None:
    """Coordinates of slopes on ``features`` (features, n) of the log-odds (n,), and a bias."""
    center = float(_mean(odds, weights))
    deviation = float(np.sqrt(_mean((odds - center) ** 2, weights)))
    off = min(abs(center), abs(center - log_odds_of_label))
    return _standard(deviation, off, abs(center), _mean(features, weights), odds)


def of_softmax(x: Array, weights: Array | None, log_rates: Array) -> Standardization | None:
    """Coordinates of slopes on features (classes, n) and biases under one softmax."""
    centers = _mean(x, weights)
    common = float(centers.mean())
    own = x - x.mean(axis=0)
    deviations = _mean((own - _mean(own, weights)[:, None]) ** 2, weights)
    away = centers - common
    off = np.minimum(np.abs(away), np.abs(away - (log_rates - log_rates.mean())))
    largest = float(np.abs(away).max())
    far = max(float(off.max()), abs(common) / COMMON)
    return _standard(float(np.sqrt(deviations.mean())), far, largest, centers, x)


def _standard(
    deviation: float, off: float, center: float, centers: Array, values: Array
) -> Standardization | None:
    is_small = _share_small(deviation, values)
    ordinary = max(NEAR, NEAR_DEVIATIONS * deviation)
    is_far = float(np.clip(QUICKLY * (off / ordinary - 1.0), 0.0, 1.0))
    is_centered = max(is_small, is_far)
    if is_centered == 0.0:
        return None
    return Standardization(
        tuple((is_centered * centers).tolist()),
        deviation**-is_small,
        max(1.0, is_centered * center / UNITS_TO_MEAN),
    )


def _share_small(deviation: float, values: Array) -> float:
    """From 0 for ordinary logits to 1 for small ones; those without any spread have no scale."""
    if deviation <= ROUNDING * max(1.0, float(np.abs(values).max())):
        return 0.0
    return float(np.clip(SMALL / deviation - 1.0, 0.0, 1.0))


def _mean(values: Array, weights: Array | None) -> Array:
    return np.asarray(np.average(values, axis=-1, weights=weights), dtype=np.float64)

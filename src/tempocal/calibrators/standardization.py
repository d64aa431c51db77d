"""Standardized features for models whose logits are unusually small or far from zero.

The prior behind ``shrinkage="auto"`` expects slopes and biases to differ from the identity by about
1. That is right for ordinary logits. If logits are tiny, the slope that corrects them is in the
hundreds; if their mean is far from zero, bias and slope are correlated and the bias must move by
as much as the mean is off. Then the model is fitted to centered and scaled features::

    eta = slope' * scale * (feature - center) + bias'

The identity map is still the center of the penalty. ``bias'`` is the value at the center, and its
penalty is scaled by how far off that value can be. Ordinary logits are not standardized.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from tempocal.links import Array

# Scaling starts below this standard deviation and is complete (to deviation 1) at half of it.
SMALL_DEVIATION = 0.2
# A mean is ordinary up to this distance from zero or from the log-odds of the labels, or up to this
# many standard deviations. Beyond that centering sets in, and is complete after a further quarter.
ORDINARY_MEAN, ORDINARY_DEVIATIONS = 2.5, 2.0
CENTERING_RATE = 4.0
# A mean common to all classes does not change a softmax: it may be this many times as large.
COMMON_MEAN_FACTOR = 4.0
# The mean of the logits, in units of the bias.
BIAS_UNITS_PER_MEAN = 2.0
# Deviations below this, absolute or relative to the largest value, are rounding errors.
ROUNDING = 1e-12


@dataclass(frozen=True)
class Standardization:
    """Centers and scale of the features of one model.

    Attributes
    ----------
    centers : tuple of float
        Subtracted from each feature; zeros for a model without a bias.
    scale : float
        Factor of the centered features.
    bias_unit : float
        Prior standard deviation of the bias at strength 1.
    """

    centers: tuple[float, ...]
    scale: float
    bias_unit: float

    def to_raw(self, biases: NDArray[np.bool_]) -> Array:
        """Matrix from standardized to raw coefficients; each bias comes after its slopes."""
        slopes = np.flatnonzero(~biases)
        raw = np.diag(np.where(biases, 1.0, self.scale))
        if biases.any():
            own_bias = np.flatnonzero(biases)[np.cumsum(biases)[slopes]]
            # Either every output has all features (full), or each has its own (diagonal).
            centers = np.resize(self.centers, len(slopes))
            raw[own_bias, slopes] = -self.scale * centers
        return raw


@dataclass
class StandardizationCache:
    """Standardizations computed so far, shared by all fits to the same rows or subsets of them.

    ``fixed`` are those of an earlier fit that is updated, one per model.
    """

    fixed: tuple[Standardization | None, ...] | None = None
    _computed: dict[tuple[str, int], Standardization | None] = field(default_factory=dict)

    def get(
        self, kind: str, model: int, compute: Callable[[], Standardization | None]
    ) -> Standardization | None:
        """Return the standardization of a model; None if its logits are ordinary."""
        if self.fixed is not None:
            return self.fixed[model]
        if (kind, model) not in self._computed:
            self._computed[kind, model] = compute()
        return self._computed[kind, model]


def standardize_without_bias(
    logits: Array, weights: Array | None, n_features: int = 1
) -> Standardization | None:
    """Return the scaling of a model without bias, from the root mean square of logits (k, n)."""
    size = float(np.sqrt(_mean(logits**2, weights).mean()))
    exponent = _scaling_exponent(size, logits)
    return Standardization((0.0,) * n_features, size**-exponent, 1.0) if exponent else None


def standardize_sigmoid(
    odds: Array, features: Array, weights: Array | None, log_odds_of_labels: float
) -> Standardization | None:
    """Return the standardization of ``features`` (k, n) of the log-odds (n,), with a bias."""
    center = float(_mean(odds, weights))
    deviation = float(np.sqrt(_mean((odds - center) ** 2, weights)))
    distance = min(abs(center), abs(center - log_odds_of_labels))
    return _center_and_scale(deviation, distance, abs(center), _mean(features, weights), odds)


def standardize_softmax(
    x: Array, weights: Array | None, log_rates: Array
) -> Standardization | None:
    """Return the standardization of softmax features (classes, n), with biases."""
    centers = _mean(x, weights)
    common = float(centers.mean())
    centered_rows = x - x.mean(axis=0)
    deviations = _mean((centered_rows - _mean(centered_rows, weights)[:, None]) ** 2, weights)
    class_means = centers - common
    expected_means = log_rates - log_rates.mean()
    distances = np.minimum(np.abs(class_means), np.abs(class_means - expected_means))
    largest = float(np.abs(class_means).max())
    distance = max(float(distances.max()), abs(common) / COMMON_MEAN_FACTOR)
    return _center_and_scale(float(np.sqrt(deviations.mean())), distance, largest, centers, x)


def _center_and_scale(
    deviation: float, distance: float, center: float, centers: Array, values: Array
) -> Standardization | None:
    exponent = _scaling_exponent(deviation, values)
    ordinary_mean = max(ORDINARY_MEAN, ORDINARY_DEVIATIONS * deviation)
    centering = CENTERING_RATE * (distance / ordinary_mean - 1.0)
    centering = max(exponent, float(np.clip(centering, 0.0, 1.0)))
    if centering == 0.0:
        return None
    return Standardization(
        tuple((centering * centers).tolist()),
        deviation**-exponent,
        max(1.0, centering * center / BIAS_UNITS_PER_MEAN),
    )


def _scaling_exponent(deviation: float, values: Array) -> float:
    """Exponent of the scaling: 0 for ordinary or constant logits, 1 for small ones."""
    if deviation <= ROUNDING * max(1.0, float(np.abs(values).max())):
        return 0.0
    return float(np.clip(SMALL_DEVIATION / deviation - 1.0, 0.0, 1.0))


def _mean(values: Array, weights: Array | None) -> Array:
    return np.asarray(np.average(values, axis=-1, weights=weights), dtype=np.float64)

"""Models that are linear in their coefficients, in coordinates in which logits are ordinary.

The prior behind ``shrinkage="auto"`` expects slopes and biases to differ from the identity by about
1. That is right for ordinary logits. If logits are tiny, the slope that corrects them is in the
hundreds; if their mean is far from zero, bias and slope are correlated and the bias must move by
as much as the mean is off. Then the model is fitted to centered and scaled features::

    eta = slope' * scale * (feature - center) + bias'

The identity map is still the center of the penalty. ``bias'`` is the value at the center, and its
penalty is scaled by how far off that value can be. Ordinary logits are not standardized.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tempocal.calibrators.fit_data import FitData
from tempocal.inputs import Codes
from tempocal.links import Array, log_features
from tempocal.rows import LabeledLogits, LinearPredictor, Rows, ScaledSoftmax, Sigmoid, Softmax
from tempocal.solve import MAX_NEWTON_COEFFICIENTS, Penalty, Problem

# Of a model that L-BFGS is not for.
NO_MOMENT = np.ones((1, 1))
# Rows of the sample on which to check first whether logits are ordinary.
SAMPLE_SIZE = 2**14
# Added to the weight of every class, since some may have no rows.
PSEUDO_WEIGHT = 0.5
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


@dataclass(frozen=True)
class LinearModel:
    """Features of the logits, and what their coefficients may be.

    Attributes
    ----------
    rows : callable
        Makes the rows, from the key of each and the number of keys.
    identity : ndarray of shape (coefficients,)
        The coefficients that change nothing.
    slopes, biases : ndarray of shape (coefficients,)
        Which coefficients are slopes and which biases, as ones and zeros; the others are
        not penalized.
    lower : ndarray of shape (coefficients,)
        Lower bounds.
    baseline_penalty : ndarray of shape (coefficients,)
        Diagonal of a penalty that does not depend on the strengths.
    readout : ndarray of shape (numbers of the map, coefficients)
        From coefficients to the numbers of the map.
    moment, max_newton
        As for `Problem`.
    standardization : Standardization or None
        Centers and scale of the features, if the logits are not of ordinary size.
    units : tuple of float
        Strengths of slopes and biases in the units of the map, at strength 1.
    pooled : ndarray of shape (coefficients,) or None
        Slopes that have a common value, as ones: their mean has a strength of its own, beside that
        of their deviations from it (partial pooling of the classes).
    """

    rows: Callable[[Codes | None, int], Rows]
    identity: Array
    slopes: Array
    biases: Array
    lower: Array
    baseline_penalty: Array
    readout: Array | None = None
    moment: Array = field(default_factory=lambda: NO_MOMENT)
    max_newton: int = MAX_NEWTON_COEFFICIENTS
    standardization: Standardization | None = None
    units: tuple[float, float] = (1.0, 1.0)
    pooled: Array | None = None

    def standardized(self, standardization: Standardization) -> "LinearModel":
        """Take coefficients in other coordinates, in which ``rows`` are already."""
        raw = standardization.to_raw(self.biases != 0.0)
        one = raw[: len(self.moment), : len(self.moment)]
        return replace(
            self,
            identity=np.asarray(np.linalg.solve(raw, self.identity), dtype=np.float64),
            biases=self.biases / standardization.bias_unit**2,
            lower=np.where(self.biases == 0.0, self.lower / standardization.scale, self.lower),
            readout=np.asarray(raw if self.readout is None else self.readout @ raw),
            moment=one.T @ self.moment @ one,
            standardization=standardization,
            units=(standardization.scale**-2, standardization.bias_unit**-2),
        )

    def problem(self, keys: Codes | None = None, n_keys: int = 1) -> Problem:
        """Make the problem whose coefficients are the same for all rows, whatever their key."""
        return Problem(
            rows=self.rows(keys, n_keys),
            basis=np.zeros(n_keys, dtype=np.intp),
            identity=self.identity,
            penalties=self.penalties(),
            lower=self.lower,
            baseline_penalty=self.baseline_penalty,
            moment=self.moment,
            max_newton=self.max_newton,
        )

    def penalties(
        self, expand: Callable[[Array], Array] = lambda matrix: matrix
    ) -> tuple[Penalty, ...]:
        """Penalties of level, towards the identity.

        ``expand`` takes a matrix over the coefficients, or its diagonal, to one over those of a
        curve. The penalty of pooled slopes is split in two: at equal strengths they add up to it.
        """
        of_slopes, of_biases = self.units
        slopes = Penalty("slopes", expand(self.slopes), unit=of_slopes)
        biases = Penalty("biases", expand(self.biases), unit=of_biases)
        if self.pooled is None:
            return slopes, biases
        mean = np.outer(self.pooled, self.pooled) / self.pooled.sum()
        deviations = expand(np.diag(self.pooled) - mean)
        return (
            slopes,
            biases,
            Penalty("deviations_of_slopes", deviations, unit=of_slopes),
            Penalty("common_slope", expand(mean), unit=of_slopes),
        )

    def numbers(self, theta: Array) -> Array:
        """From coefficients, along the last axis, to the numbers of the map."""
        return theta if self.readout is None else np.asarray(theta @ self.readout.T)


def linear_model(
    data: FitData,
    predictor: LinearPredictor,
    *,
    identity: Any,
    biases: Any,
    auto: bool,
    index: int = 0,
    free: Any = False,
    pooled: Any = None,
    lower: Any = -np.inf,
    baseline_penalty: Any = 0.0,
    **rest: Any,
) -> LinearModel:
    """Make a model of a predictor, on standardized features if its strengths are "auto".

    Settings are numbers for all coefficients or one for each. What is neither a bias nor ``free``
    is a slope; ``pooled`` ones have a common value. ``index`` is the position of the model among
    those of its calibrator.
    """
    start = np.asarray(identity, dtype=np.float64)
    are_biases = np.full(start.shape, biases, dtype=bool)
    are_pooled = np.full(start.shape, pooled is not None and pooled, dtype=bool)
    found = _standardization(data, predictor, are_biases, index) if auto else None
    if found is not None:
        predictor = _on_standardized(predictor, are_biases, found)
    model = LinearModel(
        rows=partial(data.rows, predictor),
        identity=start,
        slopes=np.array(~(are_biases | free | are_pooled), dtype=np.float64),
        biases=are_biases.astype(np.float64),
        lower=np.full(start.shape, lower, dtype=np.float64),
        baseline_penalty=np.full(start.shape, baseline_penalty, dtype=np.float64),
        pooled=None if pooled is None else are_pooled.astype(np.float64),
        **rest,
    )
    return model if found is None else model.standardized(found)


def _standardization(
    data: FitData, predictor: LinearPredictor, biases: NDArray[np.bool_], index: int
) -> Standardization | None:
    """Return the standardization of a model; None if its logits are ordinary."""
    if data.earlier is not None:
        return data.earlier.standardization_by_model[index]
    features = "scale"
    if isinstance(predictor, Sigmoid):
        features = f"{predictor.features} of {predictor.functions.written}"
    elif isinstance(predictor, Softmax):
        features = f"softmax {predictor.of_log_proba}"
    known, step = data.standardizations, len(data.labels) // SAMPLE_SIZE
    if (features, index) not in known:
        # By all rows, but only if a sample of them is not ordinary.
        is_ordinary = step > 1 and _standardize(data, predictor, biases, step) is None
        known[features, index] = None if is_ordinary else _standardize(data, predictor, biases)
    return known[features, index]


def _on_standardized(
    predictor: LinearPredictor, biases: NDArray[np.bool_], found: Standardization
) -> LinearPredictor:
    """Return the same predictor on standardized features."""
    if isinstance(predictor, ScaledSoftmax):
        return ScaledSoftmax(found.scale)
    if isinstance(predictor, Softmax):
        return replace(predictor, centers=found.centers, scale=found.scale)
    features = np.array(predictor.features)
    features[-1, ~biases] -= found.centers
    features[:, ~biases] *= found.scale
    return replace(predictor, features=tuple(map(tuple, features.tolist())))


def _standardize(
    data: FitData, predictor: LinearPredictor, biases: NDArray[np.bool_], step: int = 1
) -> Standardization | None:
    """Standardize the features of every ``step``-th row."""
    some, rows = slice(None, None, step), data.labeled_logits
    if step > 1:
        rows = LabeledLogits(data.raw_logits[some], data.labels[some], data.n_classes)
    weights = None if data.weights is None else data.weights[some]
    if isinstance(predictor, ScaledSoftmax):
        return _of_slopes((rows.logits - rows.logits.mean(axis=1, keepdims=True)).T, weights)
    if isinstance(predictor, Sigmoid) and not biases.any():
        return _of_slopes(rows.odds[predictor.of_class][None], weights, len(biases))
    # The share of each class, smoothed.
    rates = data.class_weights + PSEUDO_WEIGHT
    rates = rates / rates.sum()
    if isinstance(predictor, Softmax):
        x = log_features(rows.logits) if predictor.of_log_proba else rows.logits
        return _of_softmax(np.ascontiguousarray(x.T), weights, np.log(rates))
    rate = float(rates[predictor.of_class])
    features = predictor.design(rows)[~biases].astype(np.float64, copy=False)
    log_odds = float(np.log(rate) - np.log1p(-rate))
    return _of_sigmoid(rows.odds[predictor.of_class], features, weights, log_odds)


def _of_slopes(logits: Array, weights: Array | None, n_features: int = 1) -> Standardization | None:
    """Return the scaling of a model without bias, from the root mean square of logits (k, n)."""
    size = float(np.sqrt(_mean(logits**2, weights).mean()))
    exponent = _scaling_exponent(size, logits)
    return Standardization((0.0,) * n_features, size**-exponent, 1.0) if exponent else None


def _of_sigmoid(
    odds: Array, features: Array, weights: Array | None, log_odds_of_labels: float
) -> Standardization | None:
    """Return the standardization of ``features`` (k, n) of the log-odds (n,), with a bias."""
    center = float(_mean(odds, weights))
    deviation = float(np.sqrt(_mean((odds - center) ** 2, weights)))
    distance = min(abs(center), abs(center - log_odds_of_labels))
    return _center_and_scale(deviation, distance, abs(center), _mean(features, weights), odds)


def _of_softmax(x: Array, weights: Array | None, log_rates: Array) -> Standardization | None:
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

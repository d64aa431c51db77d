"""Find the coordinates of a model from the rows it is to be fitted to."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from tempocal.calibrators.fit_data import FitData
from tempocal.calibrators.standardization import (
    Standardization,
    of_sigmoid,
    of_softmax,
    without_bias,
)
from tempocal.links import Array, log_features
from tempocal.rows import LabelledLogits, ScaledSoftmax, Sigmoid, Softmax

# Whether logits are ordinary is seen on about this many of them.
SAMPLE = 2**14
# Added to the weight of every class, of which some may have no row.
PSEUDO_WEIGHT = 0.5


def standardized_sigmoid(
    data: FitData, predictor: Sigmoid, biases: NDArray[np.bool_], model: int
) -> tuple[Sigmoid, Standardization | None]:
    """Return the predictor on standardized features, and their coordinates."""

    def look(scores: LabelledLogits, weights: Array | None) -> Standardization | None:
        odds = scores.odds[predictor.of_class]
        if not biases.any():
            return without_bias(odds[None], weights, len(biases))
        features = predictor.design(scores)[~biases].astype(np.float64, copy=False)
        return of_sigmoid(odds, features, weights, _log_odds(data, predictor.of_class))

    found = data.standardizations.get(f"{predictor.features}", model, lambda: _seen(data, look))
    if found is None:
        return predictor, None
    features = np.array(predictor.features)
    features[-1, ~biases] -= found.centers
    features[:, ~biases] *= found.scale
    return replace(predictor, features=tuple(map(tuple, features.tolist()))), found


def standardized_scaled_softmax(data: FitData) -> tuple[ScaledSoftmax, Standardization | None]:
    """Return the predictor on scaled logits, and their coordinates."""

    def look(scores: LabelledLogits, weights: Array | None) -> Standardization | None:
        own = scores.logits - scores.logits.mean(axis=1, keepdims=True)
        return without_bias(own.T, weights)

    found = data.standardizations.get("scale", 0, lambda: _seen(data, look))
    return ScaledSoftmax(1.0 if found is None else found.scale), found


def standardized_softmax(
    data: FitData, predictor: Softmax
) -> tuple[Softmax, Standardization | None]:
    """Return the predictor on standardized features, and their coordinates."""

    def look(scores: LabelledLogits, weights: Array | None) -> Standardization | None:
        x = log_features(scores.logits) if predictor.of_log_proba else scores.logits
        return of_softmax(np.ascontiguousarray(x.T), weights, np.log(_rates(data)))

    kind = f"softmax {predictor.of_log_proba}"
    found = data.standardizations.get(kind, 0, lambda: _seen(data, look))
    if found is None:
        return predictor, None
    return replace(predictor, centers=found.centers, scale=found.scale), found


def _seen(
    data: FitData, look: Callable[[LabelledLogits, Array | None], Standardization | None]
) -> Standardization | None:
    """Look at all rows if a sample of them is not ordinary."""
    step = data.n_rows_in_memory // SAMPLE
    if step > 1:
        some = slice(None, None, step)
        scores = LabelledLogits(data.raw_logits[some], data.labels[some], data.n_classes)
        if look(scores, None if data.weights is None else data.weights[some]) is None:
            return None
    return look(data.scores, data.weights)


def _rates(data: FitData) -> Array:
    """Share of the weight that each class has."""
    weights = data.class_weights + PSEUDO_WEIGHT
    return np.asarray(weights / weights.sum())


def _log_odds(data: FitData, of_class: int) -> float:
    share = float(_rates(data)[of_class])
    return float(np.log(share) - np.log1p(-share))

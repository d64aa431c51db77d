"""Linear predictors on standardized features, see `tempocal.calibrators.standardization`."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from tempocal.calibrators.fit_data import FitData
from tempocal.calibrators.standardization import (
    Standardization,
    standardize_sigmoid,
    standardize_softmax,
    standardize_without_bias,
)
from tempocal.links import Array, log_features
from tempocal.rows import LabeledLogits, ScaledSoftmax, Sigmoid, Softmax

# Rows of the sample on which to check first whether logits are ordinary.
SAMPLE_SIZE = 2**14
# Added to the weight of every class, since some may have no rows.
PSEUDO_WEIGHT = 0.5


def standardized_sigmoid(
    data: FitData, predictor: Sigmoid, biases: NDArray[np.bool_], model: int
) -> tuple[Sigmoid, Standardization | None]:
    """Return the predictor on standardized features, and the standardization."""

    def standardize(rows: LabeledLogits, weights: Array | None) -> Standardization | None:
        odds = rows.odds[predictor.of_class]
        if not biases.any():
            return standardize_without_bias(odds[None], weights, len(biases))
        features = predictor.design(rows)[~biases].astype(np.float64, copy=False)
        return standardize_sigmoid(odds, features, weights, _log_odds(data, predictor.of_class))

    standardization = data.standardizations.get(
        f"{predictor.features} of {predictor.functions.written}",
        model,
        lambda: _standardize(data, standardize),
    )
    if standardization is None:
        return predictor, None
    features = np.array(predictor.features)
    features[-1, ~biases] -= standardization.centers
    features[:, ~biases] *= standardization.scale
    return replace(predictor, features=tuple(map(tuple, features.tolist()))), standardization


def standardized_scaled_softmax(data: FitData) -> tuple[ScaledSoftmax, Standardization | None]:
    """Return the predictor on scaled logits, and the standardization."""

    def standardize(rows: LabeledLogits, weights: Array | None) -> Standardization | None:
        centered = rows.logits - rows.logits.mean(axis=1, keepdims=True)
        return standardize_without_bias(centered.T, weights)

    standardization = data.standardizations.get("scale", 0, lambda: _standardize(data, standardize))
    return ScaledSoftmax(1.0 if standardization is None else standardization.scale), standardization


def standardized_softmax(
    data: FitData, predictor: Softmax
) -> tuple[Softmax, Standardization | None]:
    """Return the predictor on standardized features, and the standardization."""

    def standardize(rows: LabeledLogits, weights: Array | None) -> Standardization | None:
        x = log_features(rows.logits) if predictor.of_log_proba else rows.logits
        return standardize_softmax(np.ascontiguousarray(x.T), weights, np.log(_rates(data)))

    kind = f"softmax {predictor.of_log_proba}"
    standardization = data.standardizations.get(kind, 0, lambda: _standardize(data, standardize))
    if standardization is None:
        return predictor, None
    return replace(
        predictor, centers=standardization.centers, scale=standardization.scale
    ), standardization


def _standardize(
    data: FitData, standardize: Callable[[LabeledLogits, Array | None], Standardization | None]
) -> Standardization | None:
    """Standardize by all rows, but only if a sample of them is not ordinary."""
    step = data.n_rows_in_memory // SAMPLE_SIZE
    if step > 1:
        every_nth = slice(None, None, step)
        sample = LabeledLogits(data.raw_logits[every_nth], data.labels[every_nth], data.n_classes)
        if standardize(sample, None if data.weights is None else data.weights[every_nth]) is None:
            return None
    return standardize(data.labeled_logits, data.weights)


def _rates(data: FitData) -> Array:
    """Smoothed share of each class in the total weight."""
    weights = data.class_weights + PSEUDO_WEIGHT
    return np.asarray(weights / weights.sum())


def _log_odds(data: FitData, of_class: int) -> float:
    share = float(_rates(data)[of_class])
    return float(np.log(share) - np.log1p(-share))

"""Logistic regression with a slope and a bias on the log-odds of one class."""

import numpy as np

from tempocal.calibrators.fit_data import FitData
from tempocal.calibrators.parametric import LinearModel, linear_model
from tempocal.calibrators.standardized_features import standardized_sigmoid
from tempocal.links import Array
from tempocal.maps import Line, OneVsRest
from tempocal.rows import LINE, Sigmoid


def slope_bias_model(
    data: FitData, of_class: int, *, auto: bool, smooth: bool = False
) -> LinearModel:
    """Return the model ``slope * odds + bias``, optionally with Platt's smoothed targets."""
    low, high = _platt_targets(data, of_class) if smooth else (0.0, 1.0)
    predictor, standardization = Sigmoid(LINE, of_class, low, high), None
    biases = np.array([False, True])
    if auto:
        model_index = data.one_vs_rest_classes.index(of_class)
        predictor, standardization = standardized_sigmoid(data, predictor, biases, model_index)
    model = linear_model(data.rows_factory(predictor), identity=[1.0, 0.0], biases=biases)
    return model.standardized(standardization)


def _platt_targets(data: FitData, of_class: int) -> tuple[float, float]:
    """Targets ``1 / (N0 + 2)`` and ``(N1 + 1) / (N1 + 2)`` in place of 0 and 1 (Platt 1999)."""
    positive = float(data.class_weights[of_class])
    negative = float(data.class_weights.sum()) - positive
    return 1.0 / (negative + 2.0), (positive + 1.0) / (positive + 2.0)


def slopes_of(fitted: OneVsRest) -> Array:
    """Slope of each class."""
    return np.array([line.slope for line in fitted.maps if isinstance(line, Line)])


def biases_of(fitted: OneVsRest) -> Array:
    """Bias of each class."""
    return np.array([line.bias for line in fitted.maps if isinstance(line, Line)])

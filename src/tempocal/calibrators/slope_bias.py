"""A slope and a bias under one sigmoid, as a model to fit and as a map."""

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
    """``slope * odds + bias``; to targets that are smoothed as Platt (1999) does, or not."""
    low, high = _smoothed(data, of_class) if smooth else (0.0, 1.0)
    predictor, standardization, biases = (
        Sigmoid(LINE, of_class, low, high),
        None,
        np.array([False, True]),
    )
    if auto:
        number = data.one_vs_rest_classes.index(of_class)
        predictor, standardization = standardized_sigmoid(data, predictor, biases, number)
    model = linear_model(data.rows_factory(predictor), identity=[1.0, 0.0], biases=biases)
    return model.standardized(standardization)


def _smoothed(data: FitData, of_class: int) -> tuple[float, float]:
    """Targets of the rows that are not of a class and of those that are, with one more of each."""
    positive = float(data.class_weights[of_class])
    negative = float(data.class_weights.sum()) - positive
    return 1.0 / (negative + 2.0), (positive + 1.0) / (positive + 2.0)


def slopes_of(fitted: OneVsRest) -> Array:
    """Slope of each class."""
    return np.array([line.slope for line in fitted.maps if isinstance(line, Line)])


def biases_of(fitted: OneVsRest) -> Array:
    """Bias of each class."""
    return np.array([line.bias for line in fitted.maps if isinstance(line, Line)])

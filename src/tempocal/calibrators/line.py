"""A slope and a bias under one sigmoid, as a model to fit and as a map."""

import numpy as np

from tempocal.calibrators.parametric import LinearModel, linear_model
from tempocal.inputs import Codes
from tempocal.links import Array
from tempocal.maps import Line, OneVsRest
from tempocal.rows import BinaryRows, Rows


def line_model(odds: Array, targets: Array, weights: Array | None) -> LinearModel:
    """``slope * odds + bias``."""

    def rows(keys: Codes | None, n_keys: int) -> Rows:
        features = np.stack([odds, np.ones_like(odds)])
        return BinaryRows(features, targets, weights=weights, keys=keys, n_keys=n_keys)

    return linear_model(rows, identity=[1.0, 0.0], biases=[False, True])


def slopes_of(fitted: OneVsRest) -> Array:
    """Slope of each class."""
    return np.array([line.slope for line in fitted.maps if isinstance(line, Line)])


def biases_of(fitted: OneVsRest) -> Array:
    """Bias of each class."""
    return np.array([line.bias for line in fitted.maps if isinstance(line, Line)])

"""A slope and a bias under one sigmoid, as a problem to solve and as a map."""

import numpy as np

from tempocal.calibrators.parametric import unbounded_below
from tempocal.links import Array
from tempocal.maps import Line, OneVsRest
from tempocal.rows import BinaryRows
from tempocal.solve import Problem


def line_problem(odds: Array, targets: Array, weights: Array | None) -> Problem:
    """Fit ``slope * odds + bias``."""
    features = np.stack([odds, np.ones_like(odds)])
    return Problem(
        rows=BinaryRows(features, targets, weights=weights),
        identity=np.array([1.0, 0.0]),
        slopes=np.array([True, False]),
        biases=np.array([False, True]),
        lower=unbounded_below(2),
        steady=np.zeros(2),
    )


def to_line(theta: Array) -> Line:
    """Read the coefficients of a line problem as a map."""
    return Line(slope=float(theta[0]), bias=float(theta[1]))


def slopes_of(fitted: OneVsRest) -> Array:
    """Slope of each class."""
    return np.array([line.slope for line in fitted.maps if isinstance(line, Line)])


def biases_of(fitted: OneVsRest) -> Array:
    """Bias of each class."""
    return np.array([line.bias for line in fitted.maps if isinstance(line, Line)])

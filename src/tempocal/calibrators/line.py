"""A slope and a bias under one sigmoid, as a problem to solve and as a map."""

import numpy as np

from tempocal.links import Array
from tempocal.maps import Line, OneVsRest
from tempocal.rows import BinaryRows
from tempocal.solve import Problem


def line_problem(odds: Array, targets: Array, weights: Array | None) -> Problem:
    """Fit ``slope * odds + bias``."""
    rows = BinaryRows(np.stack([odds, np.ones_like(odds)]), targets, weights=weights)
    return Problem.around(rows, identity=[1.0, 0.0], biases=[False, True])


def to_line(theta: Array) -> Line:
    """Read the coefficients of a line problem as a map."""
    return Line(slope=float(theta[0]), bias=float(theta[1]))


def slopes_of(fitted: OneVsRest) -> Array:
    """Slope of each class."""
    return np.array([line.slope for line in fitted.maps if isinstance(line, Line)])


def biases_of(fitted: OneVsRest) -> Array:
    """Bias of each class."""
    return np.array([line.bias for line in fitted.maps if isinstance(line, Line)])

"""Formulas evaluated with NumPy: the reference for all other engines."""

from collections.abc import Mapping, Sequence
from functools import reduce
from typing import Any

import numpy as np

from tempocal.formula.interpret import interpret
from tempocal.formula.nodes import Expression, Side
from tempocal.links import Array


def evaluate(expression: Expression, columns: Mapping[str, Array]) -> Array:
    """Return the value of a formula for each row; NaN where there is none.

    Examples
    --------
    >>> from tempocal.formula.nodes import Column, Exp
    >>> evaluate(Exp(Column("x")) + 1.0, {"x": np.array([0.0, 1.0])}).round(2)
    array([2.  , 3.72])
    """
    return evaluate_all([expression], columns)[0]


def evaluate_all(expressions: Sequence[Expression], columns: Mapping[str, Array]) -> list[Array]:
    """Return the values of several formulas, working out what they share once."""
    engine, known = NumpyEngine(columns), {}  # type: ignore[var-annotated]
    with np.errstate(invalid="ignore"):
        found = [interpret(expression, engine, known) for expression in expressions]
    n_rows = len(next(iter(columns.values())))
    return [np.array(np.broadcast_to(each, n_rows), dtype=np.float64) for each in found]


class NumpyEngine:
    """Operations on arrays; overflow, and a logarithm of what is not positive, are errors."""

    def __init__(self, columns: Mapping[str, Array]) -> None:
        self._columns = columns

    def column(self, name: str) -> Any:
        """Return the values of a column."""
        return self._columns[name]

    def number(self, value: float) -> Any:
        """Return a constant."""
        return value

    def null(self) -> Any:
        """Return the missing value."""
        return np.nan

    def piecewise(
        self, operand: Any, knots: Sequence[float], pieces: Sequence[Any], side: Side
    ) -> Any:
        """Look the piece up, which is faster than to choose by halves."""
        index = np.searchsorted(np.asarray(knots), operand, side=side)
        if all(np.ndim(piece) == 0 for piece in pieces):
            return np.asarray(pieces, dtype=np.float64)[index]
        chosen = np.empty(np.shape(index))
        for piece in np.unique(index):
            rows = index == piece
            chosen[rows] = np.broadcast_to(pieces[piece], rows.shape)[rows]
        return chosen

    def clamp(self, operand: Any, low: float, high: float) -> Any:
        """Keep between two numbers."""
        return np.clip(operand, low, high)

    def largest(self, operands: Sequence[Any]) -> Any:
        """Return the largest."""
        return reduce(np.maximum, operands)

    def every(self, conditions: Sequence[Any]) -> Any:
        """Tell whether all hold."""
        return reduce(np.logical_and, conditions)

    def some(self, conditions: Sequence[Any]) -> Any:
        """Tell whether one holds."""
        return reduce(np.logical_or, conditions)

    add = staticmethod(np.add)
    subtract = staticmethod(np.subtract)
    multiply = staticmethod(np.multiply)
    divide = staticmethod(np.divide)
    negate = staticmethod(np.negative)
    exp = staticmethod(np.exp)
    log = staticmethod(np.log)
    where = staticmethod(np.where)
    at_most = staticmethod(np.less_equal)
    below = staticmethod(np.less)
    same = staticmethod(np.equal)

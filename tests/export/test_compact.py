"""Formulas without pieces have the values of those with pieces."""

import numpy as np
import pytest

from tempocal.export.compact import compact
from tempocal.export.program import program
from tempocal.formula import evaluate
from tempocal.formula.nodes import (
    AtMost,
    Below,
    Column,
    Exp,
    Largest,
    Number,
    Where,
    children_first,
    clamp,
    piecewise,
)
from tempocal.formula.numpy_engine import NumpyEngine

T, X, Y = Column("t"), Column("x"), Column("y")
KNOTS = [-1.0, 0.0, 0.5, 2.0]
ROWS = {
    "t": np.array([-3.0, -1.0, -0.5, 0.0, 0.2, 0.5, 1.0, 2.0, 7.0, np.inf, -np.inf]),
    "x": np.linspace(-2.0, 3.0, 11),
    "y": np.linspace(4.0, 1.0, 11),
}


class Looking(NumpyEngine):
    """NumPy with tables."""

    def integer(self, value):
        return value

    def look_up(self, values, place):
        return values[place]


PIECES = {
    "numbers": [Number(3.0), Number(1.0), Number(3.0), Number(0.0), Number(5.0)],
    "ones and zeros": [X * 2.0 + 1.0, X + 1.0, X * 0.0 + 1.0, X * 2.0, Number(7.0)],
    "moved": [X, X - 1.0, (X - 2.0) * 3.0, (X - 2.0) * 0.0, (X - 2.0) * 3.0 + 4.0],
    "a difference and it moved": [X - Y, (X - Y) - 1.0, (X - Y) - 2.0, X - Y, (X - Y) - 3.0],
    "quotients": [X / 2.0, X, X / 3.0, (X + 1.0) / 2.0, X / 5.0],
    "clamped": [clamp(X * k, 0.0, 1.0) for k in (1.0, 2.0, 3.0, 4.0)] + [Number(0.5)],
    "clamped elsewhere": [clamp(X, 0.0, k) for k in (1.0, 2.0, 3.0, 4.0)] + [Number(9.0)],
    "nested": [piecewise(X, [0.0, 1.0 + k], [Y * k, Y, Number(k)], "right") for k in range(5)],
    "nested of other lengths": [
        piecewise(X, np.linspace(-1, 1, k).tolist(), [Number(j) for j in range(k + 1)], "left")
        for k in range(1, 6)
    ],
    "nested on other sides": [
        piecewise(X, [0.0, 1.0], [Number(1.0), Number(k + 2.0), Number(3.0)], side)
        for k, side in enumerate(["left", "right", "left", "left", "right"])
    ],
    "twice nested": [
        piecewise(
            X,
            [0.0],
            [piecewise(Y, [2.0, 3.0 + j], [Number(j), Number(k), Y], "left") for j in range(2)],
            "right",
        )
        for k in range(5)
    ],
    "conditions": [Where(AtMost(X, Number(k)), X, Y * k) for k in (0.0, 1.0, 2.0, 0.0, 1.0)],
    "other conditions": [
        Where(kind(X, Number(1.0)), X, Y) for kind in (AtMost, Below, AtMost, Below, AtMost)
    ],
    "nothing alike": [X, Exp(Y), Largest((X, Y)), Number(2.0), -X],
    "surface": [
        piecewise(Y, [2.0, 3.0], [X * (k + 1.0), X * j + k, X], "left")
        for k, j in zip(range(5), (0.0, 1.0, 2.0, 3.0, 1.0), strict=True)
    ],
}


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("name", PIECES)
def test_compact_formulas_have_the_same_values(name, side):
    whole = piecewise(T, KNOTS, PIECES[name], side) + 1.0
    (found,) = program([whole], Looking(ROWS))
    np.testing.assert_array_equal(found, evaluate(whole, ROWS))


@pytest.mark.parametrize("name", ["ones and zeros", "moved", "a difference and it moved"])
def test_pieces_that_were_simplified_become_one(name):
    (small,) = compact([piecewise(T, KNOTS, PIECES[name], "left")])
    assert not any(isinstance(node, Where) for node in children_first([small]))


def test_what_is_alike_is_there_once():
    both = compact([Exp(X - 1.0) * 2.0, Exp(Column("x") - 1.0) * 3.0])
    kinds = [type(node) for node in children_first(both)]
    assert kinds.count(Exp) == kinds.count(Column) == 1

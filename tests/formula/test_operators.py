"""What can be done with an expression in a formula, and what is refused in a sentence."""

import math

import numpy as np
import pytest

from tempocal import extend, scorer
from tempocal.errors import InputError
from tempocal.formula.nodes import Column, Number, piecewise
from tempocal.formula.numpy_engine import evaluate
from tempocal.formula.serialize import to_instructions

X = Column("x")
VALUES = np.array([0.25, 1.0, 2.0, 9.0])


@pytest.mark.parametrize(
    ("formula", "wanted"),
    [
        (abs(-X), VALUES),
        (X**3, VALUES**3),
        (X**1, VALUES),
        (np.float64(2.0) * X, 2.0 * VALUES),
        (np.float64(2.0) - X, 2.0 - VALUES),
        (1 / X, 1 / VALUES),
        (2 - X, 2 - VALUES),
        (extend.sqrt(X), np.sqrt(VALUES)),
        (extend.log(3.0) + X * 0.0, np.full(4, np.log(3.0))),
        (piecewise(X, [1.0], [0.0, 5], "right"), [0.0, 5.0, 5.0, 5.0]),
        (extend.largest(X, 1), np.maximum(VALUES, 1.0)),
    ],
)
def test_an_expression_goes_with_numbers(formula, wanted):
    np.testing.assert_allclose(evaluate(formula, {"x": VALUES}), wanted, rtol=1e-14)


REFUSED = {
    "a condition": (lambda: X > 3, "neither true nor false"),
    "an equation": (lambda: X == 3, "neither true nor false"),
    "a truth value": (lambda: 1.0 if X else 2.0, "neither true nor false"),
    "max": (lambda: max(X, 3), "neither true nor false"),
    "math": (lambda: math.log(X), "take those of tempocal.extend"),
    "NumPy": (lambda: np.log(X), "take those of tempocal.extend"),
    "an array": (lambda: np.array([1.0, 2.0]) * X, "made of expressions and finite numbers"),
    "text": (lambda: X + "1", "made of expressions and finite numbers"),
    "infinity": (lambda: X * math.inf, "made of expressions and finite numbers"),
    "a root": (lambda: X**0.5, "integer powers from 1 to 16, not 0.5"),
    "too few pieces": (lambda: piecewise(X, [1.0, 2.0], [X, X], "left"), "one piece more than"),
    "knots": (lambda: piecewise(X, [2.0, 1.0], [X, X, X], "left"), "ascending knots"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_has_no_value_yet_is_refused(name):
    call, words = REFUSED[name]
    with pytest.raises(InputError, match=words):
        call()


def test_a_long_sum_is_refused_in_words():
    total = X
    for k in range(5000):
        total = total + float(k + 1)
    with pytest.raises(InputError, match="100 inside one another, but this one has"):
        to_instructions(total)


def test_a_piece_that_is_not_taken_may_be_undefined():
    formula = piecewise(X, [1.0], [X, extend.log(X - 1.0)], "left")
    program = scorer._program(to_instructions(formula), "x")
    assert program(0.5) == 0.5
    with pytest.raises(ValueError, match="no value where x is"):
        scorer._program(to_instructions(extend.log(X)), "x")(0.0)


def test_expressions_are_told_apart_by_identity():
    one, other = Number(1.0), Number(1.0)
    assert one != other
    assert len({one, other}) == 2

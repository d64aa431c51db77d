"""A formula comes back from its instructions, or is refused; the scorer reads the same ones."""

import json

import numpy as np
import pytest

from tempocal import scorer
from tempocal.formula import nodes
from tempocal.formula.links import exp, log, log_sigmoid, sigmoid
from tempocal.formula.nodes import (
    AtMost,
    Below,
    Column,
    Every,
    Number,
    Same,
    Some,
    Where,
    absolute,
    clamp,
    largest,
    piecewise,
    smallest,
)
from tempocal.formula.numpy_engine import evaluate
from tempocal.formula.serialize import from_instructions, to_instructions

X = Column("time")
FORMULAS = {
    "arithmetic": (X * 3.0 - 1.0) / (X * X + 2.0) + (-X),
    "logarithm": log(absolute(X) + 1.0),
    "exponential": exp(X * 0.1),
    "sigmoid": sigmoid(X) - log_sigmoid(-X),
    "clamp": clamp(X, 0.0, 2.0) + clamp(X, low=-1.0) + clamp(X, high=1.0),
    "extremes": largest(X, 1.0, -X) - smallest(X, 0.5),
    "pieces, left": piecewise(X, [-1.0, 0.0, 2.0], [X, X * X, Number(1.0), -X], "left"),
    "pieces, right": piecewise(X, [-1.0, 0.0, 2.0], [X, X * X, Number(1.0), -X], "right"),
    "conditions": Where(
        Every((AtMost(X, Number(2.0)), Some((Below(X, Number(0.0)), Same(X, Number(1.0)))))),
        X + 1.0,
        X - 1.0,
    ),
}
TIMES = np.array([-3.0, -1.0, -0.5, 0.0, 0.25, 1.0, 2.0, 2.5, 40.0])


@pytest.mark.parametrize("name", FORMULAS)
def test_a_formula_comes_back_to_the_bit(name):
    written = json.loads(json.dumps(to_instructions(FORMULAS[name]), allow_nan=False))
    restored = from_instructions(written, ["time"])
    assert to_instructions(restored) == written
    wanted = evaluate(FORMULAS[name], {"time": TIMES})
    np.testing.assert_array_equal(evaluate(restored, {"time": TIMES}), wanted)


@pytest.mark.parametrize("name", FORMULAS)
def test_the_scorer_computes_the_same(name):
    program = scorer._program(to_instructions(FORMULAS[name]), "time")
    wanted = evaluate(FORMULAS[name], {"time": TIMES})
    np.testing.assert_allclose([program(float(x)) for x in TIMES], wanted, rtol=1e-14)


def test_the_scorer_knows_every_node():
    kinds = {
        name
        for name, kind in vars(nodes).items()
        if isinstance(kind, type)
        and issubclass(kind, nodes.Expression | nodes.Condition)
        and kind not in (nodes.Expression, nodes.Condition, nodes.Null)
    }
    assert set(scorer._INSTRUCTIONS) == kinds


COLUMN = ["Column", "time"]
REFUSED = {
    "nothing": [],
    "no list": "time",
    "none": None,
    "an unknown name": [["Sine", 0]],
    "a class that is no node": [["Node"]],
    "no arguments": [["Add"]],
    "too many arguments": [COLUMN, ["Negate", 0, 0]],
    "another column": [["Column", "os"]],
    "itself": [COLUMN, ["Negate", 1]],
    "a later one": [COLUMN, ["Negate", 2], ["Number", 1.0]],
    "one before the first": [COLUMN, ["Negate", -1]],
    "an index that is no integer": [COLUMN, ["Negate", 0.0]],
    "an index that is a truth value": [COLUMN, COLUMN, ["Negate", True]],
    "text for a number": [["Number", "1.0"]],
    "infinity": [["Number", float("inf")]],
    "more than a double holds": [["Number", 10**400]],
    "nothing to choose from": [["Largest", []]],
    "no conditions": [COLUMN, ["Every", []], ["Where", 1, 0, 0]],
    "a missing value": [["Null"]],
    "too deep": [COLUMN, *(["Negate", k] for k in range(200))],
    "too many operands": [COLUMN, ["Largest", [0] * 20_000]],
    "NaN": [["Number", float("nan")]],
    "no number": [["Number", None]],
    "knots that do not ascend": [COLUMN, ["Piecewise", 0, [1.0, 1.0], [0, 0, 0], "left"]],
    "a piece too few": [COLUMN, ["Piecewise", 0, [1.0, 2.0], [0, 0], "left"]],
    "no side": [COLUMN, ["Piecewise", 0, [1.0], [0, 0], "up"]],
    "a condition as a number": [COLUMN, ["AtMost", 0, 0], ["Negate", 1]],
    "a number as a condition": [COLUMN, ["Where", 0, 0, 0]],
    "a condition alone": [COLUMN, ["AtMost", 0, 0]],
    "an instruction that is none": [COLUMN, 1.0],
    "a name that is a list": [[["Add"], 0, 0]],
    "too many": [["Number", 1.0]] * 10_001,
}
# What the scorer lets through can be computed all the same: it has no types of its own.
LENIENT = {
    "a condition as a number",
    "a number as a condition",
    "a condition alone",
    "too deep",
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_formula_is_refused(name):
    with pytest.raises(ValueError, match=r"formula|instruction"):
        from_instructions(REFUSED[name], ["time"])


@pytest.mark.parametrize("name", [name for name in REFUSED if name not in LENIENT])
def test_what_is_no_formula_is_refused_by_the_scorer(name):
    with pytest.raises((scorer.ModelError, ArithmeticError, TypeError, LookupError)):
        scorer._program(REFUSED[name], "time")

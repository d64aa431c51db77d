"""From a formula to a program of some engine: what each node becomes there.

An engine is a small class that says what each operation is; see `numpy_engine`.
"""

from collections.abc import Sequence
from typing import Any, Protocol

from tempocal.formula.nodes import (
    Add,
    AtMost,
    Below,
    Clamp,
    Column,
    Divide,
    Every,
    Exp,
    Largest,
    Log,
    Multiply,
    Negate,
    Node,
    Null,
    Number,
    Piecewise,
    Same,
    Side,
    Some,
    Subtract,
    Where,
)


class Engine(Protocol):
    """What an engine must be able to do with its own kind of values."""

    def column(self, name: str) -> Any:
        """Return a column of the input."""

    def number(self, value: float) -> Any:
        """Return a constant."""

    def null(self) -> Any:
        """Return the missing value."""

    def add(self, left: Any, right: Any) -> Any:
        """Return ``left + right``."""

    def subtract(self, left: Any, right: Any) -> Any:
        """Return ``left - right``."""

    def multiply(self, left: Any, right: Any) -> Any:
        """Return ``left * right``."""

    def divide(self, left: Any, right: Any) -> Any:
        """Return ``left / right``."""

    def negate(self, operand: Any) -> Any:
        """Return ``-operand``."""

    def exp(self, operand: Any) -> Any:
        """Return the exponential."""

    def log(self, operand: Any) -> Any:
        """Return the natural logarithm."""

    def clamp(self, operand: Any, low: float, high: float) -> Any:
        """Keep between two numbers, of which one may be infinite."""

    def largest(self, operands: Sequence[Any]) -> Any:
        """Return the largest."""

    def where(self, condition: Any, then: Any, otherwise: Any) -> Any:
        """Return one of two."""

    def at_most(self, left: Any, right: Any) -> Any:
        """Tell whether ``left <= right``."""

    def below(self, left: Any, right: Any) -> Any:
        """Tell whether ``left < right``."""

    def same(self, left: Any, right: Any) -> Any:
        """Tell whether ``left == right``."""

    def every(self, conditions: Sequence[Any]) -> Any:
        """Tell whether all hold."""

    def some(self, conditions: Sequence[Any]) -> Any:
        """Tell whether one holds."""


def interpret(node: Node, engine: Engine, known: dict[Node, Any]) -> Any:
    """Return what a formula is in an engine; ``known`` has the nodes computed so far, and grows."""
    if node not in known:
        known[node] = _interpret(node, engine, known)
    return known[node]


def choose(
    engine: Engine, operand: Any, knots: Sequence[float], pieces: Sequence[Any], side: Side
) -> Any:
    """Choose a piece by halves: so 2,048 of them are 11 deep, where a chain would be 2,048."""
    if len(pieces) == 1:
        return pieces[0]
    half = len(knots) // 2
    compare = engine.at_most if side == "left" else engine.below
    return engine.where(
        compare(operand, engine.number(knots[half])),
        choose(engine, operand, knots[:half], pieces[: half + 1], side),
        choose(engine, operand, knots[half + 1 :], pieces[half + 1 :], side),
    )


_OF_TWO = {
    Add: "add",
    Subtract: "subtract",
    Multiply: "multiply",
    Divide: "divide",
    AtMost: "at_most",
    Below: "below",
    Same: "same",
}
_OF_ONE = {Negate: "negate", Exp: "exp", Log: "log"}


def _interpret(node: Node, engine: Engine, known: dict[Node, Any]) -> Any:  # noqa: PLR0911
    def of(part: Node) -> Any:
        return interpret(part, engine, known)

    match node:
        case Column(name):
            return engine.column(name)
        case Number(value):
            return engine.number(value)
        case Null():
            return engine.null()
        case Add() | Subtract() | Multiply() | Divide() | AtMost() | Below() | Same():
            return getattr(engine, _OF_TWO[type(node)])(of(node.left), of(node.right))
        case Negate() | Exp() | Log():
            return getattr(engine, _OF_ONE[type(node)])(of(node.operand))
        case Clamp(operand, low, high):
            return engine.clamp(of(operand), low, high)
        case Largest(operands):
            return engine.largest([of(each) for each in operands])
        case Where(condition, then, otherwise):
            return engine.where(of(condition), of(then), of(otherwise))
        case Every(conditions):
            return engine.every([of(each) for each in conditions])
        case Some(conditions):
            return engine.some([of(each) for each in conditions])
        case Piecewise(operand, knots, pieces, side):
            piecewise = getattr(engine, "piecewise", None) or _halves(engine)
            return piecewise(of(operand), knots, [of(piece) for piece in pieces], side)
    raise TypeError(f"{type(node).__name__} is no node")


def _halves(engine: Engine) -> Any:
    return lambda *of_piecewise: choose(engine, *of_piecewise)

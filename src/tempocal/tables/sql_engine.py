"""Formulas as syntax trees of sqlglot, which writes them in any dialect."""

from collections.abc import Callable, Sequence
from math import isfinite, isqrt
from typing import Any

import numpy as np
from sqlglot import exp as tree

from tempocal.formula.nodes import Side

# Two spellings of one function: SQLite's MAX and MIN take several arguments.
_ENDS = {"sqlite": ("MAX", "MIN")}
_LOOSE = (tree.Binary, tree.Neg)
# Pieces beyond which they are chosen in two steps.
MANY = 32


class SqlEngine:
    """What each operation of a formula is in SQL.

    Parameters
    ----------
    dialect : str
        A dialect of sqlglot.
    column : callable
        What stands for a column of the formula.
    """

    def __init__(self, dialect: str, column: Callable[[str], tree.Expression]) -> None:
        self.column = column
        self._greatest, self._least = _ENDS.get(dialect, ("GREATEST", "LEAST"))

    def number(self, value: float) -> tree.Expression:
        """Return a constant with all its digits; without the cast it could become a decimal."""
        digits = np.format_float_scientific(abs(value), trim="0")
        literal = tree.Literal(this=digits, is_string=False)
        return as_double(tree.Neg(this=literal) if value < 0.0 else literal)

    def null(self) -> tree.Expression:
        """Return NULL, of the type of the rest."""
        return as_double(tree.Null())

    def add(self, left: Any, right: Any) -> tree.Expression:
        """Return ``left + right``."""
        return tree.Add(this=_tight(left), expression=_tight(right))

    def subtract(self, left: Any, right: Any) -> tree.Expression:
        """Return ``left - right``."""
        return tree.Sub(this=_tight(left), expression=_tight(right))

    def multiply(self, left: Any, right: Any) -> tree.Expression:
        """Return ``left * right``."""
        return tree.Mul(this=_tight(left), expression=_tight(right))

    def divide(self, left: Any, right: Any) -> tree.Expression:
        """Return ``left / right``."""
        return tree.Div(this=_tight(left), expression=_tight(right), typed=True, safe=False)

    def negate(self, operand: Any) -> tree.Expression:
        """Return ``-operand``."""
        return tree.Neg(this=_tight(operand))

    def exp(self, operand: Any) -> tree.Expression:
        """Return the exponential."""
        return tree.Exp(this=_own(operand))

    def log(self, operand: Any) -> tree.Expression:
        """Return the natural logarithm."""
        return tree.Ln(this=_own(operand))

    def clamp(self, operand: Any, low: float, high: float) -> tree.Expression:
        """Keep between two numbers."""
        if isfinite(low):
            operand = self._function(self._greatest, [operand, self.number(low)])
        return (
            self._function(self._least, [operand, self.number(high)]) if isfinite(high) else operand
        )

    def largest(self, operands: Sequence[Any]) -> tree.Expression:
        """Return the largest."""
        return self._function(self._greatest, operands)

    def where(self, condition: Any, then: Any, otherwise: Any) -> tree.Expression:
        """Return one of two; a second choice among the rest goes on in the same CASE."""
        branches, rest = [(condition, then)], _own(otherwise)
        if isinstance(rest, tree.Case):
            branches += [(branch.this, branch.args["true"]) for branch in rest.args["ifs"]]
            rest = rest.args["default"]
        return _case(branches, rest)

    def piecewise(
        self, operand: Any, knots: Sequence[float], pieces: Sequence[Any], side: Side
    ) -> tree.Expression:
        """Choose in one CASE, or of many pieces in two: Spark cannot read what is nested deep."""
        compare = self.at_most if side == "left" else self.below
        size = len(pieces) if len(pieces) <= MANY else isqrt(len(pieces) - 1) + 1
        starts = range(0, len(pieces), size)

        def branch(k: int, piece: Any) -> tuple[Any, Any]:
            return compare(operand, self.number(knots[k])), piece

        blocks = []
        for start in starts:
            last = min(start + size, len(pieces)) - 1
            inner = [branch(k, pieces[k]) for k in range(start, last)]
            blocks.append(_case(inner, pieces[last]))
        outer = [
            branch(start + size - 1, block)
            for start, block in zip(starts, blocks[:-1], strict=False)
        ]
        return _case(outer, blocks[-1])

    def at_most(self, left: Any, right: Any) -> tree.Expression:
        """Tell whether ``left <= right``."""
        return tree.LTE(this=_own(left), expression=_own(right))

    def below(self, left: Any, right: Any) -> tree.Expression:
        """Tell whether ``left < right``."""
        return tree.LT(this=_own(left), expression=_own(right))

    def same(self, left: Any, right: Any) -> tree.Expression:
        """Tell whether ``left = right``."""
        return tree.EQ(this=_own(left), expression=_own(right))

    def every(self, conditions: Sequence[Any]) -> tree.Expression:
        """Tell whether all hold."""
        return _joined(tree.And, conditions)

    def some(self, conditions: Sequence[Any]) -> tree.Expression:
        """Tell whether one holds."""
        return _joined(tree.Or, conditions)

    def _function(self, name: str, operands: Sequence[Any]) -> tree.Expression:
        return tree.Anonymous(this=name, expressions=[_own(each) for each in operands])


def as_double(node: tree.Expression) -> tree.Expression:
    """Cast to double; put together by hand, for sqlglot would parse the name of the type."""
    return tree.Cast(this=node, to=tree.DataType(this=tree.DataType.Type.DOUBLE, nested=False))


def _joined(kind: Any, conditions: Sequence[Any]) -> tree.Expression:
    """Join in pairs of pairs, for a long chain would be too deep."""
    level = list(conditions)
    while len(level) > 1:
        pairs = [level[k : k + 2] for k in range(0, len(level), 2)]
        level = [
            kind(this=_apart(pair[0]), expression=_apart(pair[1])) if len(pair) == 2 else pair[0]
            for pair in pairs
        ]
    first: tree.Expression = level[0]
    return first


def _case(branches: Sequence[tuple[Any, Any]], rest: Any) -> tree.Expression:
    if not branches:
        return _own(rest)
    ifs = [tree.If(this=_own(condition), true=_own(then)) for condition, then in branches]
    return tree.Case(ifs=ifs, default=_own(rest))


def _apart(condition: tree.Expression) -> tree.Expression:
    """Put brackets around what AND and OR could tear apart."""
    is_joined = isinstance(condition, tree.Connector)
    return tree.Paren(this=_own(condition)) if is_joined else _own(condition)


def _own(node: tree.Expression) -> tree.Expression:
    """Return a node that no other has: trees of sqlglot share nothing."""
    return node if node.parent is None else node.copy()


def _tight(node: tree.Expression) -> tree.Expression:
    """Put brackets around what could be torn apart."""
    return tree.Paren(this=_own(node)) if isinstance(node, _LOOSE) else _own(node)

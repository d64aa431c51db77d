"""Formulas as sqlglot syntax trees, for any dialect."""

from collections.abc import Callable, Sequence
from math import isfinite, isqrt
from typing import Any

import numpy as np
from sqlglot import exp as tree

from tempocal.formula.nodes import Side

# SQLite calls GREATEST and LEAST MAX and MIN.
_MAX_MIN = {"sqlite": ("MAX", "MIN")}
_NEEDS_PARENTHESES = (tree.Binary, tree.Neg)
# With more pieces the choice is made in two nested CASE expressions.
MAX_FLAT_PIECES = 32


class SqlEngine:
    """Operations of a formula in SQL.

    Parameters
    ----------
    dialect : str
        A dialect of sqlglot.
    column : callable
        Returns the expression of a column of the formula.
    """

    def __init__(self, dialect: str, column: Callable[[str], tree.Expression]) -> None:
        self.column = column
        self._greatest, self._least = _MAX_MIN.get(dialect, ("GREATEST", "LEAST"))

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
        return tree.Add(this=_parenthesized(left), expression=_parenthesized(right))

    def subtract(self, left: Any, right: Any) -> tree.Expression:
        """Return ``left - right``."""
        return tree.Sub(this=_parenthesized(left), expression=_parenthesized(right))

    def multiply(self, left: Any, right: Any) -> tree.Expression:
        """Return ``left * right``."""
        return tree.Mul(this=_parenthesized(left), expression=_parenthesized(right))

    def divide(self, left: Any, right: Any) -> tree.Expression:
        """Return ``left / right``."""
        return tree.Div(
            this=_parenthesized(left), expression=_parenthesized(right), typed=True, safe=False
        )

    def negate(self, operand: Any) -> tree.Expression:
        """Return ``-operand``."""
        return tree.Neg(this=_parenthesized(operand))

    def exp(self, operand: Any) -> tree.Expression:
        """Return the exponential."""
        return tree.Exp(this=_unshared(operand))

    def log(self, operand: Any) -> tree.Expression:
        """Return the natural logarithm."""
        return tree.Ln(this=_unshared(operand))

    def clamp(self, operand: Any, low: float, high: float) -> tree.Expression:
        """Clip to [low, high]."""
        if isfinite(low):
            operand = self._function(self._greatest, [operand, self.number(low)])
        return (
            self._function(self._least, [operand, self.number(high)]) if isfinite(high) else operand
        )

    def largest(self, operands: Sequence[Any]) -> tree.Expression:
        """Return the largest."""
        return self._function(self._greatest, operands)

    def where(self, condition: Any, then: Any, otherwise: Any) -> tree.Expression:
        """Return ``then`` or ``otherwise``; merges a CASE in ``otherwise``."""
        branches, default = [(condition, then)], _unshared(otherwise)
        if isinstance(default, tree.Case):
            branches += [(branch.this, branch.args["true"]) for branch in default.args["ifs"]]
            default = default.args["default"]
        return _case(branches, default)

    def piecewise(
        self, operand: Any, knots: Sequence[float], pieces: Sequence[Any], side: Side
    ) -> tree.Expression:
        """Choose a piece in one or two nested CASEs; Spark cannot parse deep nesting."""
        compare = self.at_most if side == "left" else self.below
        size = len(pieces) if len(pieces) <= MAX_FLAT_PIECES else isqrt(len(pieces) - 1) + 1
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
        return tree.LTE(this=_unshared(left), expression=_unshared(right))

    def below(self, left: Any, right: Any) -> tree.Expression:
        """Tell whether ``left < right``."""
        return tree.LT(this=_unshared(left), expression=_unshared(right))

    def same(self, left: Any, right: Any) -> tree.Expression:
        """Tell whether ``left = right``."""
        return tree.EQ(this=_unshared(left), expression=_unshared(right))

    def every(self, conditions: Sequence[Any]) -> tree.Expression:
        """Tell whether all hold."""
        return _join_balanced(tree.And, conditions)

    def some(self, conditions: Sequence[Any]) -> tree.Expression:
        """Tell whether one holds."""
        return _join_balanced(tree.Or, conditions)

    def _function(self, name: str, operands: Sequence[Any]) -> tree.Expression:
        return tree.Anonymous(this=name, expressions=[_unshared(each) for each in operands])


def as_double(node: tree.Expression) -> tree.Expression:
    """Cast to double; built directly, because sqlglot would parse the name of the type."""
    return tree.Cast(this=node, to=tree.DataType(this=tree.DataType.Type.DOUBLE, nested=False))


def _join_balanced(kind: Any, conditions: Sequence[Any]) -> tree.Expression:
    """Join as a balanced tree; a long chain would be nested too deeply."""
    level = list(conditions)
    while len(level) > 1:
        pairs = [level[k : k + 2] for k in range(0, len(level), 2)]
        level = [
            kind(this=_operand(pair[0]), expression=_operand(pair[1]))
            if len(pair) == 2
            else pair[0]
            for pair in pairs
        ]
    first: tree.Expression = level[0]
    return first


def _case(branches: Sequence[tuple[Any, Any]], default: Any) -> tree.Expression:
    if not branches:
        return _unshared(default)
    ifs = [tree.If(this=_unshared(condition), true=_unshared(then)) for condition, then in branches]
    return tree.Case(ifs=ifs, default=_unshared(default))


def _operand(condition: tree.Expression) -> tree.Expression:
    """Parenthesize an operand of AND or OR."""
    is_connector = isinstance(condition, tree.Connector)
    return tree.Paren(this=_unshared(condition)) if is_connector else _unshared(condition)


def _unshared(node: tree.Expression) -> tree.Expression:
    """Copy a node that has a parent: nodes of sqlglot cannot be shared."""
    return node if node.parent is None else node.copy()


def _parenthesized(node: tree.Expression) -> tree.Expression:
    """Parenthesize an operand of an arithmetic operator."""
    return (
        tree.Paren(this=_unshared(node))
        if isinstance(node, _NEEDS_PARENTHESES)
        else _unshared(node)
    )

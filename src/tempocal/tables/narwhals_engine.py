"""Formulas as narwhals expressions: one code path for every table that narwhals supports."""

from collections.abc import Sequence
from functools import reduce
from math import isfinite
from operator import and_, or_
from typing import Any

import narwhals as nw


def one_if(condition: nw.Expr) -> nw.Expr:
    """1 where a condition holds, else 0."""
    return nw.when(condition).then(nw.lit(1)).otherwise(nw.lit(0))


class NarwhalsEngine:
    """Operations of a formula in narwhals."""

    def column(self, name: str) -> nw.Expr:
        """Return a column, which is double."""
        return nw.col(name)

    def number(self, value: float) -> float:
        """Return a constant; narwhals takes numbers as they are."""
        return value

    def null(self) -> None:
        """Return the missing value."""

    def add(self, left: Any, right: Any) -> Any:
        """Return ``left + right``."""
        return left + right

    def subtract(self, left: Any, right: Any) -> Any:
        """Return ``left - right``."""
        return left - right

    def multiply(self, left: Any, right: Any) -> Any:
        """Return ``left * right``."""
        return left * right

    def divide(self, left: Any, right: Any) -> Any:
        """Return ``left / right``."""
        return left / right

    def negate(self, operand: nw.Expr) -> nw.Expr:
        """Return ``-operand``."""
        return -1.0 * operand

    def exp(self, operand: nw.Expr) -> nw.Expr:
        """Return the exponential."""
        return operand.exp()

    def log(self, operand: nw.Expr) -> nw.Expr:
        """Return the natural logarithm."""
        return operand.log()

    def clamp(self, operand: nw.Expr, low: float, high: float) -> nw.Expr:
        """Clip to [low, high]."""
        return operand.clip(low if isfinite(low) else None, high if isfinite(high) else None)

    def largest(self, operands: Sequence[Any]) -> nw.Expr:
        """Return the largest."""
        return nw.max_horizontal(*operands)

    def where(self, condition: nw.Expr, then: Any, otherwise: Any) -> nw.Expr:
        """Return ``then`` where the condition holds, else ``otherwise``."""
        chosen = nw.when(condition).then(then)
        return chosen if otherwise is None else chosen.otherwise(otherwise)

    def at_most(self, left: Any, right: Any) -> Any:
        """Tell whether ``left <= right``."""
        return left <= right

    def below(self, left: Any, right: Any) -> Any:
        """Tell whether ``left < right``."""
        return left < right

    def same(self, left: Any, right: Any) -> Any:
        """Tell whether ``left == right``."""
        return left == right

    def every(self, conditions: Sequence[nw.Expr]) -> nw.Expr:
        """Tell whether all hold."""
        return reduce(and_, conditions)

    def some(self, conditions: Sequence[nw.Expr]) -> nw.Expr:
        """Tell whether one holds."""
        return reduce(or_, conditions)

"""What formulas are made of: numbers, named columns and a few operations on them.

A node that is used twice is one object, not two alike: nodes are compared by identity, so that a
formula is a graph, and an engine computes each node once.

Every operation is defined for all numbers that can reach it. Exponents are clamped and arguments of
logarithms are positive by construction, so that both sides of a `Where` can be computed,
whichever is taken: engines do, and some of them raise on overflow.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Literal

from tempocal.errors import InputError

Side = Literal["left", "right"]
# Of an expression, which is written as a product.
MAX_POWER = 16


class Expression:
    """A number for each row, or none (`Null`)."""

    def __add__(self, other: "Expression | float") -> "Expression":
        return add(self, as_expression(other))

    def __sub__(self, other: "Expression | float") -> "Expression":
        return subtract(self, as_expression(other))

    def __mul__(self, other: "Expression | float") -> "Expression":
        return multiply(self, as_expression(other))

    def __truediv__(self, other: "Expression | float") -> "Expression":
        return divide(self, as_expression(other))

    def __radd__(self, other: float) -> "Expression":
        return add(as_expression(other), self)

    def __rsub__(self, other: float) -> "Expression":
        return subtract(as_expression(other), self)

    def __rmul__(self, other: float) -> "Expression":
        return multiply(as_expression(other), self)

    def __rtruediv__(self, other: float) -> "Expression":
        return divide(as_expression(other), self)

    def __abs__(self) -> "Expression":
        return absolute(self)

    def __pow__(self, power: object) -> "Expression":
        if not isinstance(power, int) or not 1 <= power <= MAX_POWER:
            raise InputError(
                f"an expression takes integer powers from 1 to {MAX_POWER}, not {power!r:.40}: "
                "tempocal.extend has sqrt, and x**p is exp(p * log(x))"
            )
        product = self
        for _ in range(power - 1):
            product = multiply(product, self)
        return product

    # What would decide a formula once for all rows is refused: it is not a number yet.

    def __bool__(self) -> bool:
        raise InputError(
            "an expression is neither true nor false: in place of a condition take piecewise, "
            "clamp, largest or smallest of tempocal.extend"
        )

    def __lt__(self, other: object) -> bool:
        return bool(self)

    __le__ = __gt__ = __ge__ = __lt__

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, int | float) and bool(self))

    __hash__ = object.__hash__

    def __float__(self) -> float:
        raise InputError(
            "an expression has no value yet: in place of functions of math or NumPy take those of "
            "tempocal.extend, such as extend.log"
        )

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **settings: Any) -> Any:
        name = _OPERATORS.get(ufunc.__name__)
        if name is None or method != "__call__" or len(inputs) != 2:
            return float(self)
        return name(*map(as_expression, inputs))

    def __neg__(self) -> "Expression":
        return Number(-self.value) if isinstance(self, Number) else Negate(self)


class Condition:
    """Whether something holds, for each row."""


@dataclass(frozen=True, eq=False)
class Column(Expression):
    """A column of the input, as double."""

    name: str


@dataclass(frozen=True, eq=False)
class Number(Expression):
    """A finite constant."""

    value: float


@dataclass(frozen=True, eq=False)
class Null(Expression):
    """No number."""


@dataclass(frozen=True, eq=False)
class Add(Expression):
    """``left + right``."""

    left: Expression
    right: Expression


@dataclass(frozen=True, eq=False)
class Subtract(Expression):
    """``left - right``."""

    left: Expression
    right: Expression


@dataclass(frozen=True, eq=False)
class Multiply(Expression):
    """``left * right``."""

    left: Expression
    right: Expression


@dataclass(frozen=True, eq=False)
class Divide(Expression):
    """``left / right``; the right side is never zero."""

    left: Expression
    right: Expression


@dataclass(frozen=True, eq=False)
class Negate(Expression):
    """``-operand``."""

    operand: Expression


@dataclass(frozen=True, eq=False)
class Exp(Expression):
    """Exponential of a number within 700 of zero."""

    operand: Expression


@dataclass(frozen=True, eq=False)
class Log(Expression):
    """Natural logarithm of a positive number."""

    operand: Expression


@dataclass(frozen=True, eq=False)
class Clamp(Expression):
    """The operand, kept between two numbers; an end that is infinite does not bind."""

    operand: Expression
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class Largest(Expression):
    """The largest of some numbers."""

    operands: tuple[Expression, ...]


@dataclass(frozen=True, eq=False)
class Where(Expression):
    """One of two, by a condition; the second where the condition is unknown."""

    condition: Condition
    then: Expression
    otherwise: Expression


@dataclass(frozen=True, eq=False)
class Piecewise(Expression):
    """The piece that the operand falls in: ``pieces[searchsorted(knots, operand, side)]``.

    With ``side="left"`` an operand equal to a knot belongs to the piece before it, with "right" to
    the one after it, as in NumPy.
    """

    operand: Expression
    knots: tuple[float, ...]
    pieces: tuple[Expression, ...]
    side: Side


@dataclass(frozen=True, eq=False)
class AtMost(Condition):
    """``left <= right``."""

    left: Expression
    right: Expression


@dataclass(frozen=True, eq=False)
class Below(Condition):
    """``left < right``."""

    left: Expression
    right: Expression


@dataclass(frozen=True, eq=False)
class Same(Condition):
    """``left == right``."""

    left: Expression
    right: Expression


@dataclass(frozen=True, eq=False)
class Every(Condition):
    """All of some conditions."""

    conditions: tuple[Condition, ...]


@dataclass(frozen=True, eq=False)
class Some(Condition):
    """At least one of some conditions."""

    conditions: tuple[Condition, ...]


Node = Expression | Condition
_NODES = (Expression, Condition)


def children(node: Node) -> list[Node]:
    """Return the nodes that a node is made of."""
    found: list[Node] = []
    for value in vars(node).values():
        if isinstance(value, _NODES):
            found.append(value)
        elif isinstance(value, tuple):
            found += [part for part in value if isinstance(part, _NODES)]
    return found


def with_children(node: Node, new: Callable[[Node], Node]) -> Node:
    """Return a node like another, made of what ``new`` makes of its children."""
    parts: dict[str, Any] = {}
    for name, value in vars(node).items():
        if isinstance(value, Expression | Condition):
            parts[name] = new(value)
        elif isinstance(value, tuple):
            parts[name] = tuple(
                new(part) if isinstance(part, Expression | Condition) else part for part in value
            )
    return replace(node, **parts) if parts else node  # type: ignore[type-var]


def children_first(outputs: Iterable[Expression]) -> list[Node]:
    """Return all nodes of some formulas, each once, after those that it is made of."""
    order: dict[Node, None] = {}
    # A stack instead of recursion: a sum of many terms is deep.
    stack: list[tuple[Node, bool]] = [(output, False) for output in reversed(list(outputs))]
    while stack:
        node, is_ready = stack.pop()
        if node in order:
            continue
        if is_ready:
            order[node] = None
        else:
            stack.append((node, True))
            stack += [(child, False) for child in reversed(children(node)) if child not in order]
    return list(order)


def substitute(
    expressions: Sequence[Expression], columns: Mapping[str, Expression]
) -> list[Expression]:
    """Return formulas with other formulas in place of some columns; what they share stays shared.

    Examples
    --------
    >>> substitute([Column("x") + 1.0], {"x": Column("y")})
    [Add(left=Column(name='y'), right=Number(value=1.0))]
    """
    new: dict[Node, Node] = {}
    for node in children_first(expressions):
        if isinstance(node, Column) and node.name in columns:
            new[node] = columns[node.name]
        else:
            new[node] = with_children(node, new.__getitem__)
    return [new[each] for each in expressions]  # type: ignore[misc]


def as_expression(value: "Expression | float") -> Expression:
    """Return a number as an expression."""
    if isinstance(value, Expression):
        return value
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if isinstance(value, str | bool) or not math.isfinite(number):
        raise InputError(f"a formula is made of expressions and finite numbers, not {value!r:.60}")
    return Number(number)


def add(left: Expression, right: Expression) -> Expression:
    """Add; constants are added now."""
    if isinstance(left, Number) and isinstance(right, Number):
        return Number(left.value + right.value)
    if is_number(left, 0.0):
        return right
    return left if is_number(right, 0.0) else Add(left, right)


def subtract(left: Expression, right: Expression) -> Expression:
    """Subtract; constants are subtracted now."""
    if isinstance(left, Number) and isinstance(right, Number):
        return Number(left.value - right.value)
    return left if is_number(right, 0.0) else Subtract(left, right)


def multiply(left: Expression, right: Expression) -> Expression:
    """Multiply; constants are multiplied now."""
    if isinstance(left, Number) and isinstance(right, Number):
        return Number(left.value * right.value)
    if is_number(left, 0.0) or is_number(right, 0.0):
        return Number(0.0)
    if is_number(left, 1.0):
        return right
    return left if is_number(right, 1.0) else Multiply(left, right)


def divide(left: Expression, right: Expression) -> Expression:
    """Divide; constants are divided now."""
    if isinstance(left, Number) and isinstance(right, Number):
        return Number(left.value / right.value)
    return left if is_number(right, 1.0) else Divide(left, right)


def total(terms: Iterable[Expression]) -> Expression:
    """Add many, in pairs of pairs: a chain of hundreds would be too deep for many a parser.

    Examples
    --------
    >>> total([Number(1.0), Number(2.0), Number(4.0)])
    Number(value=7.0)
    """
    level = list(terms) or [Number(0.0)]
    while len(level) > 1:
        pairs = [level[k : k + 2] for k in range(0, len(level), 2)]
        level = [add(*pair) if len(pair) == 2 else pair[0] for pair in pairs]
    return level[0]


def clamp(operand: Expression, low: float = -math.inf, high: float = math.inf) -> Expression:
    """Keep between two numbers."""
    if isinstance(operand, Number):
        return Number(min(max(operand.value, low), high))
    return Clamp(operand, float(low), float(high))


def largest(*operands: "Expression | float") -> Expression:
    """Return the largest of some numbers."""
    return Largest(tuple(map(as_expression, operands)))


def smallest(*operands: "Expression | float") -> Expression:
    """Return the smallest of some numbers."""
    return -largest(*(-as_expression(each) for each in operands))


def absolute(operand: Expression) -> Expression:
    """Return the absolute value."""
    return Largest((operand, -operand))


def piecewise(
    operand: Expression,
    knots: Sequence[float],
    pieces: "Sequence[Expression | float]",
    side: Side = "right",
) -> Expression:
    """Return the piece that a number falls in, of several that are separated by knots.

    Parameters
    ----------
    operand : Expression
        The number.
    knots : sequence of float
        Ascending numbers.
    pieces : sequence of Expression or float
        One more than knots: below the first knot, between the first and the second, and so on.
    side : {"left", "right"}
        Whether a number equal to a knot belongs to the piece below it or above it.
    """
    chosen = tuple(as_expression(piece) for piece in pieces)
    if len(chosen) != len(knots) + 1 or any(a >= b for a, b in pairwise(knots)):
        raise InputError(
            f"piecewise needs ascending knots and one piece more than knots, but it has "
            f"{len(chosen)} pieces and the knots {list(knots)!r:.80}"
        )
    values = {piece.value if isinstance(piece, Number) else id(piece) for piece in chosen}
    kinds = {isinstance(piece, Number) for piece in chosen}
    if len(values) == 1 and len(kinds) == 1:
        return chosen[0]
    return Piecewise(operand, tuple(float(knot) for knot in knots), chosen, side)


def numbers(values: Iterable[float]) -> list[Expression]:
    """Return constants as expressions."""
    return [Number(float(value)) for value in values]


_OPERATORS = {"add": add, "subtract": subtract, "multiply": multiply, "divide": divide}


def is_number(expression: Expression, value: float) -> bool:
    """Tell whether an expression is a certain constant."""
    return isinstance(expression, Number) and expression.value == value

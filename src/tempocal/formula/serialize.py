"""A formula as a list of plain values, and back: how model files hold formulas.

The list has one instruction for each node, ``[name, field, ...]``, after those of the nodes it is
made of. A field that is a node is the index of its instruction; an infinite bound is None. The last
instruction is the formula::

    2 * log(time)  ->  [["Number", 2.0], ["Column", "time"], ["Log", 1], ["Multiply", 0, 2]]
"""

import math
import sys
from collections.abc import Collection
from dataclasses import fields
from reprlib import repr as shown
from typing import Any, get_args, get_origin, get_type_hints

from tempocal.errors import InputError
from tempocal.formula import nodes
from tempocal.formula.nodes import (
    Column,
    Condition,
    Expression,
    Node,
    Null,
    Piecewise,
    children,
    children_first,
)

# Bounds of one formula, so that no file takes long to evaluate: instructions and their arguments,
# and instructions that depend on each other.
MAX_SIZE = 10_000
MAX_DEPTH = 100

_KINDS: dict[str, Any] = {
    kind.__name__: kind
    for kind in vars(nodes).values()
    if isinstance(kind, type)
    and issubclass(kind, Expression | Condition)
    and kind not in (Expression, Condition, Null)
}
_FIELDS = {
    name: [(field.name, get_type_hints(kind)[field.name]) for field in fields(kind)]
    for name, kind in _KINDS.items()
}


def to_instructions(expression: Expression) -> list[list[Any]]:
    """Return a formula as a list of instructions.

    Examples
    --------
    >>> to_instructions(Column("time") + 1.0)
    [['Column', 'time'], ['Number', 1.0], ['Add', 0, 1]]
    """
    order = children_first([expression])
    _require_small(order)
    index = {node: k for k, node in enumerate(order)}

    def plain(value: Any) -> Any:
        if isinstance(value, Expression | Condition):
            return index[value]
        if isinstance(value, tuple):
            return [plain(part) for part in value]
        return None if isinstance(value, float) and math.isinf(value) else value

    return [
        [type(node).__name__, *(plain(value) for value in vars(node).values())] for node in order
    ]


def from_instructions(content: Any, columns: Collection[str]) -> Expression:
    """Return the formula that `to_instructions` described, of these columns only.

    Raises
    ------
    ValueError
        For anything else.

    Examples
    --------
    >>> from_instructions([["Column", "time"], ["Number", 1.0], ["Add", 0, 1]], ["time"])
    Add(left=Column(name='time'), right=Number(value=1.0))
    """
    if not isinstance(content, list) or not content or _size(content) > MAX_SIZE:
        raise ValueError(f"a formula must be a short list of instructions, not {shown(content)}")
    built: list[Node] = []
    for instruction in content:
        built.append(_node(instruction, built, columns))
    _require_small(built)
    if not isinstance(built[-1], Expression):
        raise ValueError("a formula must be a number, not a condition")  # noqa: TRY004
    return built[-1]


def _size(content: list[Any]) -> int:
    """Count instructions and their arguments."""
    lists = [each for each in content if isinstance(each, list)]
    return len(content) + sum(
        len(part) if isinstance(part, list) else 1 for each in lists for part in each
    )


def _require_small(order: list[Node]) -> None:
    """Refuse formulas that are too large or too deep."""
    depth: dict[Node, int] = {}
    for node in order:
        depth[node] = 1 + max((depth[child] for child in children(node)), default=0)
    size = sum(2 + len(children(node)) for node in order)
    if size > MAX_SIZE or max(depth.values()) > MAX_DEPTH:
        raise InputError(
            f"a formula may have about {MAX_SIZE // 3} operations, {MAX_DEPTH} inside one another, "
            f"but this one has {len(order)}, {max(depth.values())} inside one another"
        )


def _node(instruction: Any, built: list[Node], columns: Collection[str]) -> Node:
    name = str(instruction[0]) if isinstance(instruction, list) and instruction else ""
    wanted = _FIELDS.get(name)
    if wanted is None or len(instruction) != 1 + len(wanted):
        raise ValueError(f"there is no such instruction: {shown(instruction)}")
    values = {
        field: _value(value, kind, built, field)
        for value, (field, kind) in zip(instruction[1:], wanted, strict=True)
    }
    node: Node = _KINDS[name](**values)
    if isinstance(node, Column) and node.name not in columns:
        raise ValueError(f"the formula has the column {shown(node.name)}, not {sorted(columns)}")
    if isinstance(node, Piecewise):
        ascending = all(a < b for a, b in zip(node.knots, node.knots[1:], strict=False))
        if not ascending or len(node.pieces) != len(node.knots) + 1 or node.side not in _SIDES:
            raise ValueError("the knots and pieces of a formula do not go together")
    return node


_SIDES = get_args(nodes.Side)


def _value(value: Any, kind: Any, built: list[Node], field: str) -> Any:
    if get_origin(kind) is tuple and isinstance(value, list) and (value or field == "knots"):
        return tuple(_value(part, get_args(kind)[0], built, field) for part in value)
    if kind in (Expression, Condition) and type(value) is int and 0 <= value < len(built):
        if isinstance(built[value], kind):
            return built[value]
    elif kind is float and type(value) in (int, float) and abs(value) <= sys.float_info.max:
        return float(value)
    elif kind is float and value is None and field in ("low", "high"):
        return -math.inf if field == "low" else math.inf
    elif kind in (str, nodes.Side) and isinstance(value, str):
        return value
    raise ValueError(f"{field} of a formula cannot be {shown(value)}")

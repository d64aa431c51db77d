"""Pieces of one formula brought into one form, so that only their numbers differ.

Formulas are simplified when they are made: ``x * 1`` is ``x``, ``x - 0`` is ``x`` and ``x * 0`` is
0. Here that is undone, for those pieces that others of their kind need it of.
"""

from collections.abc import Callable, Sequence
from typing import Any

from tempocal.export.lookups import Table
from tempocal.formula.nodes import (
    Add,
    Clamp,
    Divide,
    Expression,
    Multiply,
    Node,
    Number,
    Subtract,
    children,
    children_first,
    is_number,
)

_Constant = (Number, Table)
# Outermost first.
_KINDS = (Add, Subtract, Multiply, Divide, Clamp)


class Differing(Exception):  # noqa: N818 - it is caught by who can choose between the pieces
    """Pieces are not of one form."""


def in_line(pieces: Sequence[Node]) -> list[Node]:
    """Return pieces of the same values that are of one kind, with as many children."""
    kind = _kind_of(pieces)
    if kind is not None:
        # x - y is no difference like (x - y) - 3, but (x - y) - 0.
        inner = {child for piece in pieces if isinstance(piece, kind) for child in children(piece)}
        complete_pieces = [
            piece for piece in pieces if isinstance(piece, kind) and piece not in inner
        ]
        example = complete_pieces[0] if complete_pieces else None
        complete = set(complete_pieces)
        pieces = [
            piece if piece in complete else _as_kind(kind, piece, example) for piece in pieces
        ]
    if any(not _are_alike(pieces[0], piece) for piece in pieces):
        raise Differing
    return list(pieces)


def _are_alike(one: Node, other: Node) -> bool:
    if type(one) is not type(other) or len(children(one)) != len(children(other)):
        return False
    if isinstance(one, Clamp) and isinstance(other, Clamp):
        return (one.low, one.high) == (other.low, other.high)
    return bool(children(one)) and not isinstance(one, Table)


def _kind_of(pieces: Sequence[Node]) -> type[Node] | None:
    """Return the kind that all are to be: the one that is the outermost in a sum of products."""
    kinds = {type(piece) for piece in pieces}
    # A product beside a number is a sum with it.
    with_numbers = Multiply in kinds and any(
        isinstance(piece, _Constant) and not is_number(piece, 0.0) for piece in pieces
    )
    if with_numbers:
        return Add
    return next((kind for kind in _KINDS if kind in kinds), None)


def _as_kind(kind: type[Node], piece: Node, example: Any) -> Node:
    assert isinstance(piece, Expression)
    if kind is Add:
        return _as_sum(piece, example)
    if kind is Multiply:
        return _as_product(piece, example)
    return _as_clamped(piece, example) if kind is Clamp else _NEUTRAL[kind](piece)


_NEUTRAL: dict[type[Node], Callable[[Expression], Node]] = {
    Subtract: lambda piece: Subtract(piece, Number(0.0)),
    Divide: lambda piece: Divide(piece, Number(1.0)),
}


def _as_sum(piece: Expression, example: Add | None) -> Add:
    """Put a term where its likes are."""
    constant = isinstance(piece, _Constant)
    on_left = constant if example is None else _goes_with(piece, example.left, example.right)
    return Add(piece, Number(0.0)) if on_left else Add(Number(0.0), piece)


def _as_product(piece: Expression, example: Multiply) -> Multiply:
    constant_left = isinstance(example.left, _Constant) or piece is example.right
    if is_number(piece, 0.0):
        return Multiply(piece, example.right) if constant_left else Multiply(example.left, piece)
    return Multiply(Number(1.0), piece) if constant_left else Multiply(piece, Number(1.0))


def _as_clamped(piece: Expression, example: Clamp) -> Clamp:
    if isinstance(piece, Number) and example.low <= piece.value <= example.high:
        return Clamp(piece, example.low, example.high)
    raise Differing


def _goes_with(piece: Expression, left: Expression, right: Expression) -> bool:
    """Tell whether a term is like the left one of a sum rather than like the right one."""
    if piece in (left, right):
        return piece is left
    parts, on_left, on_right = (set(children_first([each])) for each in (piece, left, right))
    shared = len(parts & (on_left - on_right)) - len(parts & (on_right - on_left))
    if shared:  # it is of the same class, say
        return shared > 0
    if isinstance(piece, _Constant):
        return isinstance(left, _Constant) or not isinstance(right, _Constant)
    return type(piece) is type(left) or isinstance(right, _Constant)

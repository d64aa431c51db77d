"""Formulas made small: pieces that differ only in their numbers become one, with tables of numbers.

A curve of 2,000 steps is written as 2,000 pieces. ``piecewise(t, knots, [z * c0, z * c1, ...])`` is
``z * table[index of t among the knots]``, which is of the same size for any number of steps. No
operation on numbers is added but sums with 0, differences to it and products with 1 or 0, so that
probabilities stay the same to the bit.
"""

from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from tempocal.export.alike import Differing, in_line
from tempocal.export.lookups import KnotIndex, Table
from tempocal.formula import choose
from tempocal.formula.nodes import (
    Add,
    AtMost,
    Below,
    Condition,
    Expression,
    Multiply,
    Node,
    Number,
    Piecewise,
    Subtract,
    Where,
    add,
    children,
    children_first,
    multiply,
    subtract,
    with_children,
)
from tempocal.links import Array

_FOLDED = {Add: add, Subtract: subtract, Multiply: multiply}


def compact(outputs: Sequence[Expression]) -> list[Expression]:
    """Return formulas of the same values without `Piecewise`, each node in them once.

    Examples
    --------
    >>> from tempocal.formula.nodes import Column, piecewise
    >>> t, z = Column("t"), Column("z")
    >>> [small] = compact([piecewise(t, [1.0, 2.0], [z * 3.0, z, z * 5.0], "left")])
    >>> type(small).__name__, small.right.values
    ('Multiply', array([3., 1., 5.]))
    """
    made = _Compact()
    new: dict[Node, Node] = {}
    for node in children_first(outputs):
        if isinstance(node, Piecewise):
            operand = cast(Expression, new[node.operand])
            index = made.once(KnotIndex(operand, np.asarray(node.knots), node.side))
            pieces = [cast(Expression, new[piece]) for piece in node.pieces]
            new[node] = made.merged(cast(KnotIndex, index), pieces)
        else:
            new[node] = made.once(with_children(node, new.__getitem__))
    return [cast(Expression, new[output]) for output in outputs]


class _Compact:
    """Makes nodes, those that are alike only once."""

    def __init__(self) -> None:
        self._known: dict[Any, Node] = {}

    def once(self, node: Node) -> Node:
        """Return the node that is like this one."""
        key = (type(node), *(_key(value) for value in vars(node).values()))
        return self._known.setdefault(key, node)

    def merged(self, index: KnotIndex, pieces: Sequence[Expression]) -> Expression:
        """Return one expression that is the piece of the index."""
        try:
            return cast(Expression, self._merged(index, pieces))
        except Differing:
            halves = choose(_Nodes(), index.operand, index.knots.tolist(), pieces, index.side)  # type: ignore[arg-type]
            return cast(Expression, self._again(halves, set(pieces)))

    def _merged(self, index: KnotIndex, pieces: Sequence[Node]) -> Node:
        if all(piece is pieces[0] for piece in pieces):
            return pieces[0]
        if all(isinstance(piece, Number | Table) for piece in pieces):
            return self._table(index, cast(Sequence[Number | Table], pieces))
        alike = in_line(pieces)
        parts = zip(*(children(piece) for piece in alike), strict=True)
        new = [self._part(index, [self.once(p) for p in part]) for part in parts]
        if type(alike[0]) in _FOLDED:
            return self.once(_FOLDED[type(alike[0])](*new))  # type: ignore[index, arg-type]
        following = iter(new)
        return self.once(with_children(alike[0], lambda _: next(following)))

    def _part(self, index: KnotIndex, parts: Sequence[Node]) -> Node:
        """Conditions cannot be chosen among: where they differ, so does what they are part of."""
        if isinstance(parts[0], Condition):
            return self._merged(index, parts)
        return self.merged(index, cast(Sequence[Expression], parts))

    def _table(self, index: KnotIndex, pieces: Sequence[Number | Table]) -> Node:
        tables = [piece for piece in pieces if isinstance(piece, Table)]
        if not tables:
            values = np.array([cast(Number, piece).value for piece in pieces])
            return self.once(Table(values, (index,)))
        if len({len(table.indices) for table in tables}) > 1:
            raise Differing
        inner = tuple(
            self._index(index, [_index_of(piece, tables[0], j) for piece in pieces])
            for j in range(len(tables[0].indices))
        )
        arrays = [
            piece.values if isinstance(piece, Table) else np.full((1,) * len(inner), piece.value)
            for piece in pieces
        ]
        return self.once(Table(_stacked(arrays), (index, *inner)))

    def _index(self, index: KnotIndex, found: Sequence[KnotIndex]) -> KnotIndex:
        """Return the index among knots that are other ones at each of the outer indices."""
        if all(each is found[0] for each in found):
            return found[0]
        if any(each.rows for each in found) or len({each.side for each in found}) > 1:
            raise Differing
        operand = self.merged(index, [each.operand for each in found])
        knots = _stacked([each.knots for each in found], fill=np.inf)
        return cast(KnotIndex, self.once(KnotIndex(operand, knots, found[0].side, (index,))))

    def _again(self, node: Node, leaves: set[Expression]) -> Node:
        """Return what was chosen by halves, each node once."""
        if node in leaves:
            return node
        return self.once(with_children(node, lambda child: self._again(child, leaves)))


def _index_of(piece: Number | Table, other: Table, j: int) -> KnotIndex:
    return piece.indices[j] if isinstance(piece, Table) else other.indices[j]


class _Nodes:
    """An engine whose values are formulas again."""

    number, where, at_most, below = Number, Where, AtMost, Below


def _key(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(_key(part) for part in value)
    if isinstance(value, np.ndarray):
        return value.shape, value.tobytes()
    return id(value) if isinstance(value, Expression | Condition) else value


def _stacked(arrays: Sequence[Array], fill: float | None = None) -> Array:
    """Stack arrays of different lengths; what is short goes on with its last, or with ``fill``."""
    shape = tuple(np.max([array.shape for array in arrays], axis=0))
    stacked = np.full((len(arrays), *shape), 0.0 if fill is None else fill)
    for k, array in enumerate(arrays):
        if fill is None and array.shape != shape:
            more = [(0, int(size) - have) for size, have in zip(shape, array.shape, strict=True)]
            array = np.pad(array, more, mode="edge")  # noqa: PLW2901
        stacked[k][tuple(slice(size) for size in array.shape)] = array
    return stacked

"""From a compact formula to a program of some engine."""

from collections.abc import Sequence
from functools import reduce
from typing import Any, Protocol

import numpy as np

from tempocal.export.compact import compact
from tempocal.export.lookups import KnotIndex, Table
from tempocal.formula import Engine, Expression, interpret
from tempocal.formula.nodes import Node, children_first
from tempocal.links import Array


class GraphEngine(Engine, Protocol):
    """An engine that can look numbers up; integers are added and multiplied like other numbers."""

    def integer(self, value: int) -> Any:
        """Return an integer, which is constant."""

    def look_up(self, values: Array, index: Any) -> Any:
        """Return ``values[index]``, of constants."""


def program(outputs: Sequence[Expression], engine: GraphEngine) -> list[Any]:
    """Return what formulas are in an engine, made small and each part of them computed once."""
    small = compact(outputs)
    known: dict[Node, Any] = {}
    for node in children_first(small):
        if isinstance(node, KnotIndex):
            known[node] = _index(node, engine, known)
        elif isinstance(node, Table):
            index = _flat(node.indices, engine, known)
            known[node] = engine.look_up(_filled(node), index)
        else:
            interpret(node, engine, known)
    return [known[output] for output in small]


def _index(node: KnotIndex, engine: GraphEngine, known: dict[Node, Any]) -> Any:
    """Search by halves, which takes 11 comparisons for 2,000 knots."""
    compare = engine.below if node.side == "left" else engine.at_most
    sizes = [*(row.size for row in node.rows), node.size]
    knots = _padded(node.knots, sizes, np.inf).ravel()
    start = None
    if node.rows:
        start = engine.multiply(_flat(node.rows, engine, known), engine.integer(node.size))
    index, half = start, node.size // 2
    while half:
        if index is None:
            knot = engine.number(float(knots[half - 1]))
        else:
            knot = engine.look_up(knots, engine.add(index, engine.integer(half - 1)))
        is_beyond = compare(knot, known[node.operand])
        step = engine.where(is_beyond, engine.integer(half), engine.integer(0))
        index = step if index is None else engine.add(index, step)
        half //= 2
    return index if start is None else engine.subtract(index, start)


def _filled(node: Table) -> Array:
    return _padded(node.values, [index.size for index in node.indices], None).ravel()


def _flat(indices: Sequence[KnotIndex], engine: GraphEngine, known: dict[Node, Any]) -> Any:
    """Return the index in a table that is laid out row after row."""

    def next_one(so_far: Any, index: KnotIndex) -> Any:
        row = engine.multiply(so_far, engine.integer(index.size))
        return engine.add(row, known[index])

    key: Any = tuple(indices)
    if key not in known:
        known[key] = reduce(next_one, indices[1:], known[indices[0]])
    return known[key]


def _padded(values: Array, sizes: Sequence[int], fill: float | None) -> Array:
    """Fill up to powers of 2, so that no index is beyond the end, whatever the time."""
    if fill is not None:  # rows that are never asked for may be like the last
        more = [(0, size - have) for size, have in zip(sizes, values.shape, strict=True)]
        values = np.pad(values, [*[(0, 0)] * (values.ndim - 1), more[-1]], constant_values=fill)
    widths = [(0, size - have) for size, have in zip(sizes, values.shape, strict=True)]
    return np.pad(values, widths, mode="edge")

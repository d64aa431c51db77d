"""From a compact formula to a program of some engine."""

from collections.abc import Sequence
from functools import reduce
from typing import Any, Protocol

import numpy as np

from tempocal.export.compact import compact
from tempocal.export.lookups import Place, Table
from tempocal.formula import Engine, Expression, interpret
from tempocal.formula.nodes import Node, children_first
from tempocal.links import Array


class GraphEngine(Engine, Protocol):
    """An engine that can look numbers up; its whole numbers it adds and multiplies as others."""

    def whole(self, value: int) -> Any:
        """Return a whole number, which is constant."""

    def look_up(self, values: Array, place: Any) -> Any:
        """Return ``values[place]``, of constants."""


def program(outputs: Sequence[Expression], engine: GraphEngine) -> list[Any]:
    """Return what formulas are in an engine, made small and each part of them worked out once."""
    small = compact(outputs)
    known: dict[Node, Any] = {}
    for node in children_first(small):
        if isinstance(node, Place):
            known[node] = _place(node, engine, known)
        elif isinstance(node, Table):
            place = _flat(node.places, engine, known)
            known[node] = engine.look_up(_filled(node), place)
        else:
            interpret(node, engine, known)
    return [known[output] for output in small]


def _place(node: Place, engine: GraphEngine, known: dict[Node, Any]) -> Any:
    """Search by halves, which takes 11 comparisons for 2,000 knots."""
    compare = engine.below if node.side == "left" else engine.at_most
    sizes = [*(row.size for row in node.rows), node.size]
    knots = _padded(node.knots, sizes, np.inf).ravel()
    start = None
    if node.rows:
        start = engine.multiply(_flat(node.rows, engine, known), engine.whole(node.size))
    place, half = start, node.size // 2
    while half:
        if place is None:
            knot = engine.number(float(knots[half - 1]))
        else:
            knot = engine.look_up(knots, engine.add(place, engine.whole(half - 1)))
        is_beyond = compare(knot, known[node.operand])
        step = engine.where(is_beyond, engine.whole(half), engine.whole(0))
        place = step if place is None else engine.add(place, step)
        half //= 2
    return place if start is None else engine.subtract(place, start)


def _filled(node: Table) -> Array:
    return _padded(node.values, [place.size for place in node.places], None).ravel()


def _flat(places: Sequence[Place], engine: GraphEngine, known: dict[Node, Any]) -> Any:
    """Return the place in a table that is laid out row after row."""

    def next_one(so_far: Any, place: Place) -> Any:
        row = engine.multiply(so_far, engine.whole(place.size))
        return engine.add(row, known[place])

    key: Any = tuple(places)
    if key not in known:
        known[key] = reduce(next_one, places[1:], known[places[0]])
    return known[key]


def _padded(values: Array, sizes: Sequence[int], fill: float | None) -> Array:
    """Fill up to powers of 2, so that no place is beyond the end, whatever the time."""
    if fill is not None:  # rows that are never asked for may be like the last
        more = [(0, size - have) for size, have in zip(sizes, values.shape, strict=True)]
        values = np.pad(values, [*[(0, 0)] * (values.ndim - 1), more[-1]], constant_values=fill)
    widths = [(0, size - have) for size, have in zip(sizes, values.shape, strict=True)]
    return np.pad(values, widths, mode="edge")

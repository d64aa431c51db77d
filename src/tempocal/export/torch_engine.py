"""Formulas as graphs of torch.fx, which torch can export, trace and script."""

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import fx

from tempocal.export.program import program
from tempocal.formula import Expression
from tempocal.links import Array


def graph_module(outputs: Sequence[Expression], *, stacked: bool) -> fx.GraphModule:
    """Return a module from columns of scores and of times (double) to formulas of them.

    Scores are called ``z0``, ``z1``, ... and times ``t0``, ``t1``. What comes out is the one
    formula, or if ``stacked`` all of them along the last axis.
    """
    engine = TorchEngine()
    found = program(outputs, engine)
    result = engine.call(torch.stack, found, -1) if stacked else found[0]
    return engine.module(result)


class TorchEngine:
    """What each operation of a formula is in torch; values are nodes of a graph.

    Whole numbers are Python's. All others are elements of one buffer, for torch would take two of
    Python's for single precision.
    """

    def __init__(self) -> None:
        self.graph = fx.Graph()
        self._inputs = {name: self.graph.placeholder(name) for name in ("scores", "times")}
        self._root = torch.nn.Module()
        self._numbers: dict[bytes, int] = {}
        self._unbound = self.call(torch.unbind, self.graph.get_attr("numbers"))
        self._elements: dict[int, fx.Node] = {}
        self._tables: dict[bytes, fx.Node] = {}

    def call(self, function: Any, *operands: Any) -> fx.Node:
        """Add a node."""
        return self.graph.call_function(function, operands)

    def module(self, result: fx.Node) -> fx.GraphModule:
        """Return what gives one of the nodes."""
        self.graph.output(result)
        numbers = np.frombuffer(b"".join(self._numbers), dtype=np.float64).copy()
        self._root.register_buffer("numbers", torch.from_numpy(numbers))
        self.graph.lint()
        return fx.GraphModule(self._root, self.graph, "CalibrationGraph")

    def column(self, name: str) -> fx.Node:
        """Return a column of the scores or of the times."""
        inputs = self._inputs["scores" if name.startswith("z") else "times"]
        return self.call(torch.select, inputs, -1, int(name[1:]))

    def number(self, value: float) -> fx.Node:
        """Return a constant."""
        k = self._numbers.setdefault(np.float64(value).tobytes(), len(self._numbers))
        if k not in self._elements:
            self._elements[k] = self.call(operator.getitem, self._unbound, k)
        return self._elements[k]

    def integer(self, value: int) -> int:
        """Return an integer."""
        return value

    def null(self) -> fx.Node:
        """Return NaN."""
        return self.number(np.nan)

    def look_up(self, values: Array, index: fx.Node) -> fx.Node:
        """Return ``values[index]``."""
        key = values.tobytes()
        if key not in self._tables:
            name = f"table_{len(self._tables)}"
            self._root.register_buffer(name, torch.from_numpy(values.copy()))
            self._tables[key] = self.graph.get_attr(name)
        return self.call(operator.getitem, self._tables[key], index)

    def clamp(self, operand: Any, low: float, high: float) -> Any:
        """Keep between two numbers; at an end half of the gradient passes, as ``|x|`` needs it."""
        if np.isfinite(low):
            operand = self.call(torch.maximum, operand, self.number(low))
        return (
            self.call(torch.minimum, operand, self.number(high)) if np.isfinite(high) else operand
        )

    def largest(self, operands: Sequence[Any]) -> Any:
        """Return the largest."""
        return self._joined(torch.maximum, operands)

    def every(self, conditions: Sequence[Any]) -> Any:
        """Tell whether all hold."""
        return self._joined(torch.logical_and, conditions)

    def some(self, conditions: Sequence[Any]) -> Any:
        """Tell whether one holds."""
        return self._joined(torch.logical_or, conditions)

    def _joined(self, function: Any, operands: Sequence[Any]) -> Any:
        joined = operands[0]
        for operand in operands[1:]:
            joined = self.call(function, joined, operand)
        return joined

    def add(self, left: Any, right: Any) -> fx.Node:
        """Return ``left + right``."""
        return self.call(torch.add, left, right)

    def subtract(self, left: Any, right: Any) -> fx.Node:
        """Return ``left - right``."""
        return self.call(torch.sub, left, right)

    def multiply(self, left: Any, right: Any) -> fx.Node:
        """Return ``left * right``."""
        return self.call(torch.mul, left, right)

    def divide(self, left: Any, right: Any) -> fx.Node:
        """Return ``left / right``."""
        return self.call(torch.div, left, right)

    def negate(self, operand: Any) -> fx.Node:
        """Return ``-operand``."""
        return self.call(torch.neg, operand)

    def exp(self, operand: Any) -> fx.Node:
        """Return the exponential."""
        return self.call(torch.exp, operand)

    def log(self, operand: Any) -> fx.Node:
        """Return the natural logarithm."""
        return self.call(torch.log, operand)

    def where(self, condition: Any, then: Any, otherwise: Any) -> fx.Node:
        """Return one of two."""
        return self.call(torch.where, condition, then, otherwise)

    def at_most(self, left: Any, right: Any) -> fx.Node:
        """Tell whether ``left <= right``."""
        return self.call(torch.le, left, right)

    def below(self, left: Any, right: Any) -> fx.Node:
        """Tell whether ``left < right``."""
        return self.call(torch.lt, left, right)

    def same(self, left: Any, right: Any) -> fx.Node:
        """Tell whether ``left == right``."""
        return self.call(torch.eq, left, right)

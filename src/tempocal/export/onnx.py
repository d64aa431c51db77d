"""Fitted models as ONNX graphs."""

import json
from collections.abc import Sequence
from os import PathLike
from typing import Any, Literal

import numpy as np

from tempocal.errors import InputError
from tempocal.export.program import program
from tempocal.links import Array
from tempocal.modelfile.atomic_write import replacing
from tempocal.modelfile.paths import path_name
from tempocal.predictor import Predictor
from tempocal.predictor.formula import formula_of
from tempocal.version import __version__

try:
    import onnx
    from onnx import TensorProto, helper, numpy_helper
except ModuleNotFoundError as error:
    raise ImportError(
        'an ONNX graph is made with onnx, which is not installed: pip install "tempocal[onnx]"'
    ) from error

Dtype = Literal["float64", "float32"]
# What ONNX Runtime has read since version 1.13.
OPSET, IR_VERSION = 17, 8
_KINDS = {"float64": TensorProto.DOUBLE, "float32": TensorProto.FLOAT}


def to_onnx(
    model: Predictor, path: str | PathLike[str] | None = None, dtype: Dtype = "float64"
) -> onnx.ModelProto:
    """Return a model as an ONNX graph from logits and times to probabilities.

    Parameters
    ----------
    model : Predictor
        What to calibrate with.
    path : path-like, default=None
        File to write as well, at once or not at all.
    dtype : {"float64", "float32"}, default="float64"
        Of the logits that go in and of the probabilities that come out. Times are double in either
        case, and so is what is computed in between.

    Returns
    -------
    onnx.ModelProto
        Inputs ``logits`` of shape (batch, columns), called ``proba`` where the model takes
        probabilities, and ``time`` of shape (batch,), or (batch, 2) for two clocks; output
        ``probabilities`` of shape (batch, K).

    Examples
    --------
    >>> from tempocal.maps import Scale
    >>> model = Predictor("TemperatureScaling", np.array([0, 1]), "logits", 1, Scale(0.5))
    >>> [each.name for each in to_onnx(model).graph.input]
    ['logits']
    """
    if dtype not in _KINDS:
        raise InputError(f"dtype must be 'float64' or 'float32', but it is {dtype!r}")
    name = None if path is None else path_name(path)
    made = _onnx(model, dtype)
    if name is not None:
        with replacing(name, "the ONNX graph") as file:
            file.write(made.SerializeToString())
    return made


def _onnx(model: Predictor, dtype: Dtype) -> onnx.ModelProto:
    engine = OnnxEngine()
    scores, times = _columns(engine, model, dtype)
    found = program(formula_of(model, scores, times), engine)
    engine.stack(found, "probabilities", _KINDS[dtype])
    graph = helper.make_graph(
        engine.nodes,
        "tempocal",
        _inputs(model, dtype),
        [_tensor("probabilities", _KINDS[dtype], len(model.classes))],
        engine.constants,
    )
    made = helper.make_model(
        graph,
        opset_imports=[helper.make_opsetid("", OPSET)],
        ir_version=IR_VERSION,
        producer_name="tempocal",
        producer_version=__version__,
        doc_string=f"{model.name}: calibrated probabilities of {len(model.classes)} classes",
    )
    helper.set_model_props(made, _metadata(model))
    return made


def _columns(engine: "OnnxEngine", model: Predictor, dtype: Dtype) -> tuple[list[str], list[str]]:
    """Cut the inputs into columns of doubles, and name them."""
    inputs: str = model.inputs
    if dtype == "float32":
        inputs = engine.node("Cast", model.inputs, to=TensorProto.DOUBLE)
    scores = [engine.column_of(inputs, k) for k in range(model.columns)]
    clocks = len(model.time_kinds)
    return scores, [engine.column_of("time", k) for k in range(clocks)] if clocks > 1 else (
        ["time"] * clocks
    )


def _inputs(model: Predictor, dtype: Dtype) -> list[Any]:
    given = [_tensor(model.inputs, _KINDS[dtype], model.columns)]
    if model.time_kinds:
        clocks = len(model.time_kinds)
        given.append(_tensor("time", TensorProto.DOUBLE, clocks if clocks > 1 else None))
    return given


def _tensor(name: str, kind: int, columns: int | None) -> Any:
    shape: list[str | int] = ["batch"] if columns is None else ["batch", columns]
    return helper.make_tensor_value_info(name, kind, shape)


def _metadata(model: Predictor) -> dict[str, str]:
    return {
        "tempocal_version": __version__,
        "name": model.name,
        "classes": json.dumps(model.classes.tolist(), default=str),
        "inputs": model.inputs,
        "time_kinds": json.dumps(model.time_kinds),
    }


class OnnxEngine:
    """What each operation of a formula is in a graph; values are names of tensors."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self._constants: dict[Any, Any] = {}

    @property
    def constants(self) -> list[Any]:
        """Initializers of the graph."""
        return list(self._constants.values())

    def node(self, kind: str, *inputs: str, output: str | None = None, **attributes: Any) -> str:
        """Add a node and return the name of what comes out."""
        name = output or f"{kind.lower()}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, inputs, [name], f"n_{name}", **attributes))
        return name

    def constant(self, value: Any) -> str:
        """Return the name of a constant tensor."""
        array = np.asarray(value)
        key = (array.dtype.str, array.shape, array.tobytes())
        if key not in self._constants:
            name = f"c_{len(self._constants)}"
            self._constants[key] = numpy_helper.from_array(array, name)
        name_of: str = self._constants[key].name
        return name_of

    def column_of(self, tensor: str, k: int) -> str:
        """Return a column of a tensor of two dimensions."""
        return self.node("Gather", tensor, self.integer(k), axis=1)

    def stack(self, columns: Sequence[str], output: str, kind: int) -> None:
        """Put columns side by side."""
        axis = self.constant(np.array([1], dtype=np.int64))
        wide = [self.node("Unsqueeze", column, axis) for column in columns]
        self.node("Cast", self.node("Concat", *wide, axis=1), output=output, to=kind)

    def column(self, name: str) -> str:
        """Return a column, which goes by its name."""
        return name

    def number(self, value: float) -> str:
        """Return a constant."""
        return self.constant(np.float64(value))

    def integer(self, value: int) -> str:
        """Return an integer."""
        return self.constant(np.int64(value))

    def null(self) -> str:
        """Return NaN."""
        return self.number(np.nan)

    def look_up(self, values: Array, index: str) -> str:
        """Return ``values[index]``."""
        return self.node("Gather", self.constant(values), index, axis=0)

    def clamp(self, operand: str, low: float, high: float) -> str:
        """Keep between two numbers."""
        bounds = [self.number(bound) if np.isfinite(bound) else "" for bound in (low, high)]
        return self.node("Clip", operand, *(bounds if bounds[1] else bounds[:1]))

    def largest(self, operands: Sequence[str]) -> str:
        """Return the largest."""
        return self.node("Max", *operands)

    def every(self, conditions: Sequence[str]) -> str:
        """Tell whether all hold."""
        return self._joined("And", conditions)

    def some(self, conditions: Sequence[str]) -> str:
        """Tell whether one holds."""
        return self._joined("Or", conditions)

    def _joined(self, kind: str, conditions: Sequence[str]) -> str:
        joined = conditions[0]
        for condition in conditions[1:]:
            joined = self.node(kind, joined, condition)
        return joined

    def add(self, left: str, right: str) -> str:
        """Return ``left + right``."""
        return self.node("Add", left, right)

    def subtract(self, left: str, right: str) -> str:
        """Return ``left - right``."""
        return self.node("Sub", left, right)

    def multiply(self, left: str, right: str) -> str:
        """Return ``left * right``."""
        return self.node("Mul", left, right)

    def divide(self, left: str, right: str) -> str:
        """Return ``left / right``."""
        return self.node("Div", left, right)

    def negate(self, operand: str) -> str:
        """Return ``-operand``."""
        return self.node("Neg", operand)

    def exp(self, operand: str) -> str:
        """Return the exponential."""
        return self.node("Exp", operand)

    def log(self, operand: str) -> str:
        """Return the natural logarithm."""
        return self.node("Log", operand)

    def where(self, condition: str, then: str, otherwise: str) -> str:
        """Return one of two."""
        return self.node("Where", condition, then, otherwise)

    def at_most(self, left: str, right: str) -> str:
        """Tell whether ``left <= right``."""
        return self.node("LessOrEqual", left, right)

    def below(self, left: str, right: str) -> str:
        """Tell whether ``left < right``."""
        return self.node("Less", left, right)

    def same(self, left: str, right: str) -> str:
        """Tell whether ``left == right``."""
        return self.node("Equal", left, right)

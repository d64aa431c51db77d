"""Every export, run: from a model and rows to probabilities."""

from contextlib import suppress
from typing import Any

import duckdb
import numpy as np
import onnxruntime
import torch

from formula.random_models import assert_same, columns_of, names, rounding_of_odds
from support.documents import document_of, text_of
from tables.engines import as_floats, make
from tempocal import scorer
from tempocal.export.onnx import to_onnx
from tempocal.export.python import to_python
from tempocal.export.torch import to_torch
from tempocal.predictor import Predictor
from tempocal.tables.sql import to_sql

GRAPHS = ["onnx64", "onnx32", "torch64", "torch32"]
EXPORTS = [*GRAPHS, "sql", "scorer", "python"]


def run(export: str, model: Predictor, z: Any, time: Any = None) -> Any:
    """Return probabilities of all classes; of exports with one number for two, of the second."""
    kind = np.float32 if export.endswith("32") else np.float64
    z = np.asarray(z, dtype=kind).reshape(len(z), model.columns)
    time = None if time is None else np.asarray(time, dtype=np.float64)
    return _RUNS[export.rstrip("0123456789")](model, z, time)


def in_onnx_runtime(graph: Any, **given: Any) -> Any:
    """Run a graph."""
    session = onnxruntime.InferenceSession(
        graph.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    (found,) = session.run(None, {name: each for name, each in given.items() if each is not None})
    return found


def _in_onnx(model: Predictor, z: Any, time: Any) -> Any:
    return in_onnx_runtime(to_onnx(model, dtype=z.dtype.name), **{model.inputs: z}, time=time)


def _in_torch(model: Predictor, z: Any, time: Any) -> Any:
    found = to_torch(model)(torch.tensor(z), None if time is None else torch.tensor(time))
    assert found.dtype == torch.tensor(z).dtype
    return found.numpy()


def _in_duckdb(model: Predictor, z: Any, time: Any) -> Any:
    scores, times = names(model)
    sql = to_sql(model, "duckdb", **{model.inputs: scores, "time": times or None})  # type: ignore[arg-type]
    connection = duckdb.connect()
    connection.execute("SET disabled_optimizers = 'cte_inlining'")
    columns = {"id": np.arange(len(z)), **columns_of(z, time)}
    connection.register("rows_", make("pyarrow", columns))
    rows = sorted(connection.execute(sql.select("rows_", keep=["id"])).fetchall())
    return np.stack([as_floats(column) for column in list(zip(*rows, strict=True))[1:]], 1)


def _in_scorer(model: Predictor, z: Any, time: Any) -> Any:
    return _one_by_one(scorer.loads(text_of(document_of(model))).score, z, time)


def _in_python(model: Predictor, z: Any, time: Any) -> Any:
    module: dict[str, Any] = {"__name__": "live"}
    exec(to_python(text_of(document_of(model))), module)
    return _one_by_one(module["score"], z, time)


def _one_by_one(score: Any, z: Any, time: Any) -> Any:
    """Call with each row; NaN where it is refused, as in the graphs."""
    times = [None] * len(z) if time is None else time.tolist()
    found = np.full(z.shape, np.nan)
    for number, (row, at) in enumerate(zip(z.tolist(), times, strict=True)):
        with suppress(ValueError):
            found[number] = score(row if len(row) > 1 else row[0], at)
    return found


_RUNS = {
    "onnx": _in_onnx,
    "torch": _in_torch,
    "sql": _in_duckdb,
    "scorer": _in_scorer,
    "python": _in_python,
}


def assert_equal(export: str, model: Predictor, z: Any, time: Any = None, **slack: Any) -> None:
    """Compare with `predict_proba`: to 1e-12 in double precision and to 1e-6 in single."""
    single = export.endswith("32")
    given = np.asarray(z, dtype=np.float32 if single else np.float64)
    wanted, found = model.predict_proba(given, time), run(export, model, given, time)
    room = rounding_of_odds(model, given, time)
    if found.shape[1] == 1:
        wanted, room = wanted[:, 1:], room[:, 1:]
    assert found.shape == wanted.shape
    # The smallest number that single precision has all its digits for is 1.2e-38.
    slack |= {"relative": 1e-6, "floor": 1e-37} if single else {}
    assert_same(found, wanted, given, room=room, **slack)

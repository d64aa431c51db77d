"""How far exports are from `predict_proba`: ``python -m benchmarks.exports``.

The worst relative difference of any probability that is not below 1e-15; with two classes that is
of p and of 1 - p. SQL and the scorer, which have one number for two classes, are judged by that.
Among the rows are logits up to 1e12 and infinite ones, steps that the fit has not seen, and times
beyond its range.
"""

import warnings
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import duckdb
import numpy as np
import onnxruntime
import pyarrow as pa
import torch

import tempocal as tc
from tempocal.errors import TempocalWarning
from tempocal.links import Array

PARAMETRIC: list[Any] = [
    tc.TemperatureScaling,
    tc.PlattScaling,
    tc.VectorScaling,
    tc.MatrixScaling,
    tc.BetaCalibration,
    tc.DirichletCalibration,
]
BINNED: list[Any] = [
    tc.HistogramBinning,
    tc.BayesianBinning,
    tc.IsotonicCalibration,
    tc.NearIsotonicEnsemble,
]
CURVES: dict[str, Any] = {
    "constant": tc.Constant(),
    "per step": tc.PerStep(),
    "per step, interpolated": tc.PerStep(unseen="interpolate"),
    "exponential": tc.ExponentialDecay(),
    "spline": tc.Spline(),
    "random walk": tc.RandomWalk(),
    "surface": tc.Surface(tc.Spline(intervals=3), tc.PerStep()),
}
SMALLEST = 1e-15


def main() -> None:
    """Print a line for each calibrator along each curve."""
    warnings.simplefilter("ignore", TempocalWarning)
    print("| calibrator | curve | " + " | ".join(EXPORTS) + " |")
    print("|---" * (2 + len(EXPORTS)) + "|")
    pairs = [(kind, curve) for kind in PARAMETRIC for curve in CURVES]
    pairs += [(kind, "per step") for kind in BINNED]
    for kind, curve in pairs:
        worst = compare(kind(shrinkage=1.0) if kind in PARAMETRIC else kind(), CURVES[curve])
        shown = " | ".join(f"{each:.0e}" for each in worst)
        print(f"| `{kind.__name__}` | {curve} | {shown} |", flush=True)


def compare(calibrator: Any, curve: Any) -> list[float]:
    """Return the worst difference of each export, over two and three classes."""
    worst = dict.fromkeys(EXPORTS, 0.0)
    for n_classes in (2, 3):
        z, y, time, groups = rows(n_classes, curve.n_clocks, seed=0)
        cal = tc.TemporalCalibrator(calibrator, curve).fit(z, y, time=time, groups=groups)
        z, _, time, _ = rows(n_classes, curve.n_clocks, seed=1)
        z, time = with_extremes(z), 1.7 * time - 3.1
        for name, export in EXPORTS.items():
            given = z.astype(np.float32 if name.endswith("32") else np.float64)
            wanted = cal.predict_proba(given, time=time)
            found = export(cal, given.reshape(len(z), -1), time)
            wanted = wanted[:, -found.shape[1] :]
            there = wanted >= SMALLEST
            off = np.abs(found[there] - wanted[there]) / wanted[there]
            worst[name] = max(worst[name], float(off.max()))
    return list(worst.values())


def rows(n_classes: int, clocks: int, seed: int) -> tuple[Any, Any, Any, Any]:
    """Return 2,000 logits, labels, times and groups."""
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(2000, n_classes)) * rng.choice([1, 2, 20], (2000, 1), p=[0.5, 0.45, 0.05])
    y = (0.6 * z + rng.gumbel(size=z.shape)).argmax(axis=1)
    time = rng.integers(0, 12, (2000, clocks)).astype(float)
    z = z[:, 1] - z[:, 0] if n_classes == 2 else z
    return z, y, time[:, 0] if clocks == 1 else time, np.arange(2000) // 10


def with_extremes(z: Any) -> Any:
    """Make the first rows large, and one number of the next two infinite."""
    z = z.copy()
    z[:400] *= np.logspace(1, 12, 400).reshape(-1, *[1] * (z.ndim - 1))
    z.reshape(len(z), -1)[400:402, 0] = np.inf, -np.inf
    return z


def by_onnx(cal: Any, z: Array, time: Array) -> Array:
    """Run the graph."""
    graph = cal.to_onnx(dtype=z.dtype.name).SerializeToString()
    session = onnxruntime.InferenceSession(graph, providers=["CPUExecutionProvider"])
    (found,) = session.run(None, {"logits": z, "time": time})
    return np.asarray(found, dtype=np.float64)


def by_torch(cal: Any, z: Array, time: Array) -> Array:
    """Run the module."""
    found = cal.to_torch()(torch.tensor(z), torch.tensor(time))
    return np.asarray(found.numpy(), dtype=np.float64)


def by_sql(cal: Any, z: Array, time: Array) -> Array:
    """Run the statement in DuckDB."""
    times = time.reshape(len(z), -1)
    names = {"z": z, "t": times}
    columns: dict[str, Any] = {"id": np.arange(len(z))}
    for letter, table in names.items():
        for k, column in enumerate(table.T):
            columns[letter if table.shape[1] == 1 else f"{letter}{k}"] = column
    connection = duckdb.connect()
    connection.execute("SET disabled_optimizers = 'cte_inlining'")
    connection.register("predictions", pa.table(columns))
    statement = cal.to_sql().select("predictions", keep=["id"])
    found = sorted(connection.execute(statement).fetchall())
    return np.array(found, dtype=np.float64)[:, 1:]


def by_scorer(cal: Any, z: Array, time: Array) -> Array:
    """Score the rows of a model file one by one, as the module of ``--to python`` does."""
    with TemporaryDirectory() as folder:
        cal.save(Path(folder, "model.json"))
        score = tc.scorer.load(Path(folder, "model.json")).score
    found = np.empty(z.shape)
    for number, (row, at) in enumerate(zip(z.tolist(), time.tolist(), strict=True)):
        found[number] = score(row if len(row) > 1 else row[0], at)
    return found


EXPORTS: dict[str, Callable[[Any, Array, Array], Array]] = {
    "ONNX 64": by_onnx,
    "ONNX 32": by_onnx,
    "torch 64": by_torch,
    "torch 32": by_torch,
    "SQL": by_sql,
    "scorer": by_scorer,
}


if __name__ == "__main__":
    main()

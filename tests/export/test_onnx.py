"""ONNX graphs: what they are called, how large they are, and the file."""

import json

import numpy as np
import onnx
import pytest

import tempocal as tc
from export.runs import assert_equal, in_onnx_runtime
from formula.random_models import random_model
from support.calibrators import simulate
from support.matches import fitted, rows
from tempocal.errors import InputError
from tempocal.export.onnx import to_onnx
from tempocal.maps import (
    BinBasis,
    Curves,
    Knots,
    MapPerStep,
    OneVsRest,
    ProductBasis,
    SplineBasis,
    StepBasis,
    Steps,
)
from tempocal.predictor import Predictor

pytestmark = pytest.mark.filterwarnings("ignore::tempocal.errors.TempocalWarning")


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("seed", range(20))
def test_graphs_are_well_formed(seed, dtype):
    model = random_model(seed)
    graph = to_onnx(model, dtype=dtype)
    onnx.checker.check_model(graph, full_check=True)
    shapes = {
        each.name: [one.dim_param or one.dim_value for one in each.type.tensor_type.shape.dim]
        for each in (*graph.graph.input, *graph.graph.output)
    }
    clocks = len(model.time_kinds)
    time = {"time": ["batch", 2] if clocks == 2 else ["batch"]} if clocks else {}
    assert shapes == {
        model.inputs: ["batch", model.columns],
        **time,
        "probabilities": ["batch", len(model.classes)],
    }


def test_the_graph_says_what_it_is():
    z, y = simulate(2, 300)
    graph = tc.TemperatureScaling().fit(z, np.array(["no", "yes"])[y]).to_onnx()
    said = {each.key: each.value for each in graph.metadata_props}
    assert said["name"] == "TemperatureScaling"
    assert json.loads(said["classes"]) == ["no", "yes"]
    assert said["tempocal_version"] == graph.producer_version == tc.__version__


def test_the_file_is_the_graph(tmp_path):
    cal, path = fitted(tc.PlattScaling(), tc.Spline()), tmp_path / "model.onnx"
    graph = cal.to_onnx(path)
    assert path.read_bytes() == graph.SerializeToString()
    assert [each.name for each in tmp_path.iterdir()] == ["model.onnx"]
    z, time = np.array([[1.0], [-2.0]]), np.array([3.0, 8.0])
    found = in_onnx_runtime(onnx.load(path), logits=z, time=time)
    np.testing.assert_allclose(found, cal.predict_proba(z, time=time), rtol=1e-12)


def test_a_file_that_cannot_be_written_is_an_error(tmp_path):
    z, y = simulate(2, 300)
    cal = tc.TemperatureScaling().fit(z, y)
    with pytest.raises(OSError, match="cannot save the ONNX graph"):
        cal.to_onnx(tmp_path / "no" / "model.onnx")
    with pytest.raises(InputError, match="dtype must be"):
        cal.to_onnx(dtype="float16")


def test_the_chosen_one_of_many_is_exported():
    z, y, time, groups = rows()
    auto = tc.AutoTemporalCalibrator([(tc.TemperatureScaling(), tc.Spline())])
    auto.fit(z, y, time=time, groups=groups)
    found = in_onnx_runtime(auto.to_onnx(), logits=z[:, None], time=time)
    np.testing.assert_allclose(found, auto.predict_proba(z, time=time), rtol=1e-12)


def curves(basis, form="lines", n_classes=3, seed=0):
    rng = np.random.default_rng(seed)
    widths, models = {"scale": 1, "lines": 2, "full": n_classes * (n_classes + 1)}, 1
    if form == "lines" and n_classes > 2:
        models = n_classes
    tables = tuple(rng.uniform(0.5, 2, (basis.n_functions, widths[form])) for _ in range(models))
    return Curves(form, (basis,) * models, tables)


def binned(basis, kind, seed=0):
    """Maps of which each has another number of knots."""
    rng = np.random.default_rng(seed)

    def one():
        knots = np.sort(rng.normal(size=int(rng.integers(1, 25))))
        if kind is Steps:
            return Steps(knots, rng.random(len(knots) + 1))
        return Knots(knots, np.sort(rng.choice([0.0, 0.5, 1.0, *rng.random(20)], len(knots))))

    maps = [OneVsRest((one(), one(), one())) for _ in range(basis.n_functions)]
    return MapPerStep(basis, tuple(maps))


def steps(n, unseen="nearest"):
    return StepBasis(np.cumsum(np.random.default_rng(1).uniform(0.1, 2.0, n)), unseen)


MANY = {
    "nearest": lambda n: curves(steps(n)),
    "interpolate": lambda n: curves(steps(n, "interpolate")),
    "refused": lambda n: curves(steps(n, "error")),
    "stretches": lambda n: curves(BinBasis(steps(n).times)),
    "spline": lambda n: curves(SplineBasis(0.0, 1000.0, 0.0, float(n))),
    "matrix": lambda n: curves(steps(n), "full"),
    "histogram": lambda n: binned(steps(n), Steps),
    "isotonic": lambda n: binned(steps(n), Knots),
    "surface": lambda n: curves(ProductBasis(steps(n), SplineBasis(0.0, 9.0, 1.0, 4.0)), "scale"),
}


@pytest.mark.parametrize("name", MANY)
def test_thousands_of_steps_are_a_small_graph(name):
    """Between 1,024 and 2,047 knots, or 32 and 63, it takes as many comparisons to find one."""
    sizes = []
    for n in (1100, 2000) if name in ("nearest", "stretches") else (36, 60):
        clocks = ("number",) * (2 if name == "surface" else 1)
        model = Predictor("", np.arange(3), "logits", 3, MANY[name](n), clocks)
        sizes.append(len(to_onnx(model).graph.node))
    # Of many binned maps some are simpler in a way of their own, which takes a few nodes.
    assert sizes[1] - sizes[0] <= (40 if name in ("histogram", "isotonic") else 0)
    assert sizes[1] < 500
    rng = np.random.default_rng(2)
    z = rng.normal(size=(500, 3))
    time = rng.uniform(-10, 2200, (500, 2)) if name == "surface" else rng.uniform(-10, 2200, 500)
    if name == "refused":
        time = rng.choice(model.map.bases[0].times, 500)
    slack = {"relative": 1e-10} if name == "isotonic" else {}
    assert_equal("onnx64", model, z, time, **slack)

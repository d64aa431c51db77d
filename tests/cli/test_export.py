"""Model files as graphs, programs and statements."""

import json
import shutil
import subprocess
import sys

import duckdb
import numpy as np
import onnx
import onnxruntime
import pytest
import torch

import tempocal as tc

Z, TIME = np.array([1.0, -2.0, 0.0]), np.array([3.0, 8.0, 1e6])


@pytest.fixture
def wanted(model):
    return tc.load(model).predict_proba(Z, time=TIME)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_onnx(folder, run, model, wanted, dtype):
    said = run("export", model, "--to", "onnx", "--dtype", dtype, "-o", "model.onnx").err
    assert said.endswith("bytes saved to model.onnx\n")
    onnx.checker.check_model("model.onnx", full_check=True)
    session = onnxruntime.InferenceSession("model.onnx", providers=["CPUExecutionProvider"])
    (found,) = session.run(None, {"logits": Z[:, None].astype(dtype), "time": TIME})
    np.testing.assert_allclose(found, wanted, rtol=1e-6 if dtype == "float32" else 1e-12)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_torch(folder, run, model, wanted, dtype):
    run("export", model, "--to", "torch", "--dtype", dtype, "-o", "model.pt2")
    module = torch.export.load("model.pt2").module()
    found = module(torch.tensor(Z[:, None].astype(dtype)), torch.tensor(TIME))
    np.testing.assert_allclose(found, wanted, rtol=1e-6 if dtype == "float32" else 1e-12)


def test_python_is_one_file_that_needs_nothing_else(folder, run, model, wanted):
    run("export", model, "--to", "python", "-o", "live.py")
    lone = folder / "elsewhere"
    lone.mkdir()
    shutil.move(folder / "live.py", lone)
    code = "import live, sys; print([live.score(z, t) for z, t in [(1.0, 3), (-2.0, 8), (0, 1e6)]])"
    # Neither the environment nor the site packages.
    called = [sys.executable, "-E", "-S", "-c", f"import sys; sys.path.insert(0, '.'); {code}"]
    done = subprocess.run(called, cwd=lone, capture_output=True, text=True, check=True)
    np.testing.assert_allclose(json.loads(done.stdout), wanted[:, 1], rtol=1e-12)


def in_duckdb(statement):
    connection = duckdb.connect()
    connection.execute("CREATE TABLE odds (id INT, score DOUBLE, round DOUBLE)")
    connection.executemany(
        "INSERT INTO odds VALUES (?, ?, ?)", list(zip(range(3), Z, TIME, strict=True))
    )
    return connection.execute(statement).fetchall()


def test_sql_is_printed(folder, run, model, wanted):
    text = run("export", model, "--to", "sql", "--logits", "score", "--time", "round").out
    found = in_duckdb(f"SELECT {text} FROM odds ORDER BY id")
    np.testing.assert_allclose([row[0] for row in found], wanted[:, 1], rtol=1e-12)


def test_sql_as_a_whole_statement_in_a_file(folder, run, model, wanted):
    words = ["--logits", "score", "--time", "round", "--table", "main.odds", "--keep", "id,round"]
    run("export", model, "--to", "sql", *words, "--column", "p", "-o", "model.sql")
    statement = (folder / "model.sql").read_text()
    found = sorted(in_duckdb(f"SELECT id, round, p FROM ({statement})"))
    np.testing.assert_allclose([row[2] for row in found], wanted[:, 1], rtol=1e-12)


def test_sql_in_another_dialect(folder, run, model):
    assert "DOUBLE PRECISION" in run("export", model, "--to", "sql", "--dialect", "postgres").out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--to", "onnx"], "name a file with -o"),
        (["--to", "torch"], "name a file with -o"),
        (
            ["--to", "onnx", "--dialect", "duckdb", "-o", "m"],
            "--dialect has no effect with",
        ),
        (["--to", "torch", "--keep", "id", "-o", "m"], "--keep has no effect with --to torch"),
        (["--to", "sql", "--dtype", "float32"], "--dtype has no effect with --to sql"),
        (["--to", "sql", "--keep", "id"], "--keep goes with --table"),
        (["--to", "sql", "--column", "p"], "--column goes with --table"),
    ],
)
def test_options_that_would_do_nothing_are_refused(folder, refused, model, words, said):
    assert said in refused("export", model, *words, code=2)
    assert not (folder / "m").exists()


def test_what_cannot_be_is_refused(folder, refused, model):
    assert "gone.json does not exist" in refused("export", "gone.json", "--to", "sql")
    assert "the folder no is not there" in refused(
        "export", model, "--to", "onnx", "-o", "no/model.onnx"
    )
    assert "only them, with --logits" in refused("export", model, "--to", "sql", "--proba", "p")
    (folder / "model.json").write_text("{}")
    refused("export", "model.json", "--to", "onnx", "-o", "m.onnx", code=3)


def three_classes(folder, calibrator):
    rng = np.random.default_rng(0)
    z = rng.normal(size=(200, 3))
    y = (z + rng.normal(size=(200, 3))).argmax(axis=1)
    calibrator.fit(z, y).save(folder / "three.json")
    return "three.json"


@pytest.mark.parametrize("words", [[], ["--table", "odds"]])
def test_sql_that_would_be_megabytes_long_is_refused(folder, run, refused, words):
    """A formula may be short enough, and those of all classes together too long."""
    model = three_classes(folder, tc.PlattScaling(shrinkage=1.0))
    said = refused("export", model, "--to", "sql", *words)
    assert "parts, for each is spelled out again" in said
    assert "name the table with --table and columns with --keep, in nested queries" in said
    text = run("export", model, "--to", "sql", "--table", "odds", "--keep", "id").out
    assert len(text) < 20_000


def test_sql_of_several_classes_that_is_short_is_written(folder, run):
    model = three_classes(folder, tc.TemperatureScaling(shrinkage=1.0))
    assert len(run("export", model, "--to", "sql").out) < 100_000


def test_a_dash_is_standard_output_or_refused(folder, run, model):
    wanted = run("export", model, "--to", "sql").out
    assert run("export", model, "--to", "sql", "-o", "-").out == wanted
    said = run("export", model, "--to", "onnx", "-o", "-", code=2).err
    assert "name a file with -o" in said
    assert not (folder / "-").exists()

"""`fit` and `compare` of files that are not read into memory give the same models."""

import json
from contextlib import contextmanager

import numpy as np
import pandas as pd
import pytest

import tempocal as tc
from support.lanes import usually
from tempocal.cli import large
from tempocal.cli.choices import CALIBRATORS, CURVES

COLUMNS = ("--logits", "z", "--label", "won", "--sequence", "match")
ALONG = (*COLUMNS, "--time", "t")


@pytest.fixture
def fits(run, as_large):
    """Fit to a file that is taken as small, and to the same taken as large."""

    def fitted(*words):
        said, models = [], []
        for on in (False, True):
            as_large(on)
            said.append(run("fit", *words, "-o", "m.json"))
            models.append(tc.load("m.json"))
        return said, models

    return fitted


def assert_same(models, frame, columns=("z",), **time):
    one, other = models
    logits = frame[list(columns)].to_numpy()
    logits = logits[:, 0] if len(columns) == 1 else logits
    expected = one.decision_function(logits, **time)
    np.testing.assert_allclose(other.decision_function(logits, **time), expected, atol=1e-9)
    assert other.classes_.tolist() == one.classes_.tolist()


def without_passes(said):
    return [line for line in said.out.splitlines() if not line.startswith("  passes: ")]


@pytest.mark.parametrize(
    "ending", usually(["csv", "jsonl", "parquet"], lambda ending: ending == "csv")
)
def test_the_model_and_what_is_said_are_the_same(folder, fits, frame, ending):
    said, models = fits(f"predictions.{ending}", *ALONG, "--verbose")
    assert_same(models, frame, time=frame["t"].to_numpy())
    assert without_passes(said[1]) == without_passes(said[0])
    assert "  passes: " in said[1].out
    names = [[one.name for one in model.comparison_] for model in models]
    assert names[0] == names[1]


@pytest.mark.parametrize("name", CALIBRATORS)
def test_every_calibrator(folder, fits, frame, name):
    said, models = fits("predictions.parquet", *COLUMNS, "--calibrator", name)
    assert_same(models, frame)
    assert without_passes(said[1]) == without_passes(said[0])


@pytest.mark.parametrize("name", CURVES)
def test_every_curve(folder, fits, frame, name):
    words = ("--calibrator", "platt", "--curve", name)
    _, models = fits("predictions.parquet", *ALONG, *words)
    assert_same(models, frame, time=frame["t"].to_numpy())


def test_weights_groups_classes_probabilities_and_dates(folder, fits, frame):
    day = pd.Timestamp("2026-05-01") + pd.to_timedelta(frame["t"], "D")
    won = frame["won"].map({0: False, 1: True})
    rows = frame.assign(t=day, w=np.arange(len(frame)) % 3, won=won)
    rows.to_parquet("w.parquet")
    words = ["--proba", "p", *ALONG[2:], "--weight", "w", "--group", "series"]
    words += ["--classes", "false,true", "--calibrator", "temperature", "--curve", "spline"]
    said, models = fits("w.parquet", *words)
    assert_same(models, frame, columns=("p",), time=day.to_numpy())
    assert without_passes(said[1]) == without_passes(said[0])


def test_three_classes(folder, fits):
    random = np.random.default_rng(0)
    z = random.normal(size=(600, 3))
    frame = pd.DataFrame(z, columns=["a", "b", "c"])
    frame["y"] = np.array(["h", "d", "a"])[(z + random.gumbel(size=z.shape)).argmax(axis=1)]
    frame.assign(g=np.arange(600) // 6).to_parquet("k.parquet")
    words = ("--logits", "a,b,c", "--label", "y", "--group", "g", "--calibrator", "vector")
    _, models = fits("k.parquet", *words)
    assert_same(models, frame, columns=("a", "b", "c"))


def test_a_comparison(folder, both):
    words = ("--calibrator", "temperature", "--curve", "constant", "--curve", "spline", "--json")
    small, huge = both("compare", "predictions.parquet", *ALONG, *words)
    for here, there in zip(
        *(json.loads(one.out)["candidates"] for one in (small, huge)), strict=True
    ):
        assert there["name"] == here["name"]
        assert there["nll"] == pytest.approx(here["nll"], rel=1e-9)
        assert there["verdict"] == here["verdict"]


def test_passes_are_reported(folder, run, as_large, monkeypatch):
    reported = []

    @contextmanager
    def show_progress(doing):
        yield lambda text: reported.append(f"{doing}: {text}")

    monkeypatch.setattr(large, "show_progress", show_progress)
    as_large(True)
    run("fit", "predictions.parquet", *COLUMNS, "-o", "m.json")
    assert reported[0] == "Fitting: pass 1: looking for labels"
    assert any("summing over all rows" in one for one in reported)
    assert [int(one.split()[2][:-1]) for one in reported] == list(range(1, len(reported) + 1))


def test_rows_without_a_sequence_cannot_be_compared(folder, refused, as_large):
    as_large(True)
    said = refused("fit", "predictions.csv", *COLUMNS[:4], "--time", "t", "-o", "m.json")
    assert "name the column of the sequence ids with --sequence" in said
    assert not (folder / "m.json").exists()


def test_what_is_wrong_is_said_as_of_small_files(folder, refused, as_large, frame):
    frame.assign(z=frame["p"]).to_parquet("a.parquet")
    frame.assign(won=1).to_parquet("b.parquet")
    for file in ("a.parquet", "b.parquet", "gone.parquet"):
        said = []
        for on in (False, True):
            as_large(on)
            said.append(refused("fit", file, *ALONG, "-o", "m.json"))
        assert said[0] == said[1]

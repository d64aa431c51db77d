"""What is committed can be made again without training."""

import numpy as np
import pytest
from experiments.catalog import EXPERIMENTS
from experiments.predictions import read_predictions
from experiments.results import HERE, PAPER, Result, read_results
from experiments.scores import score
from experiments.tables import write_tables

COMMITTED = read_results(HERE)


# Results of these are those of the splines of 0.1. New ones would need the predictions of all
# seeds, of which only those of the first are committed.
WITH_SPLINES = {"Temperature, spline", "Slope and bias, spline", "Auto", "Surface (round, score)"}


def test_there_are_results():
    assert COMMITTED
    assert not any(result.about["made_up"] for result in COMMITTED.values())


# Every method of one experiment and the first three of the others; in `make test-slow`, of all.
@pytest.mark.parametrize(
    "every_method", [["rounds"], pytest.param(list(COMMITTED), marks=pytest.mark.slow)]
)
def test_tables_to_the_byte_from_the_predictions(every_method, tmp_path):
    """Predictions of the first seed are scored anew; those of the others are not committed."""
    again = {}
    for name, result in COMMITTED.items():
        experiment = EXPERIMENTS[name]
        rows = read_predictions(HERE / "predictions" / f"{name}.parquet")
        methods = experiment.methods if name in every_method else experiment.methods[:3]
        first = score(rows, methods, steps=experiment.steps)
        for method, found in first["methods"].items():
            expected = result.seeds[0]["methods"][method]
            if method in WITH_SPLINES:
                assert abs(found["nll"] - expected["nll"]) < 1e-3
                continue
            for what in ("nll", "overall_ece", "accuracy", "ece", "floor"):
                np.testing.assert_allclose(found[what], expected[what], atol=2e-6)
        same = {name: one for name, one in first["methods"].items() if name not in WITH_SPLINES}
        first["methods"] = result.seeds[0]["methods"] | same
        again[name] = Result(experiment, result.about, [first, *result.seeds[1:]])
    write_tables(again, tmp_path)
    assert (tmp_path / "tables.md").read_bytes() == (HERE / "tables.md").read_bytes()


def test_tables_to_the_byte_from_the_scores(tmp_path):
    write_tables(COMMITTED, tmp_path)
    for name in ("tables.md", "tables.json"):
        assert (tmp_path / name).read_bytes() == (HERE / name).read_bytes()


def test_the_files_are_small():
    sizes = [path.stat().st_size for path in (HERE / "predictions").iterdir()]
    assert sum(sizes) < 6_000_000


# Rows of the paper's tables that its figures do not give.
DIFFERENT_MEAN = {("amazon-dan", "Temporal temperature")}
DIFFERENT_SPREAD = DIFFERENT_MEAN | {
    ("rounds", "No calibration"),
    ("rounds", "Global temperature"),
    ("rounds", "Temporal (round)"),
}
ROWS = [(name, method) for name, one in PAPER.items() for method in one["table"]]


@pytest.mark.parametrize("row", ROWS)
def test_the_papers_ece_is_the_mean_and_the_spread_over_the_stretches_of_its_figures(row):
    name, method = row
    mean, spread = PAPER[name]["table"][method]["ece"]
    errors = np.array(PAPER[name]["over_length"][method]["ece"])
    assert (abs(errors.mean() - mean) < 1e-3) != (row in DIFFERENT_MEAN)
    assert (abs(errors.std() - spread) < 7.5e-4) != (row in DIFFERENT_SPREAD)

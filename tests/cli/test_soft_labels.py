"""`--soft-label` does what soft_label=True does in the Python API."""

import json

import numpy as np
import pandas as pd
import pytest

import tempocal as tc
from tempocal.metrics import brier, ece, nll

VOTES = 5


@pytest.fixture
def voted(folder, frame):
    """A file with shares of votes, and what it holds."""
    rng = np.random.default_rng(0)
    soft = frame.assign(share=rng.binomial(VOTES, frame["p"]) / VOTES)
    soft["other"] = 1.0 - soft["share"]
    soft["run"] = soft.groupby("match")["share"].transform("first")
    soft.to_csv("soft.csv", index=False)
    return soft


COLUMNS = ("--logits", "z", "--label", "share", "--time", "t", "--sequence", "match")
FIT = (*COLUMNS, "--soft-label", "--label-varies", "--calibrator", "platt", "--curve", "spline")


def test_a_fit_is_that_of_the_api(voted, run):
    run("fit", "soft.csv", *FIT, "-o", "model.json")
    z, p, t = (voted[name].to_numpy() for name in ("z", "share", "t"))
    cal = tc.TemporalCalibrator(tc.PlattScaling(), tc.Spline())
    cal.fit(z, p, time=t, groups=voted["match"].to_numpy(), soft_label=True)
    found = tc.load("model.json").predict_proba(z, time=t)
    np.testing.assert_array_equal(found, cal.predict_proba(z, time=t))


def test_classes_have_a_column_each(voted, run):
    words = ["--logits", "z", "--label", "other, share", "--soft-label", "--classes", "no,yes"]
    said = run("fit", "soft.csv", *words, "-o", "model.json").out
    loaded = tc.load("model.json")
    assert loaded.classes_.tolist() == ["no", "yes"]
    assert f"fitted to {len(voted)} rows" in said
    cal = tc.TemperatureScaling().fit(
        voted["z"], voted[["other", "share"]].to_numpy(), soft_label=True
    )
    assert loaded.temperature_ == cal.temperature_


def test_rows_of_sequences_with_one_soft_label_learn_from_forecasts(voted, run):
    words = [
        "--label",
        "run",
        "--td-horizon",
        "0.2",
        "--calibrator",
        "platt",
        "--curve",
        "constant",
    ]
    columns = ("--logits", "z", "--time", "t", "--sequence", "match", "--soft-label")
    said = run("fit", "soft.csv", *columns, *words, "-o", "model.json").out
    assert "td horizon: 0.2 of a sequence" in said


def test_evaluation_is_that_of_the_api(voted, run):
    run("fit", "soft.csv", *FIT, "-o", "model.json")
    words = (*COLUMNS, "--soft-label", "--label-varies", "--model", "model.json", "--bins", "4")
    found = json.loads(run("evaluate", "soft.csv", *words, "--json").out)
    assert found["rows"] == len(voted)
    z, t, p = (voted[name].to_numpy() for name in ("z", "t", "share"))
    calibrated = tc.load("model.json").predict_proba(z, time=t)
    for one, proba in zip(found["predictions"], (1 / (1 + np.exp(-z)), calibrated), strict=True):
        for name, metric in (("nll", nll), ("brier", brier), ("ece", ece)):
            want = float(metric(p, proba, soft_label=True))
            assert one[name]["value"] == pytest.approx(want, abs=1e-12)
            assert one[name]["upper"] > want
        table = pd.DataFrame(one["ece_over_time"]["stretches"])
        assert table["rows"].sum() == len(voted)
        assert table["sequences"].max() <= voted["match"].nunique()


def test_without_sequences_rows_are_independent(voted, run):
    words = ["--logits", "z", "--label", "share", "--soft-label", "--json"]
    found = json.loads(run("evaluate", "soft.csv", *words).out)["predictions"][0]
    p = voted["share"].to_numpy()
    loss = -(p * np.log(voted["p"]) + (1 - p) * np.log(1 - voted["p"]))
    error = loss.std(ddof=0) / np.sqrt(len(voted))
    half = (found["nll"]["upper"] - found["nll"]["lower"]) / 2
    assert half == pytest.approx(1.96 * error, rel=0.02)


REFUSED = {
    "varies": (COLUMNS[:-2], ("--sequence", "match"), "changes within sequence"),
    "classes": (("--logits", "z", "--label", "won"), (), None),
    "isotonic": (COLUMNS[:4], ("--calibrator", "isotonic"), "--soft-label is for calibrators with"),
    "outside": (("--logits", "z", "--label", "z"), (), "both name the column"),
    "above": (("--logits", "z", "--label", "t"), (), "--label must lie in [0, 1], but row"),
    "sums": (("--logits", "z", "--label", "share,p"), (), "the rows of --label must sum to 1"),
    "three": (("--logits", "z", "--label", "share,other,p"), (), "--label has 3 columns"),
    "no such": (("--logits", "z", "--label", "share,nothing"), (), "nothing"),
}


@pytest.mark.usefixtures("voted")
@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused(run, refused, case):
    columns, more, said = REFUSED[case]
    words = ("fit", "soft.csv", *columns, *more, "--soft-label", "-o", "model.json")
    if said is None:
        run(*words)  # certain labels are soft labels too
    else:
        assert said in refused(*words)


def test_shares_are_not_classes(voted, refused):
    words = ("--logits", "z", "--label", "share")
    assert "--soft-label" in refused("fit", "soft.csv", *words, "-o", "model.json")


@pytest.mark.usefixtures("voted")
class TestEveryCommand:
    WORDS = (*COLUMNS, "--soft-label", "--label-varies")

    def test_comparisons(self, voted, run):
        names = ("--calibrator", "temperature", "--curve", "spline", "--json")
        said = run("compare", "soft.csv", *self.WORDS, *names).out
        pair = (tc.TemperatureScaling(), tc.Spline())
        z, p, t, match = (voted[name].to_numpy() for name in ("z", "share", "t", "match"))
        auto = tc.AutoTemporalCalibrator([pair])
        auto.fit(z, p, time=t, groups=match, soft_label=True)
        found = [one["nll"] for one in json.loads(said)["candidates"]]
        assert found == pytest.approx([one.nll for one in auto.comparison_], abs=1e-12)

    def test_reports(self, voted, run, as_large):
        z, p, t, match = (voted[name].to_numpy() for name in ("z", "share", "t", "match"))
        wanted = tc.assess(z, p, time=t, sequence=match, soft_label=True).verdict.headline
        for large in (False, True):
            as_large(large)
            said = run("report", "soft.csv", *self.WORDS, "-o", "report.html").out
            assert said.startswith(wanted)

    def test_large_files(self, voted, run, as_large):
        words = (*self.WORDS, "--calibrator", "platt", "--curve", "spline", "-q")
        found = []
        for large in (False, True):
            as_large(large)
            run("fit", "soft.csv", *words, "-o", f"{large}.json")
            model = tc.load(f"{large}.json")
            z, t = voted["z"].to_numpy(), voted["t"].to_numpy()
            scores = json.loads(run("evaluate", "soft.csv", *self.WORDS, "--json").out)
            assert scores["rows"] == len(voted)
            raw = scores["predictions"][0]
            values = [raw[name]["value"] for name in ("nll", "brier", "ece")]
            found.append([*model.predict_proba(z, time=t)[:, 1], *values])
        assert found[1] == pytest.approx(found[0], abs=1e-9)

    def test_large_files_of_whole_sequences_learn_from_forecasts(self, voted, run, as_large):
        words = ["--logits", "z", "--time", "t", "--sequence", "match", "--label", "other,share"]
        voted["share"] = voted["run"]
        voted.assign(other=1.0 - voted["run"]).to_parquet("whole.parquet")
        names = ("--soft-label", "--calibrator", "platt", "--curve", "spline", "-o", "m.json")
        said = []
        for large in (False, True):
            as_large(large)
            out = run("fit", "whole.parquet", *words, *names).out
            said.append(next(line for line in out.splitlines() if "td horizon:" in line))
        assert said[0] == said[1]

    def test_large_files_that_vary(self, refused, as_large):
        as_large(True)
        said = refused("evaluate", "soft.csv", *COLUMNS, "--soft-label")
        assert "changes within sequence" in said
        words = ("--logits", "z", "--label", "t", "--soft-label")
        assert "must be probabilities" in refused("evaluate", "soft.csv", *words)

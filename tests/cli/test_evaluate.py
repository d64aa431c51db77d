"""`evaluate` and `compare` show the numbers of the Python API."""

import json

import numpy as np
import pandas as pd
import pytest

import tempocal as tc
from tempocal.metrics import brier, ece, gain, gain_over_time, nll, over_time, with_interval

COLUMNS = ("--logits", "z", "--label", "won", "--time", "t", "--sequence", "match")


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_the_numbers_are_those_of_the_api(folder, run, frame, ending, model):
    words = ["evaluate", f"predictions.{ending}", *COLUMNS, "--model", model, "--bins", "4"]
    found = json.loads(run(*words, "--json").out)
    assert (found["rows"], found["sequences"], found["groups"]) == (len(frame), 60, None)
    z, t, y = (frame[name].to_numpy() for name in ("z", "t", "won"))
    groups = frame["match"].to_numpy()
    raw = tc.Identity().fit(z, y).predict_proba(z)
    calibrated = tc.load(model).predict_proba(z, time=t)
    assert [one["name"] for one in found["predictions"]] == ["raw", "calibrated"]
    for one, proba in zip(found["predictions"], (raw, calibrated), strict=True):
        for name, metric in (("nll", nll), ("brier", brier), ("ece", ece)):
            want = with_interval(metric, y, proba, groups=groups)
            assert one[name]["value"] == pytest.approx(float(want), abs=1e-12)
            assert one[name]["upper"] == pytest.approx(want.upper, abs=1e-9)
            assert one[name]["floor"] == pytest.approx(want.floor, abs=1e-9)
        table = over_time(ece, y, proba, t, bins=4, groups=groups)
        stretches = one["ece_over_time"]["stretches"]
        np.testing.assert_allclose([row["value"] for row in stretches], table.value)
        np.testing.assert_array_equal([row["rows"] for row in stretches], table.rows)
        assert one["ece_over_time"]["mean"]["value"] == pytest.approx(float(table.mean))


def test_no_ece_stands_without_its_floor_and_its_profile(folder, run):
    said = run("evaluate", "predictions.csv", *COLUMNS, "--bins", "3").out
    lines = said.splitlines()
    assert any(line.split()[:1] == ["NLL"] for line in lines)
    assert sum("its floor" in line for line in lines) == 2
    assert any(line.startswith("Along time: top-label ECE") for line in lines)
    start = next(k for k, line in enumerate(lines) if "raw ECE" in line)
    assert len([line for line in lines[start + 2 :] if line.strip()]) == 3
    without = run("evaluate", "predictions.csv", "--logits", "z", "--label", "won")
    assert "ECE" not in without.out
    assert "name the column of times with --time" in without.err
    assert "without --sequence rows are taken as independent" in without.err


def test_a_limit_can_be_set(folder, run, refused, model, frame):
    """An error that may be chance is not above it; one of far too sure predictions is."""
    words = ["--max-ece", "0.001"]
    run("evaluate", "predictions.csv", *COLUMNS, *words)
    frame.assign(z=8 * frame["z"]).to_csv("sure.csv", index=False)
    said = refused("evaluate", "sure.csv", *COLUMNS, *words, code=4)
    assert said.startswith("the ECE over time of the raw predictions is 0.")
    run("evaluate", "sure.csv", *COLUMNS, "--max-ece", "0.9")
    said = refused("evaluate", "sure.csv", *COLUMNS, "--model", model, *words, code=4)
    assert "of the calibrated predictions" in said
    said = refused("evaluate", "sure.csv", *COLUMNS, "--max-ece", "nan", code=2)
    assert said == "Invalid value for '--max-ece': nan is not a number."
    words = ["--logits", "z", "--label", "won", "--max-ece", "0.1"]
    assert "--time" in refused("evaluate", "predictions.csv", *words, code=2)


def test_a_global_model_is_evaluated_along_time_too(folder, run, frame):
    tc.TemperatureScaling().fit(frame["z"], frame["won"]).save("global.json")
    said = run("evaluate", "predictions.csv", *COLUMNS, "--model", "global.json").out
    assert "calibrated ECE" in said


def test_models_that_do_not_go_with_the_rows(folder, refused, model, frame):
    words = ["--proba", "p", "--label", "won", "--time", "t", "--model", model]
    assert "with --logits instead of --proba" in refused("evaluate", "predictions.csv", *words)
    words = ["--logits", "z", "--label", "won", "--model", model]
    assert "name the column of times with --time" in refused("evaluate", "new.csv", *words)
    words = [*COLUMNS, "--model", model, "--classes", "1,0"]
    assert "the classes of the model are [0, 1]" in refused("evaluate", "new.csv", *words)
    frame.assign(won=frame["won"] + 5).to_csv("other.csv", index=False)
    said = refused("evaluate", "other.csv", *COLUMNS, "--model", model)
    assert "holds the label 5, which is not among the classes [0, 1]" in said
    surface = tc.Surface(tc.ExponentialDecay(), tc.Spline(intervals=1, smoothness=1.0))
    two = tc.TemporalCalibrator(tc.TemperatureScaling(shrinkage=1.0), surface)
    two.fit(frame["z"], frame["won"], time=frame[["t", "series"]].to_numpy(float)).save("two.json")
    said = refused("evaluate", "new.csv", *COLUMNS, "--model", "two.json")
    assert said.startswith("the model has two clocks")


def test_dates_stand_in_the_table(folder, run, frame):
    day = pd.Timestamp("2026-05-01") + pd.to_timedelta(frame["t"], "D")
    frame.assign(t=day.dt.strftime("%Y-%m-%d")).to_csv("dated.csv", index=False)
    said = run("evaluate", "dated.csv", *COLUMNS, "--bins", "3")
    assert "2026-05-01" in said.out
    found = json.loads(run("evaluate", "dated.csv", *COLUMNS, "--bins", "3", "--json").out)
    first = found["predictions"][0]["ece_over_time"]["stretches"][0]
    assert first["time_from"].startswith("2026-05-01")


def test_certain_and_wrong_is_said_and_not_a_crash(folder, run):
    rows = "z,y,t\n" + "inf,0,1\n-1,1,2\n2,1,3\n" * 20
    (folder / "a.csv").write_text(rows)
    words = ["--logits", "z", "--label", "y", "--time", "t"]
    said = run("evaluate", "a.csv", *words)
    assert "inf (inf to inf)" in said.out
    assert "the NLL of the raw predictions is infinite" in said.err
    found = json.loads(run("evaluate", "a.csv", *words, "--json").out)["predictions"][0]
    assert found["nll"]["value"] is None  # JSON has no infinity
    assert found["brier"]["value"] < 2.0


@pytest.mark.parametrize("size", [50.0, 800.0])
def test_logits_of_any_size_cost_what_they_say_at_both_doors(folder, run, size):
    z, y = np.array([size, -size, size, 0.5] * 10), np.array([1, 0, 0, 1] * 10)
    pd.DataFrame({"z": z, "y": y}).to_csv("a.csv", index=False)
    found = json.loads(run("evaluate", "a.csv", "--logits", "z", "--label", "y", "--json").out)
    want = nll(y, z, inputs="logits")
    assert found["predictions"][0]["nll"]["value"] == pytest.approx(want, rel=1e-14)
    assert want == pytest.approx((size + np.log1p(np.exp(-0.5))) / 4, rel=1e-14)


def test_a_certain_probability_that_was_wrong_is_infinite_at_both_doors(folder, run):
    pd.DataFrame({"p": [1.0, 0.0, 0.3] * 10, "y": [0, 0, 1] * 10}).to_csv("a.csv", index=False)
    said = run("evaluate", "a.csv", "--proba", "p", "--label", "y")
    assert "inf" in said.out
    assert "had probability 0" in said.err
    assert nll([0, 0, 1], [1.0, 0.0, 0.3]) == np.inf


def test_the_gain_of_a_model_is_the_one_of_the_api(folder, run, frame, model):
    words = ["evaluate", "predictions.csv", *COLUMNS, "--model", model, "--bins", "4"]
    found = json.loads(run(*words, "--json").out)["gain"]
    z, t, y = (frame[name].to_numpy() for name in ("z", "t", "won"))
    groups = frame["match"].to_numpy()
    after = tc.load(model).predict_proba(z, time=t)
    kinds = {"inputs": ("logits", "proba"), "groups": groups}
    for name, metric in (("nll", nll), ("brier", brier)):
        want = gain(metric, y, z, after, **kinds)
        assert found[name]["value"] == pytest.approx(float(want), abs=1e-12)
        assert found[name]["lower"] == pytest.approx(want.lower, abs=1e-12)
    table = gain_over_time(nll, y, z, after, t, bins=4, **kinds)
    stretches = found["nll_over_time"]["stretches"]
    for name in ("value", "lower", "upper_all"):
        np.testing.assert_allclose([row[name] for row in stretches], table.columns()[name])
    assert [row["effect"] for row in stretches] == table.effect.tolist()
    said = run(*words).out
    assert "Along time: gain in NLL" in said
    assert all(sentence in said for sentence in found["sentences"])


def test_a_model_that_hurts_is_told_so(folder, run, frame):
    tc.TemperatureScaling().fit(0.25 * frame["z"], frame["won"]).save("wrong.json")
    said = run("evaluate", "predictions.csv", *COLUMNS, "--model", "wrong.json", "--bins", "2").out
    assert "the model surely hurts" in said
    # Of 60 sequences no stretch is called sure.
    assert "At no time is it sure to help or to hurt." in said


def test_compare_shows_the_comparison(folder, run, frame):
    words = ["compare", "predictions.parquet", *COLUMNS, "--calibrator", "temperature"]
    found = json.loads(run(*words, "--curve", "constant", "--curve", "spline", "--json").out)
    z, y, t = (frame[name].to_numpy() for name in ("z", "won", "t"))
    auto = tc.AutoTemporalCalibrator(
        [(tc.TemperatureScaling(), tc.Constant()), (tc.TemperatureScaling(), tc.Spline())]
    ).fit(z, y, time=t, sequence=frame["match"].to_numpy())
    assert found["groups"] == 60
    for one, want in zip(found["candidates"], auto.comparison_.to_dicts(), strict=True):
        assert {**one, "seconds": 0} == {**want, "seconds": 0}
    said = run(*words, "--curve", "constant").out
    assert "TemperatureScaling, Constant" in said
    assert "averaged, with the largest weight" in said


def test_compare_of_all_candidates(folder, run, refused):
    said = run("compare", "predictions.csv", *COLUMNS[:6])
    assert (
        sum("Scaling, " in line or "Calibration, " in line for line in said.out.splitlines()) == 12
    )
    assert "none of this can be trusted" in said.err
    words = ["--logits", "z", "--label", "won"]
    assert "--time" in refused("compare", "predictions.csv", *words, code=2)

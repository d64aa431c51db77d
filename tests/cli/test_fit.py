"""`fit` does what the Python API does with the same columns."""

import json

import numpy as np
import pandas as pd
import pytest

import tempocal as tc
from tempocal.cli.choices import CALIBRATORS, CURVES

COLUMNS = ("--logits", "z", "--label", "won", "--time", "t", "--sequence", "match")
pytestmark = pytest.mark.filterwarnings("ignore::tempocal.errors.AtBoundWarning")


def content(path):
    """What a model says, but for the seconds that it took."""
    cal = tc.load(path)
    best = getattr(cal, "best_", cal)
    return best.map_, cal.classes_.tolist(), best.inputs


def same(path, cal, frame, time=True):
    loaded = tc.load(path)
    keywords = {"time": frame["t"].to_numpy()} if time else {}
    z = frame["z"].to_numpy()
    np.testing.assert_array_equal(
        loaded.predict_proba(z, **keywords), cal.predict_proba(z, **keywords)
    )
    return loaded


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_auto_is_the_default(ending, folder, run, frame):
    said = run("fit", f"predictions.{ending}", *COLUMNS, "-o", "model.json").out
    z, y, t = (frame[name].to_numpy() for name in ("z", "won", "t"))
    auto = tc.AutoTemporalCalibrator().fit(z, y, time=t, sequence=frame["match"].to_numpy())
    loaded = same("model.json", auto, frame)
    assert loaded.comparison_.chosen.name == auto.comparison_.chosen.name
    assert "of 13 candidates" in said
    assert "Saved to model.json" in said


@pytest.mark.parametrize("name", CALIBRATORS)
def test_every_calibrator_can_be_named(name, folder, run, frame):
    columns = ("--logits", "z", "--label", "won", "--sequence", "match")
    run("fit", "predictions.csv", *columns, "--calibrator", name, "-o", "model.json")
    cal = getattr(tc, CALIBRATORS[name])()
    cal.fit(frame["z"].to_numpy(), frame["won"].to_numpy(), groups=frame["match"].to_numpy())
    assert type(same("model.json", cal, frame, time=False)) is type(cal)


@pytest.mark.parametrize("name", CURVES)
def test_every_curve_can_be_named(name, folder, run, frame):
    run(
        "fit", "predictions.csv", *COLUMNS, "--calibrator", "platt", "--curve", name, "-o", "m.json"
    )
    cal = tc.TemporalCalibrator(tc.PlattScaling(), getattr(tc, CURVES[name])())
    z, y, t = (frame[name].to_numpy() for name in ("z", "won", "t"))
    cal.fit(z, y, time=t, sequence=frame["match"].to_numpy())
    same("m.json", cal, frame)


def test_what_is_left_open_is_compared(folder, run):
    run("fit", "predictions.csv", *COLUMNS, "--calibrator", "temperature", "-o", "m.json", "-q")
    names = {one.name for one in tc.load("m.json").comparison_}
    assert len(names) == 5
    assert "TemperatureScaling, Spline" in names
    run("fit", "predictions.csv", *COLUMNS, "--curve", "exponential", "-o", "m.json", "-q")
    names = {one.name for one in tc.load("m.json").comparison_}
    assert names == {
        "Identity",
        "TemperatureScaling, ExponentialDecay",
        "PlattScaling, ExponentialDecay",
        "BetaCalibration, ExponentialDecay",
    }


def test_a_bare_curve_of_the_logits_goes_per_step(folder, run):
    run("fit", "predictions.csv", *COLUMNS, "--calibrator", "isotonic", "-o", "m.json", "-q")
    assert tc.load("m.json").curve == tc.PerStep()


def test_temperature_is_the_default_without_time(folder, run):
    run("fit", "predictions.csv", "--proba", "p", "--label", "won", "-o", "model.json")
    loaded = tc.load("model.json")
    assert isinstance(loaded, tc.TemperatureScaling)
    assert loaded.inputs == "proba"


def test_several_classes_and_groups_and_weights(folder, run):
    rng = np.random.default_rng(0)
    z = rng.normal(size=(600, 3))
    frame = pd.DataFrame(z, columns=["home", "draw", "away"])
    frame["y"] = np.array(["h", "d", "a"])[(z + rng.gumbel(size=z.shape)).argmax(axis=1)]
    frame["w"], frame["g"] = rng.integers(1, 4, 600), rng.integers(0, 50, 600)
    frame.to_csv("k.csv", index=False)
    words = ["--label", "y", "--classes", "h,d,a", "--weight", "w", "--group", "g"]
    for logits in (
        ["--logits", "home,draw,away"],
        [*("--logits", "home"), *("--logits", "draw, away")],
    ):
        run("fit", "k.csv", *logits, *words, "--calibrator", "vector", "-o", "m.json")
        loaded = tc.load("m.json")
        cal = tc.VectorScaling(classes=["h", "d", "a"])
        cal.fit(z, frame["y"], sample_weight=frame["w"], groups=frame["g"])
        np.testing.assert_array_equal(loaded.predict_proba(z), cal.predict_proba(z))


def test_dates_are_times(folder, run, frame):
    day = pd.Timestamp("2026-05-01") + pd.to_timedelta(frame["t"], "D")
    frame.assign(t=day.dt.strftime("%Y-%m-%d")).to_csv("dated.csv", index=False)
    run(
        "fit",
        "dated.csv",
        *COLUMNS,
        "--calibrator",
        "temperature",
        "--curve",
        "spline",
        "-o",
        "m.json",
    )
    assert tc.load("m.json").time_kinds_ == ("datetime",)


def test_a_name_with_a_comma_in_it_is_a_name(folder, run, frame):
    frame.rename(columns={"z": "z, raw"}).to_parquet("odd.parquet")
    words = ["--logits", "z, raw", "--label", "won", "-o", "m.json"]
    run("fit", "odd.parquet", *words)
    run("fit", "predictions.csv", "--logits", "z", *words[2:-1], "plain.json")
    z = frame["z"].to_numpy()
    odd, plain = (tc.load(name).predict_proba(z) for name in ("m.json", "plain.json"))
    np.testing.assert_array_equal(odd, plain)


def test_standard_input(folder, run):
    stdin = (folder / "predictions.csv").read_bytes()
    words = ["--logits", "z", "--label", "won", "-o"]
    run("fit", "-", *words, "one.json", stdin=stdin)
    run("fit", "predictions.csv", *words, "two.json")
    assert (folder / "one.json").read_bytes() == (folder / "two.json").read_bytes()
    stdin = (folder / "predictions.jsonl").read_bytes()
    run("fit", "-", "--format", "jsonl", *words, "three.json", stdin=stdin)
    assert (folder / "one.json").read_bytes() == (folder / "three.json").read_bytes()


def test_warnings_are_lines(folder, run, frame):
    frame.assign(w=1e-4).to_csv("light.csv", index=False)
    words = ["--logits", "z", "--label", "won", "--weight", "w", "-o", "m.json"]
    said = run("fit", "light.csv", *words).err
    assert said.startswith("Warning: --weight sums to")
    assert len(said.splitlines()) == 1


PLATT = ("--calibrator", "platt", "--curve", "spline")


def test_rows_learn_from_forecasts_in_the_order_of_the_time(folder, run, frame):
    frame.sample(frac=1.0, random_state=0).to_csv("mixed.csv", index=False)
    z, y, t, match = (frame[name].to_numpy() for name in ("z", "won", "t", "match"))
    cal = tc.TemporalCalibrator(tc.PlattScaling(), tc.Spline(), td_horizon=0.2)
    cal.fit(z, y, time=t, sequence=match)
    outcomes_only = tc.TemporalCalibrator(tc.PlattScaling(), tc.Spline())
    outcomes_only.fit(z, y, time=t, groups=match)
    for file in ("predictions.csv", "mixed.csv"):
        run("fit", file, *COLUMNS, *PLATT, "--td-horizon", 0.2, "-o", "m.json", "-q")
        found = tc.load("m.json").predict_proba(z, time=t)
        np.testing.assert_allclose(found, cal.predict_proba(z, time=t), atol=1e-9)
    assert np.abs(found - outcomes_only.predict_proba(z, time=t)).max() > 0.01
    for words in (["--td-horizon", "inf"], ["--order", "t", "--td-horizon", "inf"]):
        run("fit", "predictions.csv", *COLUMNS, *PLATT, *words, "-o", "m.json", "-q")
        same("m.json", outcomes_only, frame)


@pytest.mark.parametrize("large", [False, True])
def test_the_default_is_that_of_python(folder, run, frame, as_large, large):
    """With sequences "auto", without them outcomes only."""
    as_large(large)
    z, y, t, match = (frame[name].to_numpy() for name in ("z", "won", "t", "match"))
    cal = tc.TemporalCalibrator(tc.PlattScaling(), tc.Spline()).fit(z, y, time=t, sequence=match)
    assert np.isfinite(cal.td_horizon_)
    for words in ([], ["--order", "t"], ["--td-horizon", "auto"]):
        said = run("fit", "predictions.csv", *COLUMNS, *PLATT, *words, "-o", "m.json")
        assert "td horizon because: usual for" in said.out
        assert "Note" not in said.err
        found = tc.load("m.json").predict_proba(z, time=t)
        np.testing.assert_allclose(found, cal.predict_proba(z, time=t), atol=1e-9)
    words = COLUMNS[:6]
    run("fit", "predictions.csv", *words, *PLATT, "-o", "m.json", "-q")
    cal = tc.TemporalCalibrator(tc.PlattScaling(), tc.Spline()).fit(z, y, time=t)
    found = tc.load("m.json").predict_proba(z, time=t)
    np.testing.assert_allclose(found, cal.predict_proba(z, time=t), atol=1e-9)


def test_averages_and_comparisons_learn_as_in_python(folder, run, frame):
    z, y, t, match = (frame[name].to_numpy() for name in ("z", "won", "t", "match"))
    names = ("--calibrator", "temperature", "--curve", "spline")
    for words, horizon in (([], "auto"), (["--td-horizon", "0.2"], 0.2)):
        cal = tc.TemporalCalibrator(tc.TemperatureScaling(), tc.Spline(), td_horizon=horizon)
        auto = tc.AutoTemporalCalibrator([cal]).fit(z, y, time=t, sequence=match)
        said = run("compare", "predictions.csv", *COLUMNS, *names, *words, "--json").out
        found = json.loads(said)["candidates"]
        wanted = auto.comparison_.to_dicts()
        assert [one["nll"] for one in found] == pytest.approx([one["nll"] for one in wanted])
        run("fit", "predictions.csv", *COLUMNS, *names[:2], *words, "-o", "m.json", "-q")
    by_outcomes = [*words[:1], "inf"]
    said = run("compare", "predictions.csv", *COLUMNS, *names, *by_outcomes, "--json").out
    assert json.loads(said)["candidates"][0]["nll"] != pytest.approx(found[0]["nll"], abs=1e-9)


def test_reports_learn_as_fits_do(folder, run, frame):
    args = [frame[name].to_numpy() for name in ("z", "won")]
    named = {"time": frame["t"].to_numpy(), "sequence": frame["match"].to_numpy()}
    for words, horizon in (([], "auto"), (["--td-horizon", "inf"], np.inf)):
        said = run("report", "predictions.csv", *COLUMNS, *words, "-o", "report.html").out
        found = tc.assess(*args, **named, td_horizon=horizon)
        assert said.startswith(found.verdict.headline)


def test_an_order_puts_the_rows_of_a_sequence_in_order(folder, run, frame):
    """Where the time does not: it counts down."""
    frame = frame.assign(left=30 - frame["t"])
    frame.to_csv("left.csv", index=False)
    words = ["--logits", "z", "--label", "won", "--time", "left", "--sequence", "match"]
    run("fit", "left.csv", *words, *PLATT, "--order", "t", "--td-horizon", 0.2, "-o", "m.json")
    z, y, left = (frame[name].to_numpy() for name in ("z", "won", "left"))
    cal = tc.TemporalCalibrator(tc.PlattScaling(), tc.Spline(), td_horizon=0.2)
    cal.fit(z, y, time=left, sequence=frame["match"].to_numpy(), order=frame["t"].to_numpy())
    same("m.json", cal, frame.assign(t=left))


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_rows_of_large_files_learn_from_forecasts(folder, run, frame, as_large, ending):
    as_large(True)
    frame = frame.assign(left=30.0 - frame["t"])
    mixed = frame.sample(frac=1.0, random_state=0)
    write = mixed.to_csv if ending == "csv" else mixed.to_parquet
    write(f"mixed.{ending}", index=False)
    z, y, t, left, match = (frame[name].to_numpy() for name in ("z", "won", "t", "left", "match"))
    cal = tc.TemporalCalibrator(tc.PlattScaling(), tc.Spline(), td_horizon=0.2)
    for name, time in (("t", t), ("left", left)):
        words = ["--logits", "z", "--label", "won", "--time", name, "--sequence", "match"]
        order = [] if name == "t" else ["--order", "t"]
        run("fit", f"mixed.{ending}", *words, *order, *PLATT, "--td-horizon", 0.2, "-o", "m.json")
        wanted = cal.fit(z, y, time=time, sequence=match, order=t).predict_proba(z, time=time)
        found = tc.load("m.json").predict_proba(z, time=time)
        np.testing.assert_allclose(found, wanted, atol=1e-9)


def test_times_that_are_no_order_need_none(folder, run, frame):
    """As in 0.1, where rows learn from outcomes only."""
    frame.assign(t=frame["t"] // 2).to_csv("ties.csv", index=False)
    frame.iloc[::-1].to_csv("newest_first.csv", index=False)
    for file in ("ties.csv", "newest_first.csv"):
        run("fit", file, *COLUMNS, *PLATT, "-o", "m.json")
        rows = pd.read_csv(file)
        z, y, t, match = (rows[name].to_numpy() for name in ("z", "won", "t", "match"))
        cal = tc.TemporalCalibrator(tc.PlattScaling(), tc.Spline()).fit(z, y, time=t, groups=match)
        same("m.json", cal, rows)
        said = run("report", file, *COLUMNS, "-o", "report.html").err
        assert said.startswith("Note: fits learn from outcomes only, because --time does not put")


def test_a_fit_that_hurts_in_some_stretch_says_so(folder, run):
    """One temperature for all times: too sure early, right late, and so spoiled late."""
    m = tc.datasets.simulate_match(2000, seed=1)
    table = {"z": m.logits, "won": m.label, "t": m.time, "match": m.sequence}
    pd.DataFrame(table).to_csv("many.csv", index=False)
    words = ["fit", "many.csv", "--logits", "z", "--label", "won", "--time", "t"]
    words += ["--sequence", "match", "--calibrator", "temperature", "-o", "m.json"]
    said = run(*words, "--curve", "constant").out
    (line,) = [one for one in said.splitlines() if "surely hurts" in one]
    assert "the model, on its own rows, surely hurts: NLL higher by" in line
    assert float(line.split()[2]) > 10
    assert "hurts" not in run(*words, "--curve", "exponential").out
    assert "hurts" not in run(*words, "--curve", "constant", "--quiet").out

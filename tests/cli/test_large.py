"""`evaluate` of files that are not read into memory says what it says of small ones."""

import json
from contextlib import contextmanager

import numpy as np
import pandas as pd
import pytest

import tempocal as tc
from support.lanes import usually
from tempocal.cli import large

FORMATS = ("csv", "jsonl", "parquet")
COLUMNS = ("--logits", "z", "--label", "won", "--time", "t", "--sequence", "match")


def numbers_of(found):
    if isinstance(found, dict):
        return [number for part in found.values() for number in numbers_of(part)]
    if isinstance(found, list):
        return [number for part in found for number in numbers_of(part)]
    return [found]


def assert_same(small, large, rel=1e-8):
    here, there = numbers_of(json.loads(small.out)), numbers_of(json.loads(large.out))
    assert len(here) == len(there)
    for one, other in zip(here, there, strict=True):
        assert other == (pytest.approx(one, rel=rel, abs=1e-9) if isinstance(one, float) else one)


@pytest.mark.parametrize("ending", usually(FORMATS, lambda ending: ending != "jsonl"))
def test_the_numbers_are_the_same(folder, both, ending, model):
    words = ["evaluate", f"predictions.{ending}", *COLUMNS, "--model", model, "--bins", "4"]
    assert_same(*both(*words, "--json"))
    small, huge = both(*words)
    assert huge.out == small.out
    assert huge.err == small.err


def test_groups_weights_and_probabilities(folder, both, frame):
    frame.assign(w=np.arange(len(frame)) % 3).to_parquet("w.parquet")
    words = ["--proba", "p", "--label", "won", "--time", "t", "--weight", "w", "--json"]
    assert_same(*both("evaluate", "w.parquet", *words, "--sequence", "match", "--group", "series"))
    small, huge = both("evaluate", "w.parquet", *words)
    # Without sequences floors and noise are drawn in another way.
    one, other = (json.loads(each.out)["predictions"][0] for each in (small, huge))
    assert other["nll"]["value"] == pytest.approx(one["nll"]["value"], rel=1e-9)
    assert other["ece"]["floor"] == pytest.approx(one["ece"]["floor"], rel=0.2)


def test_names_keep_their_text(folder, both, frame):
    """1 and 01 are two sequences."""
    names = frame["match"].map(lambda k: f"0{k}" if k % 2 else str(k // 2 * 2 + 1))
    frame.assign(match=names).to_csv("names.csv", index=False)
    assert_same(*both("evaluate", "names.csv", *COLUMNS, "--bins", "2", "--json"))


LABELS = [["no", "yes"], ["false", "true"], ["1.0", "2.0"], [True, False]]


@pytest.mark.parametrize("labels", usually(LABELS, lambda labels: labels[0] in ("no", "1.0")))
def test_labels_are_words_whole_numbers_or_truth_values(folder, both, frame, labels):
    frame.assign(won=frame["won"].map(dict(enumerate(labels)))).to_csv("a.csv", index=False)
    small, huge = both("evaluate", "a.csv", *COLUMNS, "--bins", "2")
    assert small.out == huge.out
    listed = f"{labels[1]},{labels[0]}"
    small, huge = both("evaluate", "a.csv", *COLUMNS, "--bins", "2", "--classes", listed)
    assert small.out == huge.out


def test_truth_values_in_parquet(folder, both, frame):
    frame.assign(won=frame["won"] == 1).to_parquet("truth.parquet")
    small, huge = both("evaluate", "truth.parquet", *COLUMNS, "--bins", "2")
    assert small.out == huge.out


def test_dates(folder, both, frame):
    day = pd.Timestamp("2026-05-01") + pd.to_timedelta(frame["t"], "D")
    frame.assign(t=day.dt.strftime("%Y-%m-%d")).to_csv("dated.csv", index=False)
    frame.assign(t=day).to_parquet("dated.parquet")
    for file in ("dated.csv", "dated.parquet"):
        small, huge = both("evaluate", file, *COLUMNS, "--bins", "3")
        assert (huge.out, huge.err) == (small.out, small.err)
    apart = frame.assign(t=day + pd.to_timedelta(frame["match"] * 300, "D"))
    apart.to_parquet("apart.parquet")
    small, huge = both("evaluate", "apart.parquet", *COLUMNS, "--bins", "3")
    assert "time is the calendar here" in huge.err
    assert huge.err == small.err


def test_standard_input_and_three_classes(folder, both, as_large, run):
    text = (folder / "predictions.csv").read_bytes()
    assert_same(*both("evaluate", "-", *COLUMNS, "--json", stdin=text))
    random = np.random.default_rng(0)
    z = random.normal(size=(300, 3))
    rows = pd.DataFrame(z, columns=["a", "b", "c"]).assign(y=random.choice(["x", "y", "z"], 300))
    rows.assign(t=random.integers(0, 5, 300), g=np.arange(300) // 5).to_parquet("three.parquet")
    words = ["--logits", "a,b,c", "--label", "y", "--time", "t", "--sequence", "g"]
    assert_same(*both("evaluate", "three.parquet", *words, "--label-varies", "--json"))


def test_few_sequences_and_an_exchanged_class_are_worth_a_note(folder, both, frame):
    frame[frame["match"] < 3].assign(z=-frame["z"]).to_csv("few.csv", index=False)
    small, huge = both("evaluate", "few.csv", *COLUMNS, "--bins", "2")
    assert "with only 3 independent sequences" in huge.err
    assert "they fit class 0 better" in huge.err
    assert huge.err == small.err


def test_passes_are_reported(folder, run, as_large, monkeypatch):
    reported = []

    @contextmanager
    def show_progress(doing):
        yield lambda text: reported.append(f"{doing}: {text}")

    monkeypatch.setattr(large, "show_progress", show_progress)
    as_large(True)
    run("evaluate", "predictions.csv", *COLUMNS, "--bins", "2")
    assert reported[0] == "Reading predictions.csv: 556 rows"
    assert reported[1:3] == [
        "Measuring: pass 1: looking for labels",
        "Measuring: pass 2: looking at all rows",
    ]
    assert reported[-1].startswith(f"Measuring: pass {len(reported) - 1}: ")


def test_a_limit(folder, refused, as_large, frame):
    as_large(True)
    frame.assign(z=8 * frame["z"]).to_csv("sure.csv", index=False)
    said = refused("evaluate", "sure.csv", *COLUMNS, "--max-ece", "0.001", code=4)
    assert said.startswith("the ECE over time of the raw predictions is 0.")


def test_what_is_wrong_is_said(folder, refused, as_large, frame, model):
    as_large(True)

    def said(file, change, *words):
        changed = frame.assign(**change)
        changed.to_csv(file, index=False) if file.endswith("csv") else changed.to_parquet(file)
        return refused("evaluate", file, *COLUMNS, *words)

    half = np.arange(len(frame)) % 2
    text = frame["z"].astype(str).where(half == 1, "high")
    for file in ("a.csv", "a.parquet"):
        assert "all values lie in [0, 1]" in said(file, {"z": frame["p"]})
        assert "must be numbers, but row 1 has 'high'" in said(file, {"z": text})
        assert "changes within sequence" in said(file, {"won": half})
        assert "holds one class only" in said(file, {"won": 1})
        assert "holds 3 classes" in said(file, {"won": np.arange(len(frame)) % 3})
        assert "a group holds whole sequences" in said(file, {"series": half}, "--group", "series")
        assert "which --classes does not list" in said(file, {}, "--classes", "0,2")
        assert "0 to 1e20" in said(file, {"w": -1.0}, "--weight", "w")
        assert "the classes of the model are" in said(
            file, {}, "--model", model, "--classes", "1,0"
        )
    assert "no value in row 1" in said("a.csv", {"z": frame["z"].where(half == 1)})
    assert "must not be missing" in said("a.parquet", {"z": frame["z"].where(half == 1)})
    assert "did you mean 'won'" in refused("evaluate", "a.csv", *COLUMNS[:3], "win", *COLUMNS[4:])
    mixed = frame["t"].astype(str).where(half == 1, "2026-05-01")
    assert "--time: column 't'" in said("a.csv", {"t": mixed})


def test_a_step_that_the_model_does_not_know(folder, refused, as_large, frame):
    as_large(True)
    steps = tc.TemporalCalibrator(tc.TemperatureScaling(), tc.PerStep(unseen="error"))
    known = frame[frame["t"] < 5]
    steps.fit(known["z"], known["won"], time=known["t"], groups=known["match"]).save("steps.json")
    said = refused("evaluate", "predictions.parquet", *COLUMNS, "--model", "steps.json")
    assert "has no answer" in said


def test_names_of_files_are_not_patterns(folder, both):
    (folder / "predictions.parquet").rename(folder / "[a]*.parquet")
    assert_same(*both("evaluate", "[a]*.parquet", *COLUMNS, "--bins", "2", "--json"))

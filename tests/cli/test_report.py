"""`report` writes the page that the Python API writes of the same columns."""

import numpy as np
import pytest

from tempocal.assessment import assess
from tempocal.errors import InputError

COLUMNS = ("--logits", "z", "--label", "won", "--time", "t", "--sequence", "match")
pytestmark = pytest.mark.filterwarnings("ignore::tempocal.errors.AtBoundWarning")


def test_the_verdict_is_that_of_the_api(folder, run, frame, few_candidates):
    words = ["report", "predictions.csv", *COLUMNS, "--group", "series", "-o", "r.html"]
    said = run(*words, "--title", "May <1>").out
    z, y, t = (frame[name].to_numpy() for name in ("z", "won", "t"))
    sequence, groups = frame["match"].to_numpy(), frame["series"].to_numpy()
    found = assess(z, y, time=t, sequence=sequence, groups=groups, time_name="t")
    page = (folder / "r.html").read_text(encoding="utf-8")
    assert said == f"{found.verdict.headline}\nSaved to r.html\n"
    assert found.verdict.headline in page
    assert "tempocal report predictions.csv --logits z --label won --time t --sequence" in page
    assert "<title>May &lt;1&gt;" in page


@pytest.fixture
def given(monkeypatch):
    """What is passed to `assess`, which then fails."""
    passed = {}

    def fails(predictions, y, **keywords):
        passed.update(keywords, predictions=predictions, y=y)
        raise InputError("row 4 is odd")

    monkeypatch.setattr("tempocal.assessment.assess", fails)
    return passed


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_every_format_is_read_alike(folder, refused, frame, given, ending):
    (folder / "r.html").write_text("old")
    words = [*COLUMNS, "--group", "series", "--weight", "p", "--classes", "1,0", "--seed", "7"]
    assert refused("report", f"predictions.{ending}", *words, "-o", "r.html") == "row 5 is odd"
    assert (folder / "r.html").read_text() == "old"
    names = {"predictions": "z", "y": "won", "time": "t", "groups": "series"}
    for argument, name in {**names, "sequence": "match", "sample_weight": "p"}.items():
        np.testing.assert_array_equal(given[argument], frame[name])
    assert (given["inputs"], given["classes"], given["seed"]) == ("logits", [1, 0], 7)


def test_three_classes(folder, refused, frame, given):
    frame.assign(a=-1.0, b=2.0, c=0.5, won=np.arange(len(frame)) % 3).to_csv("k.csv", index=False)
    words = ["--logits", "a,b,c", *COLUMNS[2:], "--label-varies", "-o", "r.html"]
    refused("report", "k.csv", *words)
    assert given["predictions"].shape == (len(frame), 3)
    assert given["sequence"].tolist() == frame["match"].tolist()


def test_what_cannot_be_reported_is_refused(folder, refused, frame):
    words = ["--logits", "z", "--label", "won", "-o", "r.html"]
    said = refused("report", "predictions.csv", *words, code=2)
    assert said == "report needs a time: name its column with --time"
    frame[frame["match"] < 5].to_csv("few.csv", index=False)
    said = refused("report", "few.csv", *COLUMNS, "-o", "r.html")
    assert "there are only 5 groups" in said
    assert not (folder / "r.html").exists()


@pytest.fixture
def judged(folder, frame, few_candidates):
    """Predictions of which a second set is the truth of the first, and when each was made."""
    frame = frame.assign(
        second=frame["z"] * 0.5,
        part=np.where(frame["match"] % 3 == 0, "late", "early"),
        day=frame["match"] % 50,
    )
    frame.to_csv("judged.csv", index=False)
    return frame


def test_a_second_set_of_predictions_and_a_split_by_a_column(run, folder, judged):
    words = ["report", "judged.csv", *COLUMNS, "--versus", "second"]
    run(*words, "--split-column", "part=early,late", "-o", "r.html")
    z, y, t = (judged[name].to_numpy() for name in ("z", "won", "t"))
    found = assess(
        z,
        y,
        time=t,
        sequence=judged["match"].to_numpy(),
        versus=judged["second"].to_numpy(),
        split_column=judged["part"].to_numpy() == "late",
        time_name="t",
    )
    page = (folder / "r.html").read_text(encoding="utf-8")
    assert found.versus.words in page
    assert "by the given column" in page


def test_two_models_and_a_split_in_time(run, folder, judged):
    for name, rows in (("one", "0.5"), ("two", "inf")):
        run("fit", "judged.csv", *COLUMNS, "--calibrator", "temperature", "--curve", "spline",
            "--td-horizon", rows, "-o", f"{name}.json")  # fmt: skip
    words = ["report", "judged.csv", *COLUMNS, "--model", "one.json", "--versus", "two.json"]
    said = run(*words, "--split-in-time", "day", "-o", "r.html").out
    page = (folder / "r.html").read_text(encoding="utf-8")
    assert "The other model" in page or "the other model" in page
    assert "in time: fitted to those that began first" in page
    assert "The model&#39;s" in page or "No error" in said


def test_what_cannot_be_judged_is_refused(refused, judged):
    words = ["report", "judged.csv", *COLUMNS, "-o", "r.html"]
    both = refused(*words, "--split-in-time", "day", "--split-column", "part", code=2)
    assert both == "--split-in-time and --split-column both say how to split: give one"
    assert "has 'later' in" in refused(*words, "--split-column", "part=early,later")
    assert "COLUMN=FIT,EVALUATE" in refused(*words, "--split-column", "part=early")
    assert "must be True" in refused(*words, "--split-column", "day")
    assert "no column" in refused(*words, "--versus", "third")


def test_what_versus_names_is_said(folder, refused, model):
    (folder / "m.json").write_bytes(model.read_bytes())
    words = ("report", "predictions.csv", *COLUMNS, "-o", "page.html", "--versus")
    said = refused(*words, "p", "--model", "m.json", code=2)
    assert said == "with --model, --versus is a model file, and there is no file p"
    said = refused(*words, "m.json")
    assert said.startswith("--versus m.json is a file, and without --model it names columns")

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

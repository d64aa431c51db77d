"""`report` of files that are not read into memory shows what it shows of small ones."""

import json
import re

import pandas as pd
import pytest

import tempocal as tc
from tempocal.temporal import auto

COLUMNS = ("--logits", "z", "--label", "won", "--time", "t", "--sequence", "match")
pytestmark = pytest.mark.filterwarnings("ignore::tempocal.errors.AtBoundWarning")
JSON = re.compile(r"(<script[^>]*json[^>]*>)(.*?)(</script>)", re.DOTALL)


def assert_same(one, other, name=""):
    """Compare numbers to 1e-9; how long each candidate took is another matter."""
    if isinstance(one, dict):
        assert one.keys() == other.keys()
        for key in one.keys() - {"seconds"}:
            assert_same(one[key], other[key], key)
    elif isinstance(one, list):
        assert len(one) == len(other)
        for here, there in zip(one, other, strict=True):
            assert_same(here, there, name)
    elif isinstance(one, float):
        assert other == pytest.approx(one, rel=1e-9, abs=1e-9), name
    else:
        assert one == other, name


FEW = [
    (tc.Identity(), tc.Constant()),
    (tc.TemperatureScaling(), tc.Constant()),
    (tc.PlattScaling(), tc.Spline()),
]


@pytest.mark.parametrize(
    "candidates", [FEW, pytest.param(None, marks=pytest.mark.slow)], ids=["few", "all"]
)
def test_the_page_is_the_same(folder, as_large, run, monkeypatch, candidates):
    if candidates:
        monkeypatch.setattr(auto, "default_candidates", lambda n_classes: candidates)
    # With the ten groups of half of the series, strengths and rates run away together, and arrays
    # and tables stop at different ones of beta calibration along exponentials.
    m = tc.datasets.simulate_match(120, wins=6)
    columns = {"match": m.sequence, "series": m.sequence // 3, "t": m.time, "z": m.logits}
    pd.DataFrame({**columns, "won": m.label}).to_parquet(folder / "predictions.parquet")
    shown, numbers = [], []
    for on in (False, True):
        as_large(on)
        said = run("report", "predictions.parquet", *COLUMNS, "--group", "series", "-o", "r.html")
        assert said.out.endswith("Saved to r.html\n")
        page = (folder / "r.html").read_text(encoding="utf-8")
        numbers.append(json.loads(JSON.search(page)[2]))
        rounded = re.sub(r"\d+\.\d{4,}", lambda number: f"{float(number[0]):.3f}", page)
        # Names of clip paths are made of all digits of where they are.
        rounded = re.sub(r"\bp[0-9a-f]{10}\b", "path", rounded)
        shown.append(JSON.sub(r"\1\3", rounded))
    assert_same(*numbers)
    assert shown[1] == shown[0]


def test_it_needs_a_sequence(folder, refused, as_large):
    as_large(True)
    said = refused("report", "predictions.parquet", *COLUMNS[:6], "-o", "r.html")
    assert said.endswith("name the column of its ids with --sequence")
    assert not (folder / "r.html").exists()

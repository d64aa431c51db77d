"""Results in notebooks and as frames hold what is printed."""

from html.parser import HTMLParser

import numpy as np
import polars as pl
import pytest

import tempocal as tc


class Text(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.rows, self.is_row = [], False
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        if tag == "tr":
            self.rows.append([])
            self.is_row = True

    def handle_endtag(self, tag):
        self.is_row = self.is_row and tag != "tr"

    def handle_data(self, data):
        if self.is_row:
            self.rows[-1].append(data)


@pytest.fixture(scope="module")
def matches():
    return tc.datasets.simulate_match(120)


@pytest.fixture(scope="module")
def rows(matches):
    return {"time": matches.time, "groups": matches.sequence}


@pytest.fixture(scope="module")
def auto(matches, rows):
    candidates = [(tc.TemperatureScaling(), tc.Constant()), (tc.PlattScaling(), tc.Spline())]
    return tc.AutoTemporalCalibrator(candidates).fit(matches.logits, matches.label, **rows)


def test_of_a_summary(auto):
    summary = auto.summary()
    found = Text(summary._repr_html_()).rows
    assert ["weights", summary.details["weights"]] in found
    frame = summary.to_frame()
    assert len(frame) == 1
    assert frame["nll_after"][0] == summary.nll_after
    assert frame["gain"][0] == summary.details["gain"]


def test_of_a_comparison(auto):
    comparison = auto.comparison_
    found = Text(comparison._repr_html_()).rows
    assert found[0][:2] == ["candidate", "NLL"]
    assert [row[:2] for row in found[1:]] == [[one.name, f"{one.nll:.5f}"] for one in comparison]
    frame = comparison.to_frame("polars")
    assert frame.equals(pl.DataFrame(comparison.to_dicts()))


def test_of_a_table_over_time(matches, rows):
    proba = 1 / (1 + np.exp(-matches.logits))
    table = tc.metrics.over_time(tc.metrics.ece, matches.label, proba, bins=4, **rows)
    found = Text(table._repr_html_()).rows
    printed = [line.split() for line in str(table).splitlines()[1:6]]
    assert found[:5] == printed
    assert list(table.to_frame()["value"]) == list(table.value)
    reliability = tc.metrics.reliability_curve(matches.label, proba)
    assert len(Text(reliability._repr_html_()).rows) == 1 + len(reliability.count)
    assert list(reliability.to_frame()["count"]) == list(reliability.count)


def test_of_an_assessment(matches):
    found = tc.assess(
        matches.logits, matches.label, time=matches.time, sequence=matches.sequence, progress=False
    )
    text = found._repr_html_()
    assert found.verdict.headline in text
    assert [row[0] for row in Text(text).rows[1:]] == list(found.scores)
    frame = found.to_frame()
    assert list(frame["method"]) == list(found.scores)
    assert list(frame["nll"]) == [float(one.nll) for one in found.scores.values()]


def test_of_a_monitor(matches):
    proba = 1 / (1 + np.exp(-matches.logits))
    monitor = tc.live.Monitor([6, 12])
    where = {"time": matches.time, "sequence": matches.sequence}
    status = monitor.replay(proba, matches.label, **where).status()
    found = Text(status._repr_html_()).rows
    assert [row[0] for row in found[1:]] == [line.name for line in status.lines]
    assert status.notes[-1] in status._repr_html_().replace("&#x27;", "'")
    for library in ("pandas", "polars", "pyarrow"):
        frame = status.to_frame(library)
        assert list(frame["name"].to_pylist() if library == "pyarrow" else frame["name"]) == [
            line.name for line in status.lines
        ]


@pytest.mark.parametrize("name", ["metrics", "plots", "datasets", "sequences", "live"])
def test_dir_shows_what_is_public(name):
    module = getattr(tc, name)
    assert dir(module) == sorted(module.__all__)

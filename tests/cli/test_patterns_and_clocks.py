"""Columns by a pattern, two clocks, and what a fit says at its end."""

import shlex

import numpy as np
import pandas as pd
import pytest

import tempocal as tc
from cli.conftest import COLUMNS
from tempocal.temporal.calibrator import TemporalCalibrator

ROWS = ("--label", "won", "--time", "t", "--sequence", "match")


@pytest.fixture
def classes(folder):
    """Predictions of three classes, their columns in no order."""
    random = np.random.default_rng(0)
    n = 900
    logits = 2.0 * random.normal(size=(n, 3))
    proba = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    label = (random.random((n, 1)) > proba.cumsum(axis=1)).sum(axis=1).clip(max=2)
    names = np.array(["away", "draw", "home"])
    table = pd.DataFrame({f"z_{name}": logits[:, k] for k, name in enumerate(names)})
    table = table[["z_home", "z_away", "z_draw"]].assign(
        won=names[label], t=np.tile(np.arange(9), 100), match=np.repeat(np.arange(100), 9)
    )
    table["match"] = np.arange(n)  # a label of its own for each row
    table.to_csv("three.csv", index=False)
    return table


def test_a_pattern_is_the_columns_in_the_order_of_the_classes(classes, run):
    by_name = run("evaluate", "three.csv", "--logits", "z_away,z_draw,z_home", *ROWS)
    by_pattern = run("evaluate", "three.csv", "--logits", "z_*", *ROWS)
    assert by_pattern.out == by_name.out
    assert "--logits z_*: z_away, z_draw, z_home, in this order" in by_pattern.err
    listed = run("evaluate", "three.csv", "--logits", "z_*", *ROWS, "--classes", "home,draw,away")
    assert "z_home, z_draw, z_away, in this order" in listed.err


def test_apply_takes_the_order_of_the_model(classes, run):
    one = ("--calibrator", "vector", "--curve", "constant")
    order = ("--classes", "home,draw,away")
    run("fit", "three.csv", "--logits", "z_*", *ROWS, *order, *one, "-o", "m.json")
    words = ("apply", "m.json", "three.csv", "--time", "t")
    run(*words, "--logits", "z_*", "-o", "a.csv")
    run(*words, "--logits", "z_home,z_draw,z_away", "-o", "b.csv")
    pd.testing.assert_frame_equal(pd.read_csv("a.csv"), pd.read_csv("b.csv"))
    evaluated = ("evaluate", "three.csv", "--logits", "z_*", *ROWS, "--model", "m.json")
    assert "z_home, z_draw, z_away, in this order" in run(*evaluated).err


def test_numbers_are_sorted_as_numbers(folder, run):
    table = pd.DataFrame({f"p{k}": [1 / 11] * 44 for k in (10, *range(10))})
    table.assign(won=np.arange(44) % 11).to_csv("many.csv", index=False)
    said = run("evaluate", "many.csv", "--proba", "p*", "--label", "won").err
    assert f"--proba p*: {', '.join(f'p{k}' for k in range(11))}, in this order" in said


@pytest.mark.parametrize(
    ("pattern", "said"),
    [
        ("q_*", "--logits q_* matches no column. The columns are: z_home"),
        ("z_*_*", "a pattern has one star and no comma"),
        ("z_*,t", "a pattern has one star and no comma"),
    ],
)
def test_patterns_that_cannot_be_are_refused(classes, refused, pattern, said):
    assert said in refused("evaluate", "three.csv", "--logits", pattern, *ROWS)


@pytest.fixture
def two_clocks(folder, frame):
    table = frame.assign(lead=frame["p"].sub(0.5).abs())
    table.to_csv("two.csv", index=False)
    return table


@pytest.mark.parametrize(
    ("times", "curves"),
    [
        (("--time", "t", "--time", "lead"), ("--curve", "spline", "--curve", "constant")),
        (("--time", "t,lead"), ("--curve", "spline,constant")),
    ],
)
def test_two_clocks_are_fitted_and_applied(two_clocks, run, times, curves):
    rows = ("--logits", "z", "--label", "won", "--sequence", "match")
    one = ("--calibrator", "temperature", *curves, "-o", "m.json")
    run("fit", "two.csv", *rows, *times, *one)
    run("apply", "m.json", "two.csv", "--logits", "z", *times, "-o", "out.csv")
    surface = tc.Surface(tc.Spline(), tc.Constant())
    cal = TemporalCalibrator(tc.TemperatureScaling(), surface, td_horizon=np.inf)
    clocks = two_clocks[["t", "lead"]].to_numpy()
    cal.fit(two_clocks["z"], two_clocks["won"], time=clocks, groups=two_clocks["match"])
    found = pd.read_csv("out.csv")["calibrated"]
    expected = cal.predict_proba(two_clocks["z"], time=clocks)[:, 1]
    np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_without_a_curve_two_clocks_have_two_splines(two_clocks, run):
    rows = ("--logits", "z", "--label", "won", "--sequence", "match", "--time", "t,lead")
    said = run("fit", "two.csv", *rows, "--calibrator", "temperature", "-o", "m.json").out
    assert "Surface(" in said
    assert "--time t,lead" in said


@pytest.mark.parametrize("verb", ["evaluate", "compare", "report", "monitor"])
def test_a_second_clock_is_never_silently_the_last(two_clocks, refused, verb):
    words = (verb, "two.csv", *COLUMNS, "--time", "lead")
    assert f"--time was given 2 times, and {verb} takes one clock" in refused(*words, code=2)


@pytest.mark.parametrize("verb", ["evaluate", "compare", "report", "monitor"])
def test_two_clocks_with_a_comma_are_no_name_of_a_column(two_clocks, refused, verb):
    words = ("--proba", "p", "--label", "won", "--sequence", "match", "--time", "t,lead")
    page = ("-o", "page.html") if verb == "report" else ()
    said = refused(verb, "two.csv", *words, *page)
    assert said == f"--time t,lead names 2 columns, and {verb} takes one clock"


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("--time", "t", "--time", "lead", "--time", "p"), 2, "given 3 times: at most two clocks"),
        (("--time", "t,lead,p"), 1, "--time names 3 columns, but at most two clocks"),
        (("--time", "t", "--curve", "spline", "--curve", "constant"), 2, "there is one clock"),
        (("--time", "t", "--curve", "spline, constant"), 2, "names 2 curves, and there is one"),
        (("--time", "t,lead", "--curve", "spline,bent"), 2, "'bent' is not one of"),
        (("--time", "t,lead", "--td-horizon", "auto"), 2, "with --order"),
    ],
)
def test_clocks_and_curves_that_cannot_be_are_refused(two_clocks, refused, words, code, said):
    rows = ("--logits", "z", "--label", "won", "--sequence", "match", "-o", "m.json")
    assert said in refused("fit", "two.csv", *rows, *words, code=code)


def test_a_fit_ends_with_two_sentences_and_the_next_command(folder, run):
    one = ("--calibrator", "platt", "--curve", "spline", "-o", "m.json")
    told = run("fit", "predictions.csv", *COLUMNS, *one).out
    first, saved, _, command, _, last = told.splitlines()
    assert first.startswith("Fitted to ")
    assert first.count(". ") == 1
    assert (saved, last) == ("Saved to m.json. Next, on new predictions:", "Details: --verbose.")
    words = shlex.split(command)
    assert words[0] == "tempocal"
    run(*words[1:])
    assert (folder / "calibrated.csv").exists()
    verbose = run("fit", "predictions.csv", *COLUMNS, *one, "--verbose").out
    assert "smoothness of slopes" in verbose
    assert "smoothness of slopes" not in told
    assert verbose.endswith(told)
    assert run("fit", "predictions.csv", *COLUMNS, *one, "-q").out == ""

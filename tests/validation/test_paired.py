"""Paired comparisons of fits: who is judged on what, and what chance does to a mean difference."""

import json

import numpy as np
import pytest
from scipy.special import ndtr
from validation.paired import BLOCKS, Difference, LabeledForecasts, compare, difference

import tempocal as tc


def rows_of_matches(count=60):
    m = tc.datasets.simulate_match(count, seed=3)
    # Three matches in a group.
    return LabeledForecasts(m.logits, m.label, m.time, m.sequence, m.sequence // 3)


def temperature():
    return tc.TemporalCalibrator(tc.TemperatureScaling(), tc.Constant())


def test_losses_are_those_of_fits_judged_on_other_groups():
    rows = rows_of_matches()
    found = compare(rows, temperature, 10, seed=1)
    drawn = np.random.default_rng(1).permutation(60)[:10]
    few = np.isin(rows.sequence, drawn)
    test = ~np.isin(rows.groups, rows.groups[few])
    assert sum(found["rows"]) == test.sum()
    for name, horizon in (("outcomes", np.inf), ("auto", "auto")):
        cal = temperature().set_params(td_horizon=horizon)
        cal.fit(
            rows.logits[few],
            rows.label[few],
            time=rows.time[few],
            sequence=rows.sequence[few],
            groups=rows.groups[few],
        )
        p = cal.predict_proba(rows.logits[test], time=rows.time[test])[:, 1]
        loss = -np.log(np.where(rows.label[test] == 1, p, 1 - p))
        assert sum(found["nll"][name]) == pytest.approx(loss.sum(), abs=1e-3)
    raw = np.logaddexp(0, np.where(rows.label[test] == 1, -1, 1) * rows.logits[test])
    assert sum(found["nll"]["raw"]) == pytest.approx(raw.sum(), abs=1e-3)
    assert found["taken"] == "outcomes" or found["taken"] > 0
    json.dumps(found)


def test_a_class_that_was_not_drawn_gives_no_fit():
    rows = rows_of_matches()
    one = rows.take(np.flatnonzero((rows.label == 1) | (rows.sequence > 50)))
    found = [compare(one, temperature, 1, seed)["nll"]["outcomes"] for seed in range(5)]
    assert found.count(None) >= 3


def test_every_third_row_is_a_third_of_the_rows():
    rows = rows_of_matches()
    every, third = (sum(compare(rows, temperature, 10, 0, every=k)["rows"]) for k in (1, 3))
    assert third == -(-every // 3)


def test_the_error_is_that_of_crossed_draws_and_blocks():
    """The mean of draw effects, block effects and noise has the variance that its error says."""
    rng = np.random.default_rng(0)
    n, spread_of_draws, spread_of_blocks, noise = 12, 1.0, 2.0, 3.0
    means, variances = [], []
    for _ in range(400):
        cells = (
            spread_of_draws * rng.normal(size=(n, 1))
            + spread_of_blocks * rng.normal(size=BLOCKS)
            + noise * rng.normal(size=(n, BLOCKS))
        )
        results = [
            {"rows": [1] * BLOCKS, "nll": {"a": cell.tolist(), "b": [0.0] * BLOCKS}}
            for cell in cells
        ]
        found = difference(results, "a", "b")
        means.append(found.mean)
        variances.append(found.error**2)
    truth = spread_of_draws**2 / n + spread_of_blocks**2 / BLOCKS + noise**2 / (n * BLOCKS)
    assert np.mean(variances) == pytest.approx(truth, rel=0.08)
    assert np.var(means) == pytest.approx(truth, rel=0.25)


def test_the_upper_end_is_above_the_mean_in_95_percent():
    upper = Difference(1.0, 2.0).upper
    assert ndtr((upper - 1.0) / 2.0) == pytest.approx(0.95, abs=1e-4)


def test_draws_without_a_fit_are_left_out():
    known = {"rows": [2] * BLOCKS, "nll": {"a": [3.0] * BLOCKS, "b": [1.0] * BLOCKS}}
    none = {"rows": [2] * BLOCKS, "nll": {"a": None, "b": [1.0] * BLOCKS}}
    assert difference([known, none, known], "a", "b").mean == pytest.approx(1.0)

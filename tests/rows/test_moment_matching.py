"""Few points with the moments of many rows."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

import tempocal as tc
from support.keyed_rows import N, make_rows
from tempocal.rows import BinaryRows
from tempocal.rows.moment_matching import BLOCK, _find_outliers


@pytest.fixture(autouse=True)
def no_rows_are_small(monkeypatch):
    """Match moments however few rows there are."""
    monkeypatch.setattr("tempocal.rows.sigmoid.SMALL", 0)


def test_there_are_no_points_of_many_outliers():
    x = np.random.default_rng(0).normal(size=N)
    x[: N // 5] *= 1e6
    assert BinaryRows(x[None], np.ones(N)).moment_matched() is None


def test_there_are_no_points_of_few_rows_several_features_or_zeros():
    assert make_rows(weighted=False, n=500).moment_matched() is None
    assert make_rows(weighted=False, features=2).moment_matched() is None
    assert BinaryRows(np.zeros((1, N)), np.ones(N)).moment_matched() is None


def test_keys_without_weight_are_not_matched():
    weights = np.repeat([0.0, 1.0], N // 2)
    x, keys = np.linspace(-3, 3, N)[None], np.repeat([0, 1], N // 2)
    assert BinaryRows(x, np.ones(N), weights=weights, keys=keys, n_keys=2).moment_matched() is None


def hard_rows(name, random):
    z = random.normal(size=6000) * 2.0
    weight = None
    if name == "heavy weights":
        weight = np.exp(3.0 * random.normal(size=6000))
    if name == "far out":
        z[::50] *= 1e4
    if name == "huge":
        z *= 300.0
    if name == "ties":
        z = np.round(z)
    if name == "heavy tails":
        z = random.standard_cauchy(6000)
    if name == "zeros":
        z[random.random(6000) < 0.6] = 0.0
    true = 1.0 / (1.0 + np.exp(-np.clip(0.7 * z, -30, 30)))
    label = (random.random(6000) < 0.8 * true + 0.1).astype(int)
    return z, label, weight


@pytest.mark.parametrize("small", [0, N], ids=["from points", "from rows"])
@pytest.mark.parametrize(
    "name", ["plain", "heavy weights", "far out", "huge", "ties", "heavy tails", "zeros"]
)
def test_fits_reach_the_optimum_of_all_rows(name, small, monkeypatch):
    """Against a search of one number for each step, on the loss written out."""
    monkeypatch.setattr("tempocal.rows.sigmoid.SMALL", small)
    random = np.random.default_rng(3)
    z, label, weight = hard_rows(name, random)
    step = np.arange(6000) % 3
    cal = tc.TemporalCalibrator(tc.TemperatureScaling(shrinkage=0), tc.PerStep())
    cal.fit(z, label, time=step, sample_weight=weight)
    found = cal.parameters_at([0, 1, 2])["inverse_temperature"]
    for k in range(3):
        own = step == k
        w = np.ones(own.sum()) if weight is None else weight[own]
        sign = np.where(label[own] == 1, -1.0, 1.0) * z[own]

        def loss(a, w=w, sign=sign):
            return float(w @ np.logaddexp(0.0, np.exp(a) * sign)) / w.sum()

        best = minimize_scalar(loss, bounds=(-20, 5), method="bounded", options={"xatol": 1e-10})
        assert loss(np.log(found[k])) <= best.fun + 1e-11


def test_rows_are_matched_or_sampled_only_where_that_saves_time(monkeypatch):
    rows = make_rows(weighted=False)
    monkeypatch.setattr("tempocal.rows.sigmoid.native", object())
    monkeypatch.setattr("tempocal.rows.sigmoid.SMALL", N)
    assert rows.moment_matched() is None
    assert rows.few() is None
    # Without the loops every pass takes longer than a sample, and counting as long as a pass.
    monkeypatch.setattr("tempocal.rows.sigmoid.native", None)
    rows = make_rows(weighted=False)
    assert rows.moment_matched() is None
    assert rows.few()._features.shape[1] < N / 4


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_outliers_are_found_wherever_they_are(dtype):
    x = np.random.default_rng(0).normal(size=2 * BLOCK + 5).astype(dtype)
    for rows in ([], [0], [BLOCK - 1, BLOCK], [7, 2 * BLOCK, len(x) - 1]):
        far = x.copy()
        far[rows] = 100.0 * (-1.0) ** np.arange(len(rows))
        assert _find_outliers(far, 10, 1.0).tolist() == rows
    # The upper edge of the last cell is outside.
    x[3] = -10.0
    assert _find_outliers(x, 10, 1.0).tolist() == [3]

"""Under shrinkage="auto" scale and center of the logits make no difference where data are clear."""

import numpy as np
import polars as pl
import pytest

import tempocal as tc
from tempocal.calibrators.fit_data import FitData
from tempocal.calibrators.linear_model import linear_model
from tempocal.rows import LINE, Sigmoid

SIGMOID = [tc.PlattScaling(), tc.BetaCalibration(), tc.VectorScaling(), tc.MatrixScaling()]
SOFTMAX = [tc.VectorScaling(), tc.MatrixScaling()]


def two_classes(n, seed=0):
    rng = np.random.default_rng(seed)
    logits = 2.0 * rng.normal(size=n)
    return logits, (rng.random(n) < 1.0 / (1.0 + np.exp(-1.5 * logits))).astype(int)


def three_classes(n, seed=0):
    rng = np.random.default_rng(seed)
    logits = 2.0 * rng.normal(size=(n, 3))
    return logits, (1.4 * logits + rng.gumbel(size=(n, 3))).argmax(axis=1)


def loss(proba, y):
    return float(-np.log(proba[np.arange(len(y)), y]).mean())


@pytest.mark.parametrize("scale", [1e-4, 0.003, 0.03, 1.0, 10.0])
@pytest.mark.parametrize("shift", [0.0, 5.0, -5.0, 50.0, -50.0])
@pytest.mark.parametrize("cal", SIGMOID, ids=repr)
def test_a_line_of_the_logits_is_calibrated_as_the_logits(cal, scale, shift):
    (logits, y), (new, labels) = two_classes(400), two_classes(20_000, seed=1)
    found = cal.fit(scale * logits + shift, y).predict_proba(scale * new + shift)
    expected = cal.fit(logits, y).predict_proba(new)
    assert loss(found, labels) < loss(expected, labels) + 0.01


@pytest.mark.parametrize("scale", [1e-4, 0.003, 0.03])
def test_small_logits_get_their_temperature(scale):
    for rows in (two_classes, three_classes):
        (logits, y), (new, labels) = rows(400), rows(20_000, seed=1)
        auto, plain = (
            tc.TemperatureScaling(shrinkage=s).fit(scale * logits, y) for s in ("auto", 0)
        )
        found, best = (cal.predict_proba(scale * new) for cal in (auto, plain))
        assert loss(found, labels) < loss(best, labels) + 0.01


@pytest.mark.parametrize("scale", [1e-4, 0.003, 1.0])
@pytest.mark.parametrize("shift", [[0, 0, 0], [50, 0, 0], [50, 50, 50]], ids=str)
@pytest.mark.parametrize("cal", [*SOFTMAX, tc.DirichletCalibration()], ids=repr)
def test_so_are_logits_of_several_classes(cal, scale, shift):
    if isinstance(cal, tc.DirichletCalibration):
        # Beside a class that is certain, the logarithms of the others are all that is left.
        shift = shift[2]
    (logits, y), (new, labels) = three_classes(2000), three_classes(20_000, seed=1)
    found = cal.fit(scale * logits + shift, y).predict_proba(scale * new + shift)
    expected = cal.fit(logits, y).predict_proba(new)
    assert loss(found, labels) < loss(expected, labels) + 0.01


@pytest.mark.filterwarnings("ignore::tempocal.errors.AtBoundWarning")
@pytest.mark.parametrize("curve", [tc.PerStep(), tc.Spline(), tc.ExponentialDecay()], ids=repr)
@pytest.mark.parametrize(("scale", "shift"), [(0.003, 0.0), (1.0, 50.0), (0.003, 5.0)])
def test_and_along_time(curve, scale, shift):
    (logits, y), (new, labels) = two_classes(4000), two_classes(20_000, seed=1)
    time, later = np.arange(4000) % 8, np.arange(20_000) % 8
    cal = tc.TemporalCalibrator(tc.PlattScaling(), curve)
    groups = np.arange(4000) // 4
    cal.fit(scale * logits + shift, y, time=time, groups=groups)
    assert loss(cal.predict_proba(scale * new + shift, time=later), labels) < 0.37
    band = cal.interval_at([0, 7])
    assert band is not None


@pytest.mark.parametrize("n", [3, 10, 50])
@pytest.mark.parametrize("mean", [-6.0, 0.0, 2.0])
@pytest.mark.parametrize("deviation", [0.3, 1.0, 5.0])
def test_ordinary_logits_keep_their_coordinates(n, mean, deviation):
    rng = np.random.default_rng(n)
    logits = rng.normal(size=1000 * n)
    logits = mean + deviation * (logits - logits.mean()) / logits.std()
    y = (rng.random(len(logits)) < 1.0 / (1.0 + np.exp(-logits))).astype(int)
    data = FitData(logits, y, None, None, 2)
    predictor = Sigmoid(LINE)
    model = linear_model(data, predictor, identity=[1, 0], biases=[False, True], auto=True)
    assert model.standardization is None
    assert model.rows.args == (predictor,)


@pytest.mark.parametrize("shift", [0.0, 1.0])
def test_coordinates_change_continuously(shift):
    logits, y = two_classes(400)
    scales = np.geomspace(0.02, 0.2, 60)
    slopes = [
        scale * tc.PlattScaling().fit(scale * logits + shift, y).slope_[0] for scale in scales
    ]
    assert np.abs(np.diff(np.log(slopes))).max() < 0.1


def test_few_rows_of_small_logits_do_no_harm():
    worse = []
    for seed in range(50):
        rng = np.random.default_rng(seed)
        logits = 0.01 * rng.normal(size=30)
        y = (rng.random(30) < 0.5).astype(int)
        y[:2] = 0, 1
        cal = tc.PlattScaling().fit(logits, y)
        new = 0.01 * rng.normal(size=2000)
        labels = (rng.random(2000) < 0.5).astype(int)
        worse.append(loss(cal.predict_proba(new), labels) - np.log(2.0))
    assert np.mean(worse) < 0.02


def test_a_given_strength_is_that_of_the_documented_penalty():
    logits, y = two_classes(400)
    x, n = 0.003 * logits + 5.0, len(y)
    cal = tc.VectorScaling(shrinkage=(0.7, 0.3)).fit(x, y)
    p = cal.predict_proba(x)[:, 1]
    slope, bias = cal.weights_[0], cal.bias_[0]
    assert abs(x @ (p - y) + 0.7 * (slope - 1.0)) < 1e-6 * n
    assert abs((p - y).sum() + 0.3 * bias) < 1e-6 * n


def test_weights_are_rows_seen_more_than_once():
    logits, y = two_classes(300)
    weights = np.random.default_rng(1).integers(1, 4, 300)
    x = 0.003 * logits + 50.0
    one = tc.PlattScaling().fit(x, y, sample_weight=weights)
    other = tc.PlattScaling().fit(np.repeat(x, weights), np.repeat(y, weights))
    np.testing.assert_allclose(one.predict_proba(x), other.predict_proba(x), atol=1e-6)


@pytest.mark.parametrize("cal", [tc.PlattScaling(), tc.BetaCalibration(), tc.TemperatureScaling()])
def test_later_rows_and_files_keep_the_coordinates(cal, tmp_path):
    logits, y = two_classes(2000)
    x = 0.003 * logits + (0.0 if isinstance(cal, tc.TemperatureScaling) else 5.0)
    cal.partial_fit(x[:500], y[:500], classes=[0, 1])
    cal.save(tmp_path / "model.json")
    loaded = tc.load(tmp_path / "model.json")
    for each in (cal, loaded):
        each.partial_fit(x[500:], y[500:])
    np.testing.assert_array_equal(cal.predict_proba(x), loaded.predict_proba(x))
    at_once = type(cal)().fit(x, y).predict_proba(x)
    np.testing.assert_allclose(cal.predict_proba(x), at_once, atol=0.02)


@pytest.mark.parametrize("cal", [tc.TemperatureScaling(), *SIGMOID], ids=repr)
def test_tables_are_fitted_as_arrays(cal):
    logits, y = two_classes(4000)
    x = 0.003 * logits + (0.0 if isinstance(cal, tc.TemperatureScaling) else 5.0)
    table = pl.DataFrame({"z": x, "y": y})
    found = cal.fit_table(table, logits="z", label="y").predict_proba(x)
    np.testing.assert_allclose(found, cal.fit(x, y).predict_proba(x), atol=1e-5)

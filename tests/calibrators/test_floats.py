"""Logits of single precision are read as they are: fits are those to the same doubles."""

import numpy as np
import pytest

import tempocal as tc
from tempocal.rows import sigmoid

N = 20_000


@pytest.fixture(autouse=True)
def few_are_many(monkeypatch):
    """Let cells and sweeps begin with few rows."""
    monkeypatch.setattr(sigmoid, "SMALL", 1000)


def simulate(n=N, n_steps=20, seed=0):
    rng = np.random.default_rng(seed)
    z = (3.0 * rng.normal(size=n)).astype(np.float32)
    z[:2] = 300.0, -700.0
    step = rng.integers(0, n_steps, n)
    odds = (0.9 - 0.5 * np.exp(-step / n_steps)) * z
    y = (rng.random(n) < 1 / (1 + np.exp(-odds))).astype(np.int64)
    return z, y, step, rng.integers(0, n // 10, n), rng.exponential(size=n)


def simulate_classes(n=N, n_steps=20):
    rng = np.random.default_rng(0)
    z = (3.0 * rng.normal(size=(n, 4))).astype(np.float32)
    step = rng.integers(0, n_steps, n)
    slope = 0.9 - 0.7 * np.exp(-5.0 * step[:, None] / n_steps)
    y = (slope * z + rng.gumbel(size=z.shape)).argmax(axis=1)
    return z, y, step, rng.integers(0, n // 10, n), rng.exponential(size=n)


def assert_same(one, other, *given, **named):
    np.testing.assert_allclose(
        one.predict_proba(*given, **named),
        other.predict_proba(*given, **named),
        rtol=1e-12,
        atol=1e-300,
    )
    before, after = one.summary(), other.summary()
    assert before.nll_before == pytest.approx(after.nll_before, rel=1e-12)
    assert before.nll_after == pytest.approx(after.nll_after, rel=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    "calibrator",
    [
        tc.Identity(),
        tc.TemperatureScaling(shrinkage=0),
        tc.TemperatureScaling(),
        tc.PlattScaling(),
        tc.BetaCalibration(),
        tc.IsotonicCalibration(),
        tc.HistogramBinning(),
        tc.BayesianBinning(),
        tc.NearIsotonicEnsemble(),
    ],
    ids=repr,
)
def test_fits_are_those_to_doubles(calibrator, weighted):
    z, y, _, groups, weights = simulate()
    given = {"groups": groups, "sample_weight": weights if weighted else None}
    one = calibrator.__class__(**calibrator.get_params()).fit(z, y, **given)
    other = calibrator.__class__(**calibrator.get_params()).fit(z.astype(np.float64), y, **given)
    assert_same(one, other, z.astype(np.float64)[:500])


@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("order", ["any order", "sorted", "few of a step"])
@pytest.mark.parametrize(
    "curve", [tc.PerStep(), tc.ExponentialDecay(), tc.Spline(), tc.RandomWalk()], ids=repr
)
@pytest.mark.parametrize("shrinkage", [0, "auto"])
def test_fits_along_time_are_those_to_doubles(curve, order, grouped, shrinkage):
    z, y, step, groups, _ = simulate(n_steps=150 if order == "few of a step" else 20)
    if order == "sorted":
        step.sort()
    given = {"time": step, "groups": groups if grouped else None}
    cal = tc.TemporalCalibrator(curve=curve, shrinkage=shrinkage)
    other = tc.TemporalCalibrator(curve=curve, shrinkage=shrinkage)
    cal.fit(z, y, **given)
    other.fit(z.astype(np.float64), y, **given)
    assert_same(cal, other, z.astype(np.float64)[:500], time=step[:500])
    low, high = cal.summary().details["gain"], other.summary().details["gain"]
    assert low == pytest.approx(high, rel=1e-9)


def test_columns_of_a_table_and_two_columns_are_read_too():
    z, y, *_ = simulate()
    wanted = tc.TemperatureScaling(shrinkage=0).fit(z.astype(np.float64), y)
    table = np.stack([np.zeros_like(z), z], axis=1)
    swapped = z.astype(">f4")
    odd = np.frombuffer(b"x" + z.tobytes(), dtype=np.uint8)[1:].view(np.float32)
    for given in (table, table[:, 1], table[:, 1:], z[:, None], swapped, odd, z[::-1][::-1]):
        found = tc.TemperatureScaling(shrinkage=0).fit(given, y)
        assert found.inverse_temperature_ == pytest.approx(wanted.inverse_temperature_, rel=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    "calibrator",
    [
        tc.TemperatureScaling(shrinkage=0),
        tc.TemperatureScaling(),
        tc.VectorScaling(),
        tc.MatrixScaling(),
        tc.DirichletCalibration(),
        tc.PlattScaling(),
        tc.IsotonicCalibration(),
    ],
    ids=repr,
)
def test_fits_of_several_classes_are_those_to_doubles(calibrator, weighted):
    z, y, _, groups, weights = simulate_classes()
    given = {"groups": groups, "sample_weight": weights if weighted else None}
    one = calibrator.__class__(**calibrator.get_params()).fit(z, y, **given)
    other = calibrator.__class__(**calibrator.get_params()).fit(z.astype(np.float64), y, **given)
    assert_same(one, other, z.astype(np.float64)[:500])


@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("in_order", [False, True])
@pytest.mark.parametrize("curve", [tc.PerStep(), tc.ExponentialDecay()], ids=repr)
@pytest.mark.parametrize("model", [tc.TemperatureScaling(), tc.VectorScaling()], ids=repr)
def test_fits_of_several_classes_along_time_are_those_to_doubles(model, curve, in_order, grouped):
    z, y, step, groups, _ = simulate_classes()
    if in_order:
        step.sort()
    given = {"time": step, "groups": groups if grouped else None}
    one = tc.TemporalCalibrator(model, curve, shrinkage=1e-3).fit(z, y, **given)
    other = tc.TemporalCalibrator(model, curve, shrinkage=1e-3).fit(z.astype(float), y, **given)
    assert_same(one, other, z.astype(np.float64)[:500], time=step[:500])
    assert one.summary().details["gain"] == pytest.approx(other.summary().details["gain"], rel=1e-9)


@pytest.mark.parametrize("bad", [np.nan, 1e30])
def test_what_is_no_logit_is_refused_as_in_doubles(bad):
    z, y, *_ = simulate(100)
    z[7] = bad
    with pytest.raises(tc.errors.InputError, match="row 7"):
        tc.TemperatureScaling().fit(z, y)


def test_certainty_is_the_same_in_either():
    z, y, *_ = simulate(1000)
    z[7] = np.inf
    one = tc.TemperatureScaling().fit(z, y)
    assert_same(one, tc.TemperatureScaling().fit(z.astype(np.float64), y), np.linspace(-3, 3, 9))

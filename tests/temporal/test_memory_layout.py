"""However arrays lie in memory: strided, backwards, read-only or at odd addresses."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import tempocal as tc

rng = np.random.default_rng(0)
N = 1000
Z = 2.0 * rng.normal(size=N)
TIME, GROUPS = rng.integers(0, 5, N), rng.integers(0, 60, N)
Y = (rng.random(N) < 1.0 / (1.0 + np.exp((0.8 * np.exp(-TIME) - 1.0) * Z))).astype(np.int64)
WEIGHTS = rng.exponential(size=N)


def read_only(values):
    copy = values.copy()
    copy.flags.writeable = False
    return copy


def at_odd_addresses(values):
    copy = np.zeros(values.nbytes + 1, dtype=np.uint8)[1:].view(values.dtype)
    copy[:] = values
    return copy


LAYOUTS = {
    "every other": lambda values: np.repeat(values, 2)[::2],
    "backwards": lambda values: values[::-1].copy()[::-1],
    "a column": lambda values: np.stack([values, values], axis=1)[:, 1],
    "read-only": read_only,
    "odd addresses": at_odd_addresses,
    "other byte order": lambda values: values.astype(values.dtype.newbyteorder()),
}
CALIBRATORS = [
    tc.TemperatureScaling(),
    tc.PlattScaling(),
    tc.BetaCalibration(),
    tc.MatrixScaling(shrinkage=1.0),
    tc.IsotonicCalibration(),
    tc.BayesianBinning(),
    tc.NearIsotonicEnsemble(),
]
CURVES = [tc.PerStep(), tc.Spline(), tc.ExponentialDecay()]
WITH = {"nothing": {}, "weights": {"sample_weight": WEIGHTS}, "groups": {"groups": GROUPS}}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("beside", WITH)
@pytest.mark.parametrize("calibrator", CALIBRATORS, ids=lambda one: type(one).__name__)
def test_calibrators(layout, beside, calibrator):
    lay, given = LAYOUTS[layout], WITH[beside]
    laid = {name: lay(values) for name, values in given.items()}
    found = calibrator.fit(lay(Z), lay(Y), **laid).predict_proba(lay(Z))
    wanted = calibrator.fit(Z, Y, **given).predict_proba(Z)
    assert_array_equal(found, wanted)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("beside", WITH)
@pytest.mark.parametrize("curve", CURVES, ids=lambda one: type(one).__name__)
def test_curves(layout, beside, curve):
    lay, given = LAYOUTS[layout], WITH[beside]
    laid = {name: lay(values) for name, values in given.items()}
    calibrator = tc.TemporalCalibrator(tc.PlattScaling(), curve)
    found = calibrator.fit(lay(Z), lay(Y), time=lay(TIME), **laid).predict_proba(lay(Z), lay(TIME))
    wanted = calibrator.fit(Z, Y, time=TIME, **given).predict_proba(Z, TIME)
    assert_array_equal(found, wanted)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(
    "metric",
    [tc.metrics.ece, tc.metrics.max_calibration_error, tc.metrics.smooth_ece, tc.metrics.nll],
    ids=lambda metric: metric.__name__,
)
def test_metrics(layout, metric):
    lay, proba = LAYOUTS[layout], 1.0 / (1.0 + np.exp(-Z))
    assert metric(lay(Y), lay(proba)) == metric(Y, proba)
    weighted = metric(lay(Y), lay(proba), sample_weight=lay(WEIGHTS))
    assert weighted == metric(Y, proba, sample_weight=WEIGHTS)

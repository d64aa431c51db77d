"""Integer times are not copied to float64, and a fit to them is the same to the bit."""

import os
import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import tempocal as tc
from support.public_curves import with_every_curve
from tempocal.inputs import check_time
from tempocal.kernels import native

rng = np.random.default_rng(0)
N = 3000
Z = 2.0 * rng.normal(size=N)
STEP = rng.integers(0, 40, N)
Y = (rng.random(N) < 1.0 / (1.0 + np.exp((0.8 * np.exp(-STEP) - 1.0) * Z))).astype(np.int64)
# So many that a step and a group together are beyond what two bytes hold.
WITH = {
    "nothing": {},
    "weights": {"sample_weight": rng.integers(0, 3, N)},
    "groups": {"groups": np.arange(N) // 2},
}
TIMES = {
    "steps": STEP,
    "below zero": 7 - STEP,
    "gaps": 3 * STEP,
    "seconds": 1_700_000_000 + 60 * STEP,
    "wide": 4001 * STEP,
    "far apart": 10**9 * STEP,
    "large": 2**53 - 1 - STEP,
    "in order": np.sort(STEP),
}
CURVES = with_every_curve(
    [
        tc.PerStep(),
        tc.PerStep(min_rows=75),
        tc.PerStep(unseen="interpolate"),
        tc.PerStep(bins=5),
        tc.ExponentialDecay(),
        tc.Spline(),
        tc.RandomWalk(),
        tc.Constant(),
    ]
)
pytestmark = pytest.mark.filterwarnings("ignore::tempocal.errors.AtBoundWarning")


@pytest.mark.parametrize("beside", WITH)
@pytest.mark.parametrize("curve", CURVES, ids=repr)
@pytest.mark.parametrize("times", TIMES)
def test_integers_are_fitted_as_doubles_are(times, curve, beside):
    integers, given = TIMES[times], WITH[beside]
    found = tc.TemporalCalibrator(curve=curve, shrinkage=1.0).fit(Z, Y, time=integers, **given)
    wanted = tc.TemporalCalibrator(curve=curve, shrinkage=1.0)
    wanted.fit(Z, Y, time=integers.astype(np.float64), **given)
    assert str(found.summary()) == str(wanted.summary())
    assert found.summary().details == wanted.summary().details
    proba = wanted.predict_proba(Z, time=integers.astype(np.float64))
    assert_array_equal(found.predict_proba(Z, time=integers), proba)
    assert_array_equal(found.predict_proba(Z, time=integers.astype(np.float64)), proba)


@pytest.mark.parametrize("curve", [tc.PerStep(), tc.Spline(), tc.PerStep(bins=5)], ids=repr)
def test_more_rows_are_learned_alike(curve):
    fits = []
    for dtype in (np.int64, np.float64):
        cal = tc.TemporalCalibrator(tc.PlattScaling(), curve)
        for rows in np.split(np.arange(N), 3):
            cal.partial_fit(Z[rows], Y[rows], time=STEP[rows].astype(dtype), classes=[0, 1])
        fits.append(cal.predict_proba(Z, time=STEP))
    assert_array_equal(*fits)


def test_int64_stays_where_it_may():
    found = check_time(STEP, N, keep_int64=True)
    assert np.shares_memory(found.values, STEP)
    assert found.time_range == (0.0, 39.0)
    assert found.kinds == ("number",)
    assert check_time(STEP, N).values.dtype == np.float64
    for narrow in (np.int8, np.uint16, np.float32):
        assert check_time(STEP.astype(narrow), N, keep_int64=True).values.dtype == np.float64
    pair = check_time((STEP, STEP), N, clocks=2, keep_int64=True)
    assert pair.values.dtype == np.float64
    assert pair.time_range is None


@pytest.mark.skipif(
    native is None and not os.environ.get("TEMPOCAL_CI"), reason="the loops are not compiled"
)
@pytest.mark.parametrize(("in_order", "most"), [(True, 0.2), (False, 0.55)])
@pytest.mark.parametrize("dtype", [np.int64, np.float64])
def test_a_fit_by_step_takes_little_beside_its_input(in_order, most, dtype):
    n = 2_000_000
    z = np.tile(Z, n // N + 1)[:n]
    y = np.tile(Y, n // N + 1)[:n]
    time = np.tile(STEP, n // N + 1)[:n].astype(dtype)
    if in_order:
        order = np.argsort(time, kind="stable")
        z, y, time = z[order], y[order], time[order]
    tracemalloc.start()
    tc.TemporalCalibrator(curve=tc.PerStep(), shrinkage=0).fit(z, y, time=time)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < most * (z.nbytes + y.nbytes + time.nbytes)

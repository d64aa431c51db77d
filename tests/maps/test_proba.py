"""Probabilities along time are those of the calibrated logits."""

import numpy as np
import pytest

import tempocal as tc
from tempocal.links import proba_from_logits
from tempocal.maps.proba import BLOCK

N = 2 * BLOCK + 7


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    logits, time = 2.0 * rng.normal(size=N), rng.integers(0, 20, N).astype(float)
    happened = rng.uniform(size=N) < 1.0 / (1.0 + np.exp(0.5 - (0.4 + 0.03 * time) * logits))
    return logits, time, happened


@pytest.mark.parametrize(
    "curve",
    [
        tc.PerStep(),
        tc.PerStep(unseen="interpolate"),
        tc.ExponentialDecay(),
        tc.Spline(),
        tc.Constant(),
    ],
    ids=repr,
)
@pytest.mark.parametrize(
    "calibrator", [tc.TemperatureScaling(), tc.PlattScaling(), tc.BetaCalibration()], ids=repr
)
def test_every_row_has_its_own_line(calibrator, curve, rows):
    logits, time, happened = rows
    cal = tc.TemporalCalibrator(calibrator, curve)
    cal.fit(logits[:8000], happened[:8000], time=time[:8000])
    for n in (1, 2, 9, BLOCK, N):
        # Also between the steps.
        at = time[:n] + np.resize([0.0, 0.5, 0.25], n)
        for given in (logits[:n], logits[:n].astype(np.float32), logits[:n][::-1]):
            found = cal.predict_proba(given, time=at)
            wanted = proba_from_logits(cal.decision_function(given, time=at))
            # Products of matrices may round by the number of rows.
            rounding = 0.0 if isinstance(curve, tc.PerStep | tc.Constant) else 1e-13
            np.testing.assert_allclose(found, wanted, rtol=rounding, atol=0.0)

"""Bands of a spline hold curves that turn, at the steps where they turn most."""

import numpy as np
import pytest

import tempocal as tc

STEPS = np.arange(25)
TRUTHS = {
    "humped": 0.5 + 0.7 * np.exp(-(((STEPS - 15) / 4) ** 2)),
    "waved": 0.9 + 0.4 * np.sin(2 * np.pi * STEPS / 12),
    "exponential": 1 - 0.7 * np.exp(-STEPS / 6),
}
SETS = 40


@pytest.mark.parametrize("truth", TRUTHS)
def test_of_two_hundred_sequences(truth):
    """Those of 0.1 hold the top of this hump in a tenth of the sets, and the late wave in none."""
    curve, covered, widths = TRUTHS[truth], np.zeros((SETS, len(STEPS))), []
    for seed in range(SETS):
        m = tc.datasets.simulate_match(200, seed=seed)
        p = m.true_probability
        logits = (np.log(p) - np.log1p(-p)) / curve[m.time]
        cal = tc.TemporalCalibrator(tc.TemperatureScaling(), tc.Spline())
        cal.fit(logits, m.label, time=m.time, groups=m.sequence)
        band = cal.interval_at(STEPS)["inverse_temperature"]
        covered[seed] = (band.lower <= curve) & (curve <= band.upper)
        widths.append(np.mean(band.upper - band.lower))
    by_step = covered.mean(axis=0)
    print(truth, by_step.round(2), np.mean(widths))
    assert by_step[:21].mean() >= 0.92
    assert by_step[:21].min() >= 0.75
    # As wide as the truth is high at most: a band that holds everything tells nothing.
    assert np.mean(widths) < 0.7

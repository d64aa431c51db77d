"""What a fit gained, against the same written out row by row."""

import numpy as np
import pytest
from scipy.stats import t as student

import tempocal as tc
from tempocal.metrics import nll
from tempocal.temporal import gain_interval

matches = tc.datasets.simulate_match(300, seed=4)


@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("continuous", [False, True])
@pytest.mark.parametrize("block", [700, 2**17])
def test_nll_and_interval_are_the_written_out_ones(
    grouped, weighted, continuous, block, monkeypatch
):
    monkeypatch.setattr(gain_interval, "BLOCK", block)
    rng = np.random.default_rng(0)
    z, y, n = matches.logits, matches.label, len(matches.label)
    time = matches.time + (rng.random(n) if continuous else 0.0)
    w = rng.integers(1, 4, n).astype(float) if weighted else np.ones(n)
    given = {"sample_weight": w} if weighted else {}
    given |= {"groups": matches.sequence} if grouped else {}
    cal = tc.TemporalCalibrator(shrinkage=0).fit(z, y, time=time, **given)
    before = np.logaddexp(0.0, z) - y * z
    after = -np.log(cal.predict_proba(z, time)[np.arange(n), y])
    summary = cal.summary()
    assert summary.nll_before == pytest.approx(np.average(before, weights=w), rel=1e-12)
    assert summary.nll_after == pytest.approx(np.average(after, weights=w), rel=1e-12)
    assert summary.nll_after == pytest.approx(
        nll(y, cal.predict_proba(z, time), sample_weight=w), rel=1e-12
    )
    gains = before - after
    mean = np.average(gains, weights=w)
    codes = np.unique(matches.sequence, return_inverse=True)[1]
    parts = np.bincount(codes, w * (gains - mean)) if grouped else np.sqrt(w) * (gains - mean)
    count = len(parts) if grouped else w.sum()
    error = np.sqrt((parts**2).sum() * count / (count - 1)) / w.sum()
    half = student.ppf(0.975, count - 1) * error
    expected = [mean - half, mean + half]
    np.testing.assert_allclose(summary.details["gain_interval"], expected, rtol=1e-9)

"""One coefficient for each of many keys with few rows each."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

import tempocal as tc
from tempocal.errors import NoFiniteOptimumError

N_KEYS, ROWS = 300, 100
N = N_KEYS * ROWS


def simulate(slopes, seed=0):
    rng = np.random.default_rng(seed)
    keys = rng.permutation(np.repeat(np.arange(N_KEYS), ROWS))
    x = 3.0 * rng.normal(size=N)
    return x, (rng.random(N) < 1 / (1 + np.exp(-slopes[keys] * x))).astype(np.int64), keys


def optimum(x, y):
    def loss(theta):
        return np.logaddexp(0.0, (1 - 2 * y) * theta * x).sum()

    return minimize_scalar(loss, bounds=(1e-6, 20.0), method="bounded", options={"xatol": 1e-10}).x


def test_steps_unlike_all_others_have_their_own_temperature():
    """A sample says little of one step in three hundred: its logits are 1,000 times too large."""
    x, y, keys = simulate(np.full(N_KEYS, 0.6))
    x[keys == 7] *= 1000.0
    cal = tc.TemporalCalibrator(curve=tc.PerStep(), shrinkage=0).fit(x, y, time=keys)
    found = cal.parameters_at(np.array([7, 8]))["inverse_temperature"]
    own = [optimum(x[keys == k] / scale, y[keys == k]) for k, scale in ((7, 1e3), (8, 1.0))]
    np.testing.assert_allclose(found * [1e3, 1.0], own, rtol=1e-6)


def test_a_step_that_is_separated_is_found_among_many():
    x, y, keys = simulate(np.full(N_KEYS, 0.6))
    y[keys == 7] = x[keys == 7] > 0
    with pytest.raises(NoFiniteOptimumError, match="at time 7"):
        tc.TemporalCalibrator(curve=tc.PerStep(), shrinkage=0).fit(x, y, time=keys)


def test_all_steps_but_one_separated():
    x, y, keys = simulate(np.full(N_KEYS, 0.6))
    others = keys != 7
    y[others] = x[others] > 0
    with pytest.raises(NoFiniteOptimumError, match="and 296 more"):
        tc.TemporalCalibrator(curve=tc.PerStep(), shrinkage=0).fit(x, y, time=keys)


@pytest.mark.parametrize("shrinkage", [0, 1e-3])
@pytest.mark.parametrize("grouped", [False, True])
def test_no_order_of_the_rows_shows_in_the_fit(shrinkage, grouped):
    x, y, keys = simulate(np.linspace(0.3, 1.2, N_KEYS))
    groups, steps = np.random.default_rng(1).integers(0, N // 10, N), np.arange(N_KEYS)
    found = []
    for seed in range(4):
        order = np.random.default_rng(seed).permutation(N)
        given = {"time": keys[order], "groups": groups[order] if grouped else None}
        cal = tc.TemporalCalibrator(curve=tc.PerStep(), shrinkage=shrinkage)
        cal.fit(x[order], y[order], **given)
        band = cal.interval_at(steps.astype(float))["inverse_temperature"]
        slopes = cal.parameters_at(steps)["inverse_temperature"]
        found.append(np.concatenate([slopes, band.lower, band.upper]))
    for other in found[1:]:
        np.testing.assert_allclose(other, found[0], rtol=1e-11)

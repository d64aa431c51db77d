"""The approximate optimum of many keys with few rows each."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

import tempocal as tc
from tempocal.errors import NoFiniteOptimumError
from tempocal.kernels import native
from tempocal.rows import BinaryRows, sigmoid

N_KEYS, ROWS = 300, 100
N = N_KEYS * ROWS


def simulate(slopes, seed=0):
    rng = np.random.default_rng(seed)
    keys = rng.permutation(np.repeat(np.arange(N_KEYS), ROWS))
    x = 3.0 * rng.normal(size=N)
    return x, (rng.random(N) < 1 / (1 + np.exp(-slopes[keys] * x))).astype(np.int64), keys


def optimum(x, y, penalty, weights=1.0):
    def loss(theta):
        losses = weights * np.logaddexp(0.0, (1 - 2 * y) * theta * x)
        return losses.sum() + 0.5 * penalty * (theta - 1.0) ** 2

    return minimize_scalar(loss, bounds=(1e-6, 20.0), method="bounded", options={"xatol": 1e-10}).x


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("penalty", [0.0, 3.0, 1e4])
def test_every_key_comes_close_to_its_optimum(penalty, weighted):
    assert sigmoid.SMALL < N
    slopes = np.where(np.arange(N_KEYS) % 2, 0.3, 2.0)
    x, y, keys = simulate(slopes)
    weights = np.random.default_rng(1).exponential(size=N)
    weights[::7] = 0.0
    rows = BinaryRows(x[None], y, weights=weights if weighted else None, keys=keys, n_keys=N_KEYS)
    ones = np.ones((N_KEYS, 1))
    found = rows.approximate_optimum(ones, penalty * ones, 1e-6 * ones)
    if native is None:
        assert found is None
        return
    wanted = [
        optimum(x[own], y[own], penalty, weights[own] if weighted else 1.0)
        for own in (keys == k for k in range(0, N_KEYS, 10))
    ]
    np.testing.assert_allclose(found[::10, 0], wanted, rtol=1e-3)


def test_steps_unlike_all_others_have_their_own_temperature():
    """A sample says little of one step in three hundred: its logits are 1,000 times too large."""
    x, y, keys = simulate(np.full(N_KEYS, 0.6))
    x[keys == 7] *= 1000.0
    cal = tc.TemporalCalibrator(curve=tc.PerStep(), shrinkage=0).fit(x, y, time=keys)
    found = cal.parameters_at(np.array([7, 8]))["inverse_temperature"]
    own = [optimum(x[keys == k] / scale, y[keys == k], 0.0) for k, scale in ((7, 1e3), (8, 1.0))]
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


@pytest.mark.parametrize("scale", [0.0, 1e-12, 1e12])
def test_features_of_any_size(scale):
    """Of all logits that are 0, or so large that they are certain, nothing is divided by 0."""
    x, y, keys = simulate(np.full(N_KEYS, 0.6))
    rows = BinaryRows(scale * x[None], y, keys=keys, n_keys=N_KEYS)
    ones = np.ones((N_KEYS, 1))
    found = rows.approximate_optimum(ones, 0.0 * ones, 1e-30 * ones)
    assert found is None or np.isfinite(found).all()

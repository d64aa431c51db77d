from itertools import pairwise
from math import exp, log

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from support.curves import fit_isotonic, fit_near_isotonic
from tempocal.links import sigmoid
from tempocal.nonparametric import near_isotonic_path


def naive_enir(targets, weights):
    """ENIR written out for distinct, sorted odds: every model in full, every row."""
    path = near_isotonic_path(targets, weights)
    models = [path.at(penalty) for penalty in path.breakpoints]
    bic = []
    for model in models:
        blocks = 1 + sum(abs(a - b) > 1e-9 for a, b in pairwise(model))
        fit = sum(w * log_likelihood(y, p) for w, y, p in zip(weights, targets, model, strict=True))
        bic.append(-2 * fit + blocks * log(weights.sum()))
    posterior = np.array([exp((min(bic) - one) / 2) for one in bic])
    return posterior @ np.array(models) / posterior.sum()


def log_likelihood(y, p):
    return (y * log(p) if y > 0 else 0.0) + ((1 - y) * log(1 - p) if y < 1 else 0.0)


def rows(seed, n, noise=1.0):
    rng = np.random.default_rng(seed)
    odds = np.sort(rng.normal(0.0, 2.0, n))
    targets = (rng.random(n) < sigmoid(odds / noise)).astype(float)
    return odds, targets, rng.gamma(3.0, size=n)


@pytest.mark.parametrize("noise", [0.1, 1.0, 10.0])
@pytest.mark.parametrize("n", [2, 5, 20, 150])
def test_it_is_the_average_written_out(n, noise):
    odds, targets, weights = rows(n, n, noise)

    fitted = fit_near_isotonic(odds, targets, weights, shrinkage=0.0)

    found = np.interp(odds, fitted.odds, fitted.probabilities)
    assert found == pytest.approx(naive_enir(targets, weights), abs=1e-9)


def test_models_passed_over_for_their_bound_are_not_missed():
    odds, targets, _ = rows(1, 1500)

    fitted = fit_near_isotonic(odds, targets, None, shrinkage=0.0)

    found = np.interp(odds, fitted.odds, fitted.probabilities)
    assert found == pytest.approx(naive_enir(targets, np.ones(1500)), abs=1e-12)


def test_two_rows_in_reverse_by_hand():
    # As they are: two blocks and a perfect fit, BIC 2 log 2. Pooled: one block, BIC 5 log 2.
    separate, pooled = 2.0 ** (-2 / 2), 2.0 ** (-5 / 2)
    high = (separate + pooled / 2) / (separate + pooled)

    fitted = fit_near_isotonic(np.array([700.0, -700.0]), np.array([0.0, 1.0]), None, shrinkage=0.0)

    assert_array_equal(fitted.odds, [-700.0, 700.0])
    assert fitted.probabilities == pytest.approx([high, 1 - high])


def test_it_can_follow_a_dip_that_isotonic_regression_flattens():
    rng = np.random.default_rng(2)
    odds = np.repeat([-2.0, -1.0, 1.0, 2.0], 1000)
    truth = np.repeat([0.3, 0.6, 0.2, 0.8], 1000)
    targets = (rng.random(4000) < truth).astype(float)

    nearly = fit_near_isotonic(odds, targets, None, shrinkage=0.0)
    flat = fit_isotonic(odds, targets, None, shrinkage=0.0)

    assert nearly.probabilities == pytest.approx([0.3, 0.6, 0.2, 0.8], abs=0.05)
    assert np.diff(flat.probabilities).min() >= 0


def test_on_data_already_monotone_it_is_isotonic_regression():
    odds, targets = np.array([-2.0, -1.0, 0.0, 3.0]), np.array([0.1, 0.1, 0.4, 0.9])

    nearly = fit_near_isotonic(odds, targets, None, shrinkage=0.5)
    isotonic = fit_isotonic(odds, targets, None, shrinkage=0.5)

    assert_array_equal(nearly.odds, isotonic.odds)
    assert nearly.probabilities == pytest.approx(isotonic.probabilities, abs=1e-15)


def test_a_total_weight_below_one_still_pays_nothing_for_blocks():
    odds, targets, weights = rows(3, 30)

    tiny = fit_near_isotonic(odds, targets, weights * 1e-9, shrinkage=0.0)

    # Hardly any evidence and no price for a block: all models count alike.
    path = near_isotonic_path(targets, weights)
    alike = np.mean([path.at(penalty) for penalty in path.breakpoints], axis=0)
    found = np.interp(odds, tiny.odds, tiny.probabilities)
    assert found == pytest.approx(alike, abs=1e-6)


def test_a_hundred_thousand_rows_give_a_small_map_near_the_truth():
    odds, targets, _ = rows(4, 100_000, noise=2.0)

    fitted = fit_near_isotonic(odds, targets, None, shrinkage=0.0)

    error = np.interp(odds, fitted.odds, fitted.probabilities) - sigmoid(odds / 2)
    assert np.abs(error).mean() < 0.015
    assert len(fitted.odds) < 1000

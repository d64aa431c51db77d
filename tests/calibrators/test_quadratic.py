"""Quadratic scaling against SciPy's own minimizer, and what a calibrator of features must be."""

import numpy as np
import pytest
from scipy.optimize import minimize

import tempocal as tc
from support.calibrators import simulate
from tempocal import extend
from tempocal.calibrators.quadratic import LARGE_ODDS


def penalized_nll(theta, z, y, strength):
    eta = theta[0] * z + theta[1] * z * np.abs(z) + theta[2]
    off = (theta - [1.0, 0.0, 0.0]) * [1.0, LARGE_ODDS, 1.0]
    return np.sum(np.logaddexp(0.0, eta) - y * eta) + 0.5 * strength * off @ off


@pytest.mark.parametrize("strength", [0.0, 0.5, 20.0])
@pytest.mark.parametrize("seed", range(3))
def test_it_is_the_optimum_within_its_bounds(strength, seed):
    z, y = simulate(2, 400, seed, slope=1.5 if seed else 0.5)
    cal = tc.QuadraticScaling(shrinkage=strength).fit(z, y)
    found = minimize(
        penalized_nll,
        [1.0, 0.1, 0.0],
        (z, y, strength),
        method="L-BFGS-B",
        bounds=[(0, None), (0, None), (None, None)],
        options={"ftol": 1e-15, "gtol": 1e-10},
    )
    theta = [cal.summary().details[name] for name in ("slope", "curvature", "bias")]
    np.testing.assert_allclose(theta, found.x, atol=2e-5)
    assert penalized_nll(np.array(theta), z, y, strength) <= found.fun + 1e-9


def test_a_true_curvature_is_found_and_ranks_stay():
    rng = np.random.default_rng(0)
    z = 2 * rng.normal(size=20_000)
    y = rng.random(len(z)) < 1 / (1 + np.exp(-0.5 * z - 0.3 * z * np.abs(z) - 0.2))
    cal = tc.QuadraticScaling().fit(z, y)
    theta = [cal.summary().details[name] for name in ("slope", "curvature", "bias")]
    np.testing.assert_allclose(theta, [0.5, 0.3, 0.2], atol=0.08)
    assert (np.diff(cal.decision_function(np.sort(z))) >= 0).all()


class Twice(extend.FeatureCalibrator):
    def features(self, odds):
        return [extend.Feature("slope", odds), extend.Feature("slope", odds * odds)]


class Undefined(extend.FeatureCalibrator):
    def features(self, odds):
        return [extend.Feature("root", extend.log(odds))]


class NotTheIdentity(extend.FeatureCalibrator):
    def features(self, odds):
        return [extend.Feature("slope", 2.0 * odds, identity=1.0)]


class Reversed(extend.FeatureCalibrator):
    def features(self, odds):
        return [extend.Feature("slope", odds, identity=1.0, lower=2.0)]


class Pole(extend.FeatureCalibrator):
    def features(self, odds):
        pole = extend.Feature("pole", 1.0 / (odds - 0.5))
        return [extend.Feature("slope", odds, identity=1.0), pole]


def test_where_a_feature_has_no_value_there_is_no_prediction():
    cal = Pole().fit(*simulate(2, 50))
    with pytest.raises(tc.errors.InputError, match=r"no finite value at log-odds of 0\.5"):
        cal.predict_proba([0.3, 0.5])


class Bare(extend.FeatureCalibrator):
    def features(self, odds):
        return odds


class Nothing(extend.FeatureCalibrator):
    def feature(self, odds):
        return [extend.Feature("slope", odds, identity=1.0)]


class Decided(extend.FeatureCalibrator):
    def features(self, odds):
        return [extend.Feature("slope", odds if odds > 0 else -odds, identity=1.0)]


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (Twice, "each feature needs a name of its own"),
        (Undefined, "the feature 'root' is not within 1e100 at log-odds of"),
        (NotTheIdentity, "features must add up to the log-odds"),
        (Reversed, "must have lower <= identity"),
        (Bare, "must return a tuple of Feature"),
        (Nothing, "has no method features"),
        (Decided, "neither true nor false"),
    ],
)
def test_features_that_are_none_are_refused(kind, words):
    with pytest.raises(tc.errors.InputError, match=words):
        kind().fit(*simulate(2, 50))

"""Each parametric calibrator against an independent solver of its written-out objective."""

from dataclasses import replace

import numpy as np
import pytest
from betacal import BetaCalibration as PeerBeta
from scipy.optimize import minimize
from scipy.special import log_expit, log_softmax, logsumexp
from sklearn import calibration
from sklearn.linear_model import LogisticRegression

import tempocal as tc
from support.calibrators import simulate
from tempocal.calibrators.linear_model import LinearModel


def minimum(objective, start, bounds=None):
    """Lowest value a general optimizer finds from a few starts, without our gradients."""
    runs = [
        minimize(
            objective,
            scale * np.asarray(start, float),
            method="L-BFGS-B",
            bounds=bounds,
            options={"ftol": 1e-15, "gtol": 1e-9, "maxiter": 5000, "maxfun": 10**6},
        )
        for scale in (1.0, 0.3)
    ]
    polished = [
        minimize(
            objective,
            run.x,
            method="Powell",
            bounds=bounds,
            options={"ftol": 1e-14, "xtol": 1e-10, "maxiter": 20_000, "maxfev": 10**6},
        )
        for run in runs
    ]
    return min(run.fun for run in runs + polished)


def binary_nll(eta, y):
    return -np.where(y == 1, log_expit(eta), log_expit(-eta)).mean()


def softmax_nll(eta, y):
    return -log_softmax(eta, axis=1)[np.arange(len(y)), y].mean()


def nll_of(calibrator, z, y):
    return -calibrator.predict_log_proba(z)[np.arange(len(y)), y].mean()


class TestTemperature:
    @pytest.mark.parametrize("n_classes", [2, 3, 10])
    def test_reaches_the_lowest_nll(self, n_classes):
        z, y = simulate(n_classes, 400)
        cal = tc.TemperatureScaling(shrinkage=0).fit(z, y)
        loss = binary_nll if n_classes == 2 else softmax_nll
        lowest = minimum(lambda theta: loss(theta[0] * z, y), [1.0])
        assert nll_of(cal, z, y) <= lowest + 1e-9

    @pytest.mark.parametrize("shrinkage", [0.5, 50.0])
    def test_reaches_the_lowest_penalized_objective(self, shrinkage):
        z, y = simulate(3, 400)
        cal = tc.TemperatureScaling(shrinkage=shrinkage).fit(z, y)

        def objective(theta):
            return softmax_nll(theta[0] * z, y) + shrinkage / 2 * (theta[0] - 1) ** 2 / len(y)

        assert objective([cal.inverse_temperature_]) <= minimum(objective, [1.0]) + 1e-9

    def test_agrees_with_logistic_regression_without_intercept(self):
        z, y = simulate(2, 1000)
        peer = LogisticRegression(C=np.inf, fit_intercept=False, tol=1e-10).fit(z[:, None], y)
        cal = tc.TemperatureScaling(shrinkage=0).fit(z, y)
        assert cal.inverse_temperature_ == pytest.approx(peer.coef_[0, 0], rel=1e-6)

    @pytest.mark.skipif(
        not hasattr(calibration, "_TemperatureScaling"), reason="scikit-learn before 1.8 has none"
    )
    def test_agrees_with_scikit_learn_which_doubles_a_single_column(self):
        z, y = simulate(2, 1000)
        peer = calibration._TemperatureScaling().fit(z, y)
        cal = tc.TemperatureScaling(shrinkage=0).fit(z, y)
        assert cal.inverse_temperature_ == pytest.approx(2 * peer.beta_, rel=1e-4)
        z, y = simulate(4, 1000)
        peer = calibration._TemperatureScaling().fit(z, y)
        cal = tc.TemperatureScaling(shrinkage=0).fit(z, y)
        assert cal.inverse_temperature_ == pytest.approx(peer.beta_, rel=1e-4)

    def test_one_column_and_two_give_the_same(self):
        z, y = simulate(2, 300)
        one = tc.TemperatureScaling().fit(z, y)
        two = tc.TemperatureScaling().fit(np.stack([np.full(300, 7.0), z + 7.0], axis=1), y)
        assert two.inverse_temperature_ == pytest.approx(one.inverse_temperature_, rel=1e-9)

    def test_temperature_is_the_inverse(self):
        cal = tc.TemperatureScaling().fit(*simulate(2, 300))
        assert cal.temperature_ * cal.inverse_temperature_ == pytest.approx(1.0)


class TestPlatt:
    def test_agrees_with_logistic_regression(self):
        z, y = simulate(2, 1000)
        peer = LogisticRegression(C=np.inf, tol=1e-10).fit(z[:, None], y)
        cal = tc.PlattScaling(shrinkage=0).fit(z, y)
        assert cal.slope_ == pytest.approx(peer.coef_[0], rel=1e-5)
        assert cal.bias_ == pytest.approx(peer.intercept_, rel=1e-4)

    def test_smoothed_targets_are_those_of_platt(self):
        z, y = simulate(2, 60)
        cal = tc.PlattScaling(shrinkage=0, smooth_targets=True).fit(z, y)
        positive = y.sum()
        t = np.where(y == 1, (positive + 1) / (positive + 2), 1 / (60 - positive + 2))

        def objective(theta):
            eta = theta[0] * z + theta[1]
            return -(t * log_expit(eta) + (1 - t) * log_expit(-eta)).mean()

        assert objective([cal.slope_[0], cal.bias_[0]]) <= minimum(objective, [1.0, 0.0]) + 1e-9

    def test_targets_of_two_classes_are_smoothed_by_default_unless_there_is_no_shrinkage(self):
        z, y = simulate(2, 60)
        default = tc.PlattScaling(shrinkage=1.0).fit(z, y)
        assert (
            default.slope_ == tc.PlattScaling(shrinkage=1.0, smooth_targets=True).fit(z, y).slope_
        )
        plain = tc.PlattScaling(shrinkage=0).fit(z, y)
        assert plain.slope_ == tc.PlattScaling(shrinkage=0, smooth_targets=False).fit(z, y).slope_
        assert plain.slope_ != tc.PlattScaling(shrinkage=0, smooth_targets=True).fit(z, y).slope_

    def test_targets_of_several_classes_are_not_smoothed_by_default(self):
        z, y = simulate(3, 60)
        default = tc.PlattScaling(shrinkage=1.0).fit(z, y).slope_
        plain = tc.PlattScaling(shrinkage=1.0, smooth_targets=False).fit(z, y).slope_
        smoothed = tc.PlattScaling(shrinkage=1.0, smooth_targets=True).fit(z, y).slope_
        assert (default == plain).all()
        assert (default != smoothed).all()

    def test_many_classes_are_fits_against_the_rest_on_the_log_odds(self):
        z, y = simulate(3, 500)
        cal = tc.PlattScaling(shrinkage=0).fit(z, y)
        p = np.empty((500, 3))
        for k in range(3):
            odds = z[:, k] - logsumexp(np.delete(z, k, axis=1), axis=1)
            peer = LogisticRegression(C=np.inf, tol=1e-10).fit(odds[:, None], y == k)
            assert cal.slope_[k] == pytest.approx(peer.coef_[0, 0], rel=1e-4)
            p[:, k] = peer.predict_proba(odds[:, None])[:, 1]
        np.testing.assert_allclose(
            cal.predict_proba(z), p / p.sum(axis=1, keepdims=True), atol=1e-5
        )

    def test_reversed_logits_are_set_right(self):
        z, y = simulate(2, 500)
        assert tc.PlattScaling().fit(-z, y).slope_[0] < 0


class TestVector:
    def test_reaches_the_lowest_nll(self):
        z, y = simulate(3, 400)
        cal = tc.VectorScaling(shrinkage=0).fit(z, y)
        lowest = minimum(lambda c: softmax_nll(z * c[:3] + c[3:], y), [1, 1, 1, 0, 0, 0])
        assert nll_of(cal, z, y) <= lowest + 1e-9
        assert cal.bias_.sum() == pytest.approx(0, abs=1e-12)

    def test_reaches_the_lowest_penalized_objective(self):
        z, y = simulate(3, 400)
        cal = tc.VectorScaling(shrinkage=(3.0, 20.0)).fit(z, y)

        def objective(c):
            penalty = 1.5 * ((c[:3] - 1) ** 2).sum() + 10 * (c[3:] ** 2).sum()
            return softmax_nll(z * c[:3] + c[3:], y) + penalty / len(y)

        found = np.concatenate([cal.weights_, cal.bias_])
        assert objective(found) <= minimum(objective, [1, 1, 1, 0, 0, 0]) + 1e-9

    def test_many_classes_are_fitted_too(self):
        z, y = simulate(160, 1000)
        cal = tc.VectorScaling(classes=np.arange(160)).fit(z, y)
        assert cal.summary().nll_after < cal.summary().nll_before

    def test_one_column_is_a_slope_and_a_bias(self):
        z, y = simulate(2, 300)
        cal = tc.VectorScaling(shrinkage=0).fit(z, y)
        platt = tc.PlattScaling(shrinkage=0).fit(z, y)
        assert cal.weights_ == pytest.approx(platt.slope_, rel=1e-9)
        assert cal.bias_ == pytest.approx(platt.bias_, rel=1e-9)


def matrix_objective(x, y, shrinkage, regularization):
    n_classes = x.shape[1]
    eye = np.eye(n_classes)

    def objective(c):
        weights, bias = c[: n_classes**2].reshape(n_classes, -1), c[n_classes**2 :]
        offset = weights - eye
        if regularization == "odir":
            offset = offset * (1 - eye)
        penalty = shrinkage / 2 * ((offset**2).sum() + (bias**2).sum())
        return softmax_nll(x @ weights.T + bias, y) + penalty / len(y)

    return objective


class TestMatrix:
    @pytest.mark.parametrize("regularization", ["odir", "l2"])
    @pytest.mark.parametrize("shrinkage", [2.0, 100.0])
    def test_reaches_the_lowest_penalized_objective(self, shrinkage, regularization):
        z, y = simulate(3, 300)
        cal = tc.MatrixScaling(shrinkage=shrinkage, regularization=regularization).fit(z, y)
        objective = matrix_objective(z, y, shrinkage, regularization)
        found = np.concatenate([cal.weights_.ravel(), cal.bias_])
        start = np.concatenate([np.eye(3).ravel(), np.zeros(3)])
        assert objective(found) <= minimum(objective, start) + 1e-9

    def test_agrees_with_multinomial_logistic_regression(self):
        z, y = simulate(3, 500)
        peer = LogisticRegression(C=np.inf, tol=1e-10, max_iter=10_000).fit(z, y)
        cal = tc.MatrixScaling(shrinkage=0).fit(z, y)
        np.testing.assert_allclose(cal.predict_proba(z), peer.predict_proba(z), atol=1e-5)

    def test_without_shrinkage_columns_sum_to_one_as_in_the_identity(self):
        cal = tc.MatrixScaling(shrinkage=0).fit(*simulate(3, 500))
        np.testing.assert_allclose(cal.weights_.sum(axis=0), 1.0, rtol=1e-9)
        assert cal.bias_.sum() == pytest.approx(0, abs=1e-12)

    def test_strength_by_cross_validation_beats_none_on_new_rows(self):
        z, y = simulate(6, 400)
        new_z, new_y = simulate(6, 20_000, seed=1)
        auto = tc.MatrixScaling().fit(z, y)
        plain = tc.MatrixScaling(shrinkage=0).fit(z, y)
        assert nll_of(auto, new_z, new_y) < nll_of(plain, new_z, new_y)

    def test_folds_follow_the_groups(self):
        """Copies of a row in several folds would ask for no shrinkage; in one group they do not."""
        z, y = simulate(6, 120)
        copies, groups = np.tile(np.arange(120), 10), np.tile(np.arange(120), 10)
        # Shift the copies so that without groups they fall into different folds.
        order = np.argsort(copies, kind="stable")
        z, y, groups = z[copies][order], y[copies][order], groups[order]

        def strength(cal):
            return cal.summary().details["shrinkage_of_slopes"]

        assert strength(tc.MatrixScaling().fit(z, y, groups=groups)) > strength(
            tc.MatrixScaling().fit(z, y)
        )

    @pytest.mark.parametrize("shrinkage", [0.0, 3.0])
    @pytest.mark.parametrize("distortion", ["none", "shifted", "of unequal scale"])
    def test_without_a_hessian_the_same_is_reached(self, distortion, shrinkage, monkeypatch):
        z, y = simulate(4, 600)
        if distortion == "shifted":
            z = z + 100.0
        elif distortion == "of unequal scale":
            z = z * [0.01, 1.0, 3.0, 30.0]
        newton = tc.MatrixScaling(shrinkage=shrinkage).fit(z, y)
        make = LinearModel.problem
        monkeypatch.setattr(
            "tempocal.calibrators.linear_model.LinearModel.problem",
            lambda *args: replace(make(*args), max_newton=3),
        )
        lbfgs = tc.MatrixScaling(shrinkage=shrinkage).fit(z, y)
        objective = matrix_objective(z, y, shrinkage, "odir")
        at = [
            objective(np.concatenate([cal.weights_.ravel(), cal.bias_])) for cal in (newton, lbfgs)
        ]
        assert at[1] == pytest.approx(at[0], abs=1e-9)

    def test_seventeen_classes_and_more_converge(self):
        z, y = simulate(18, 1500)
        summary = tc.MatrixScaling(shrinkage=1.0).fit(z + 100.0, y).summary()
        assert summary.details["converged"]


class TestBeta:
    @pytest.mark.parametrize(("form", "parameters"), [("abc", "abm"), ("ac", "am"), ("ab", "ab")])
    def test_agrees_with_betacal(self, form, parameters):
        z, y = simulate(2, 3000)
        p = 1 / (1 + np.exp(-z))
        # betacal keeps a weak L2 penalty: agreement is as close as that allows.
        peer = PeerBeta(parameters=parameters).fit(p, y)
        cal = tc.BetaCalibration(form=form, shrinkage=0, inputs="proba").fit(p, y)
        np.testing.assert_allclose(cal.predict_proba(p)[:, 1], peer.predict(p), atol=2e-3)

    @pytest.mark.parametrize(("a", "b"), [(0.6, 1.4), (1.5, -0.4), (-0.3, 1.2)])
    def test_reaches_the_lowest_nll_with_a_and_b_at_least_zero(self, a, b):
        rng = np.random.default_rng(0)
        z = 1.5 * rng.normal(size=800)
        eta = a * log_expit(z) - b * log_expit(-z) + 0.3
        y = (rng.random(800) < 1 / (1 + np.exp(-eta))).astype(int)
        cal = tc.BetaCalibration(shrinkage=0).fit(z, y)
        assert cal.a_[0] >= 0
        assert cal.b_[0] >= 0

        def objective(c):
            return binary_nll(c[0] * log_expit(z) - c[1] * log_expit(-z) + c[2], y)

        bounds = [(0, None), (0, None), (None, None)]
        assert nll_of(cal, z, y) <= minimum(objective, [1, 1, 0], bounds) + 1e-9

    def test_the_form_ab_keeps_one_half(self):
        z, y = simulate(2, 500)
        cal = tc.BetaCalibration(form="ab").fit(z, y)
        assert cal.predict_proba([0.0])[0, 1] == pytest.approx(0.5, abs=1e-12)
        assert cal.a_ != cal.b_

    def test_the_form_ac_is_platt_scaling(self):
        z, y = simulate(2, 500)
        cal = tc.BetaCalibration(form="ac", shrinkage=0).fit(z, y)
        platt = tc.PlattScaling(shrinkage=0).fit(z, y)
        assert cal.a_ == cal.b_
        assert cal.a_ == pytest.approx(platt.slope_, rel=1e-8)

    def test_an_unknown_form_is_refused(self):
        with pytest.raises(tc.errors.InputError, match="form must be one of"):
            tc.BetaCalibration(form="xyz").fit(*simulate(2, 20))


class TestDirichlet:
    @pytest.mark.parametrize("regularization", ["odir", "l2"])
    def test_reaches_the_lowest_penalized_objective(self, regularization):
        z, y = simulate(3, 300)
        cal = tc.DirichletCalibration(shrinkage=5.0, regularization=regularization).fit(z, y)
        objective = matrix_objective(log_softmax(z, axis=1), y, 5.0, regularization)
        found = np.concatenate([cal.weights_.ravel(), cal.bias_])
        start = np.concatenate([np.eye(3).ravel(), np.zeros(3)])
        assert objective(found) <= minimum(objective, start) + 1e-9

    def test_two_classes_are_beta_calibration(self):
        """Where a and b come out positive by themselves."""
        z, y = simulate(2, 1000)
        cal = tc.DirichletCalibration(shrinkage=0).fit(z, y)
        beta = tc.BetaCalibration(shrinkage=0).fit(z, y)
        assert beta.a_[0] > 0
        assert beta.b_[0] > 0
        np.testing.assert_allclose(cal.predict_proba(z), beta.predict_proba(z), atol=1e-6)


@pytest.mark.parametrize("kind", [tc.MatrixScaling, tc.DirichletCalibration])
def test_an_unknown_regularization_is_refused(kind):
    with pytest.raises(tc.errors.InputError, match='regularization must be "odir" or "l2"'):
        kind(regularization="lasso").fit(*simulate(3, 50))


@pytest.mark.parametrize(
    "shrinkage", ["strong", -1, np.nan, np.inf, None, True, (1, 2, 3), (1, -1)]
)
@pytest.mark.parametrize("kind", [tc.TemperatureScaling, tc.PlattScaling, tc.VectorScaling])
def test_a_shrinkage_that_means_nothing_is_refused(kind, shrinkage):
    with pytest.raises(tc.errors.InputError, match="shrinkage must be"):
        kind(shrinkage=shrinkage).fit(*simulate(2, 50))

"""Fits that learn from forecasts, of odd sequences and extreme horizons."""

import warnings

import numpy as np
import pytest

import tempocal as tc
from support.martingales import simulate_forecasts
from tempocal.errors import InputError, NoFiniteOptimumError, WorseOnItsRowsWarning

MATCHES = tc.datasets.simulate_match(60, seed=5)
Z, Y, T, S = MATCHES.logits, MATCHES.label, MATCHES.time, MATCHES.sequence
CURVES = [tc.Constant(), tc.PerStep(), tc.ExponentialDecay(), tc.Spline(), tc.RandomWalk()]
every_curve = pytest.mark.parametrize("curve", CURVES, ids=repr)
LAST = np.append(S[1:] != S[:-1], True)
pytestmark = pytest.mark.filterwarnings("ignore::tempocal.errors.AtBoundWarning")


def fit(curve=None, horizon=0.2, which=None, calibrator=None, **given):
    rows = {"logits": Z, "y": Y, "time": T, "sequence": S, **given}
    if which is not None:
        rows = {name: values[which] for name, values in rows.items()}
    cal = tc.TemporalCalibrator(
        calibrator or tc.PlattScaling(), curve or tc.Spline(), td_horizon=horizon
    )
    return cal.fit(**rows)


def proba(cal, z=Z):
    return cal.predict_proba(z, time=T)


def require_sound(cal, z=Z):
    """Probabilities and bands are numbers; that the fit did not converge was told."""
    assert np.isfinite(proba(cal, z)).all()
    for band in cal.interval_at(np.unique(T)).values():
        assert (band.lower <= band.upper).all()
    assert cal.summary_.details["converged"]
    assert "nan" not in str(cal.summary())


class TestSequences:
    @every_curve
    def test_one_alone(self, curve):
        cal = fit(curve, which=S == 0, calibrator=tc.PlattScaling(classes=[0, 1]))
        assert np.isfinite(proba(cal)).all()
        assert cal.summary_.n_groups == 1

    @every_curve
    def test_two_of_one_class_each(self, curve):
        two = (np.cumsum(np.append(0, np.diff(Y) != 0)) < 2) & ((S[0] == S) | (Y[0] != Y))
        require_sound(fit(curve, which=two))

    @every_curve
    def test_all_of_one_class(self, curve):
        cal = fit(curve, y=np.zeros_like(Y), calibrator=tc.PlattScaling(classes=[0, 1]))
        require_sound(cal)
        # Nothing speaks for the other class, but shrinkage keeps some of it.
        assert proba(cal)[:, 1].mean() < proba(fit(curve))[:, 1].mean()

    def test_all_of_one_class_without_shrinkage(self):
        calibrator = tc.PlattScaling(classes=[0, 1], shrinkage=0)
        with pytest.raises(NoFiniteOptimumError, match="a class never occurs"):
            fit(tc.Constant(), y=np.zeros_like(Y), calibrator=calibrator)

    @every_curve
    def test_of_very_different_length(self, curve):
        require_sound(fit(curve, which=1 + S % 12 > T))

    @every_curve
    def test_with_gaps(self, curve):
        require_sound(fit(curve, which=np.random.default_rng(0).random(len(Z)) < 0.5))

    def test_gaps_are_no_steps(self):
        """A row learns from the next one that there is, however much time lies between."""
        stretched = T * T.max() + T
        found, expected = (
            fit(tc.Constant(), time=t, calibrator=tc.PlattScaling(shrinkage=2.0))
            for t in (stretched, T)
        )
        np.testing.assert_allclose(proba(found), proba(expected), atol=1e-10)

    def test_of_one_row_among_others_learn_from_their_outcome(self):
        """One row alone has its outcome as its target, as each last row has."""
        single = S < 20
        alone = np.where(single, np.arange(len(S)) + 1000, S)
        cal = fit(tc.Constant(), horizon=1e-9, sequence=alone)
        require_sound(cal)
        assert cal.summary_.n_groups == len(np.unique(alone))


class TestWeights:
    def test_weigh_the_equation_of_their_row_only(self):
        """Psi is the sum of weight times feature times (target minus forecast)."""
        weights = 0.5 + T % 3
        calibrator = tc.TemperatureScaling(shrinkage=2.0)
        cal = fit(tc.Constant(), sample_weight=weights, calibrator=calibrator)
        slope = cal.parameters_at([0])["inverse_temperature"][0]
        p, decay = proba(cal)[:, 1], np.exp(-1 / (0.2 * len(S) / len(np.unique(S))))
        target = np.empty_like(p)
        for row in reversed(range(len(p))):
            ahead = (0, Y[row]) if LAST[row] else (decay * target[row + 1], p[row + 1])
            target[row] = Y[row] if LAST[row] else ahead[0] + (1 - decay) * ahead[1]
        psi = (weights * Z * (target - p)).sum() - 2.0 * (slope - 1.0)
        assert abs(psi) < 1e-7

    @every_curve
    def test_of_zero_at_the_end_leave_the_outcome_to_the_rows_before(self, curve):
        found = fit(curve, sample_weight=np.where(T > 8, 0.0, 1.0))
        expected = fit(curve, which=T <= 8)
        np.testing.assert_allclose(proba(found), proba(expected), atol=1e-8)

    @every_curve
    def test_of_very_different_size(self, curve):
        weights = np.where(LAST, 1e6, 1e-3)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            require_sound(fit(curve, sample_weight=weights))


class TestLogits:
    @every_curve
    def test_constant_ones(self, curve):
        require_sound(fit(curve, logits=np.full(len(Z), 0.3)))

    def test_constant_ones_of_three_classes_do_not_warn(self):
        f = simulate_forecasts(40, 3, seed=1)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            cal = tc.TemporalCalibrator(tc.TemperatureScaling(), tc.Constant(), td_horizon=0.3)
            cal.fit(np.zeros_like(f.true_logits), f.label, time=f.time, sequence=f.sequence)
        np.testing.assert_allclose(cal.predict_proba(np.zeros((1, 3)), time=[0.0]), 1 / 3)

    @pytest.mark.parametrize("factor", [1e-8, 1e3, 1e6])
    @every_curve
    def test_of_any_scale(self, curve, factor):
        z = factor * Z
        require_sound(fit(curve, logits=z), z)

    @every_curve
    def test_a_huge_one(self, curve):
        z = np.where(np.arange(len(Z)) == 7, 1e6, Z)
        require_sound(fit(curve, logits=z), z)

    @every_curve
    def test_certain_last_forecasts(self, curve):
        """Rows before them agree with each other at slope 0."""
        z = np.where(LAST, np.where(Y == 1, 1e4, -1e4), Z)
        with pytest.warns(WorseOnItsRowsWarning):
            found = fit(curve, logits=z)
        require_sound(found, z)


class TestHorizons:
    @every_curve
    @pytest.mark.parametrize("tiny", [1e-300, 5e-324])
    def test_tiny_ones_learn_from_the_next_forecast(self, curve, tiny):
        found, expected = fit(curve, tiny), fit(curve, 1e-4)
        np.testing.assert_allclose(proba(found), proba(expected), atol=1e-9)
        assert found.td_horizon_ == tiny

    @every_curve
    def test_huge_ones_learn_from_outcomes(self, curve):
        found, expected = fit(curve, 1e300), fit(curve, np.inf)
        np.testing.assert_array_equal(proba(found), proba(expected))
        assert found.td_horizon_ == np.inf
        assert "1e+300 sequences ahead there are only outcomes" in str(found.summary())

    @pytest.mark.parametrize(
        "wrong", [0, 0.0, -0.1, -np.inf, np.nan, "long", "inf", None, True, [0.1], np.array([0.1])]
    )
    def test_others_are_refused(self, wrong):
        with pytest.raises(InputError, match='td_horizon must be "auto", a share of a typical'):
            fit(horizon=wrong)

    @pytest.mark.parametrize("number", [1, np.float32(0.5), np.int64(2)])
    def test_numbers_of_any_type_are_taken(self, number):
        assert fit(horizon=number).td_horizon_ == float(number)

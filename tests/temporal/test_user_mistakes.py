"""Mistakes that users make: each is said, none gives an answer that only looks right."""

import warnings

import numpy as np
import pytest
from sklearn.metrics import accuracy_score
from sklearn.model_selection import GridSearchCV, GroupKFold

import tempocal as tc
from tempocal.errors import InputError, LooksLikeProbabilitiesWarning, NoFiniteOptimumError

MATCHES = tc.datasets.simulate_match(80, wins=7)
Z, Y, T, G = MATCHES.logits, MATCHES.label, MATCHES.time, MATCHES.sequence


@pytest.mark.parametrize(
    "calibrator",
    [tc.TemperatureScaling(), tc.TemporalCalibrator(curve=tc.Spline())],
    ids=["global", "along time"],
)
def test_probabilities_passed_as_logits_are_noticed(calibrator):
    time = {"time": T} if isinstance(calibrator, tc.TemporalCalibrator) else {}
    with pytest.warns(LooksLikeProbabilitiesWarning, match='inputs="proba"'):
        calibrator.fit(1 / (1 + np.exp(-Z)), Y, groups=G, **time)


def test_the_time_among_the_predictions_is_refused():
    with pytest.raises(InputError, match="column 1 of the predictions is the time itself"):
        tc.TemporalCalibrator().fit(np.column_stack([Z, T]), Y, time=T)


@pytest.mark.filterwarnings("ignore::tempocal.errors.SingleRowsWarning")  # said before
def test_a_step_for_each_row_is_refused():
    time = np.random.default_rng(0).random(len(Z))
    with pytest.raises(InputError, match=r"PerStep\(bins=20\)"):
        tc.TemporalCalibrator(tc.IsotonicCalibration(), tc.PerStep()).fit(Z, Y, time=time)


def test_bare_curves_of_the_logits_claim_no_interval_of_their_gain():
    cal = tc.TemporalCalibrator(tc.IsotonicCalibration(), tc.PerStep(bins=2)).fit(Z, Y, time=T)
    assert "gain_interval" not in cal.summary().details


@pytest.mark.parametrize(
    "curve", [tc.Constant(), tc.Spline(), tc.RandomWalk(), tc.ExponentialDecay(), tc.PerStep()]
)
@pytest.mark.parametrize("calibrator", [tc.TemperatureScaling(), tc.PlattScaling()])
def test_separable_rows_have_no_maximum_likelihood_along_any_curve(calibrator, curve):
    rng = np.random.default_rng(0)
    z = np.concatenate([rng.uniform(1, 3, 50), rng.uniform(-3, -1, 50)])
    cal = tc.TemporalCalibrator(calibrator, curve, shrinkage=0)
    with pytest.raises(NoFiniteOptimumError):
        cal.fit(z, (z > 0).astype(int), time=np.tile(np.arange(10), 10))


def all_but_separated():
    """Twelve of a hundred thousand rows make an optimum finite, and a sample can miss them."""
    rng = np.random.default_rng(0)
    z = 2 * rng.normal(size=100_000)
    y = z > 0
    flipped = rng.choice(np.flatnonzero(np.abs(z) > 0.2), 12, replace=False) // 6 * 6 + 1
    y[flipped] = ~y[flipped]
    return z, y, rng.integers(0, 20, size=len(z)), flipped


def test_a_sample_that_is_separable_is_not_the_whole():
    z, y, time, _ = all_but_separated()
    for cal in (tc.Constant(), tc.Spline(smoothness=1e4)):
        fitted = tc.TemporalCalibrator(curve=cal, shrinkage=0).fit(z, y, time=time)
        assert (fitted.parameters_at([0, 3, 20])["inverse_temperature"] < 1e3).all()


@pytest.mark.filterwarnings("ignore::tempocal.errors.NotConvergedWarning")
@pytest.mark.parametrize("in_order", [False, True])
def test_an_exponential_that_runs_away_at_its_first_time_is_refused(in_order):
    z, y, time, flipped = all_but_separated()
    assert 0 not in time[flipped]
    order = np.argsort(time, kind="stable") if in_order else np.arange(len(z))
    cal = tc.TemporalCalibrator(curve=tc.ExponentialDecay(), shrinkage=0)
    with pytest.raises(tc.errors.NoFiniteOptimumError, match="infinite at time 0"):
        cal.fit(z[order], y[order], time=time[order])


@pytest.mark.parametrize("seed", range(6))
def test_no_exponential_is_beyond_all_reason(seed):
    """One row of seventy thousand is on the wrong side."""
    rng = np.random.default_rng(seed)
    z, time = rng.normal(size=70_000), rng.integers(0, 36, 70_000)
    y = z > 0
    y[rng.integers(len(y))] ^= True
    cal = tc.TemporalCalibrator(shrinkage=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tc.errors.TempocalWarning)
        try:
            cal.fit(z, y, time=time)
        except tc.errors.NoFiniteOptimumError:
            return
    assert (cal.parameters_at(np.arange(36))["inverse_temperature"] < 1e9).all()


def test_a_comparison_without_groups_says_so():
    cal = tc.AutoTemporalCalibrator([tc.TemperatureScaling()]).fit(Z, Y, time=T)
    assert "No groups were given" in str(cal.comparison_)
    cal.fit(Z, Y, time=T, groups=G)
    assert "No groups were given" not in str(cal.comparison_)


def test_scores_take_the_time():
    cal = tc.TemporalCalibrator(curve=tc.Spline()).fit(Z, Y, time=T)
    assert cal.score(Z, Y, time=T) == accuracy_score(Y, cal.predict(Z, time=T))


def test_settings_of_a_curve_can_be_searched():
    X = np.column_stack([Z, T])
    search = GridSearchCV(
        tc.TemporalCalibrator(curve=tc.Spline(), time_column=-1),
        {"curve__intervals": [2, 5]},
        cv=GroupKFold(3),
        scoring="neg_log_loss",
        error_score="raise",
    )
    search.fit(X, Y, groups=G)
    assert search.best_estimator_.curve.intervals in (2, 5)


class TestSettingsOfCurves:
    def test_go_in_and_out(self):
        surface = tc.Surface(tc.Spline(intervals=3), tc.RandomWalk())
        assert surface.get_params()["curve_a__intervals"] == 3
        assert "curve_a__intervals" not in surface.get_params(deep=False)
        surface.set_params(curve_a__intervals=4)
        assert surface.curve_a == tc.Spline(intervals=4)

    def test_that_do_not_exist_are_refused(self):
        with pytest.raises(InputError, match="'knots' is no setting of Spline"):
            tc.Spline().set_params(knots=3)


def test_a_calibrator_along_time_is_none_to_follow_a_curve():
    with pytest.raises(InputError, match="calibrator must be one such as"):
        tc.TemporalCalibrator(tc.AutoTemporalCalibrator()).fit(Z, Y, time=T)

"""The horizon that "auto" takes, and the strengths of fits that learn from forecasts."""

import numpy as np
import pytest

import tempocal as tc
from support.martingales import simulate_forecasts
from tempocal.errors import WorseOnItsRowsWarning
from tempocal.temporal import horizon as module
from tempocal.temporal.forecast_tests import ForecastTests

MATCHES = tc.datasets.simulate_match(60, seed=5)


def fit(logits, label, time, sequence, *, horizon="auto"):
    cal = tc.TemporalCalibrator(tc.TemperatureScaling(), tc.Spline(), td_horizon=horizon)
    return cal.fit(logits, label, time=time, sequence=sequence).summary().details


def calibrated(count, seed):
    m = tc.datasets.simulate_match(count, seed=seed)
    logits = np.log(m.true_probability) - np.log1p(-m.true_probability)
    return logits, m.label, m.time, m.sequence


class TestRungs:
    """Each horizon is left for the next where a test rejects it."""

    @pytest.mark.parametrize(
        ("p_values", "expected"),
        [
            ([0.5], 0.1),
            ([0.07, 0.2], 0.25),
            ([0.07, 0.07, 0.07], 0.625),
            ([0.01, 0.01, 0.01], np.inf),
        ],
    )
    @pytest.mark.parametrize("of_memory", [True, False])
    def test_of_probabilities(self, monkeypatch, p_values, expected, of_memory):
        found = iter([ForecastTests(*((0.5, p) if of_memory else (p, 0.5)), 2.0) for p in p_values])
        monkeypatch.setattr(module, "check_forecasts", lambda *_: next(found))
        m = MATCHES
        details = fit(m.logits, m.label, m.time, m.sequence)
        assert details["td_horizon"] == pytest.approx(expected)
        assert next(found, None) is None
        if expected == np.inf:
            assert "p = 0.01" in details["td_horizon_because"]

    @pytest.mark.parametrize(
        ("n_groups", "expected"), [(2, 0.1), (300, 0.1), (1200, 0.2), (40_000, np.inf)]
    )
    def test_usual_horizon_grows_with_the_root_of_the_groups(self, n_groups, expected):
        assert module.usual_horizon(n_groups) == pytest.approx(expected)


class TestMemory:
    """Forecasts of which the next one can be predicted, in either direction."""

    @staticmethod
    def taken(**how):
        found = []
        for seed in range(6):
            f = simulate_forecasts(150, seed=seed, steps=20, **how)
            found.append(fit(f.true_logits, f.label, f.time, f.sequence)["td_horizon"])
        return np.array(found)

    def test_of_a_model_that_reacts_slowly(self):
        assert np.mean(self.taken(reaction=0.3) > module.SHORTEST) >= 0.8

    def test_of_a_model_that_forgets(self):
        assert np.isinf(self.taken(forgets=True)).all()

    def test_of_exact_forecasts(self):
        assert np.mean(self.taken() == module.SHORTEST) >= 0.6


class TestStrengths:
    @pytest.mark.parametrize("seed", [10, 28, 36])
    def test_leave_their_start(self, seed):
        """Losses with moving targets do not compare: rounds that did not converge chose badly."""
        details = fit(*calibrated(50, seed), horizon=0.1)
        assert details["shrinkage_of_slopes"] != 1.0


class TestWhatIsSaid:
    M = tc.datasets.simulate_match(60, seed=1)

    def test_a_fit_that_is_worse_on_its_own_rows_warns(self):
        """Rows in the wrong order: forecasts say the opposite of what follows."""
        m = self.M
        with pytest.warns(WorseOnItsRowsWarning, match="does time count down"):
            tc.TemporalCalibrator(tc.TemperatureScaling(), tc.Spline(), td_horizon=0.1).fit(
                m.logits[::-1],
                m.label[::-1],
                time=m.time[::-1],
                sequence=m.sequence[::-1],
                order=np.arange(len(m.time)),
            )

    def test_a_fit_next_to_the_identity_is_worth_nothing_that_can_be_said(self):
        m = self.M
        calibrator = tc.TemperatureScaling(shrinkage=1e9)
        cal = tc.TemporalCalibrator(calibrator, tc.Spline(), td_horizon=0.1)
        details = cal.fit(m.logits, m.label, time=m.time, sequence=m.sequence).summary_.details
        assert "worth_of_outcomes" not in details
        assert details["td_horizon"] == 0.1

    def test_an_average_says_what_its_members_learned_from(self):
        m = self.M
        fit = tc.AutoTemporalCalibrator().fit
        learned = fit(m.logits, m.label, time=m.time, sequence=m.sequence).summary_.details
        outcomes = fit(m.logits, m.label, time=m.time, groups=m.sequence).summary_.details
        assert "horizon" in learned["learned"]
        assert "learned" not in outcomes

    @pytest.mark.parametrize(
        ("named", "text"),
        [
            ({"groups": MATCHES.sequence % 4}, "fewer than 5 independent groups"),
            ({"sample_weight": np.full(len(MATCHES.time), 0.01)}, "weights add up to less than"),
        ],
    )
    @pytest.mark.filterwarnings("ignore::tempocal.errors.LightWeightsWarning")
    def test_outcomes_count_where_nothing_could_be_tested(self, named, text):
        m = MATCHES
        cal = tc.TemporalCalibrator(tc.PlattScaling(), tc.Spline())
        cal.fit(m.logits, m.label, time=m.time, sequence=m.sequence, **named)
        assert cal.td_horizon_ == np.inf
        assert text in str(cal.summary())


@pytest.mark.parametrize("kind", [tc.VectorScaling, tc.MatrixScaling, tc.DirichletCalibration])
@pytest.mark.parametrize("curve", [tc.PerStep(bins=3), tc.RandomWalk(), tc.ExponentialDecay()])
@pytest.mark.filterwarnings("ignore::tempocal.errors.AtBoundWarning")
def test_pooled_classes_learn_from_forecasts(kind, curve):
    f = simulate_forecasts(40, 3, seed=1, steps=6)
    time = np.arange(len(f.time)) - np.searchsorted(f.sequence, f.sequence)
    cal = tc.TemporalCalibrator(kind(), curve, td_horizon=0.2)
    cal.fit(2.0 * f.true_logits, f.label, time=time, sequence=f.sequence)
    assert cal.td_horizon_ == 0.2
    assert np.isfinite(cal.predict_proba(f.true_logits, time=time)).all()

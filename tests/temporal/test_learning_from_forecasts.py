"""Fits that learn from the forecasts in between: optimum, laws, refusals, choice of the horizon."""

import re
import warnings

import numpy as np
import pytest
from scipy.optimize import root
from scipy.special import expit, softmax
from sklearn import config_context
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, GroupKFold

import tempocal as tc
from support.calibrators import PARAMETRIC
from support.martingales import simulate_forecasts
from tempocal.errors import InputError, MixedLabelsWarning

MATCHES = tc.datasets.simulate_match(60, seed=5)
Z, Y, T, S = MATCHES.logits, MATCHES.label, MATCHES.time, MATCHES.sequence
HORIZON = 0.2
CURVES = [
    tc.Constant(),
    tc.PerStep(),
    tc.ExponentialDecay(),
    tc.Logarithmic(),
    tc.Spline(smoothness=1.0),
    tc.RandomWalk(smoothness=1.0),
]
every_curve = pytest.mark.parametrize("curve", CURVES, ids=repr)
every_kind = pytest.mark.parametrize("kind", PARAMETRIC)
pytestmark = pytest.mark.filterwarnings("ignore::tempocal.errors.AtBoundWarning")


def three_classes(n_sequences=60):
    f = simulate_forecasts(n_sequences, 3, seed=1)
    step = np.arange(len(f.time)) - np.searchsorted(f.sequence, f.sequence)
    return f.true_logits * (1 + np.exp(-step))[:, None], f.label, step, f.sequence


def fit(calibrator, curve, z=Z, y=Y, t=T, s=S, horizon=HORIZON, **more):  # noqa: PLR0917
    cal = tc.TemporalCalibrator(calibrator, curve, td_horizon=horizon)
    return cal.fit(z, y, time=t, sequence=s, **more)


def gap(a, b):
    return float(np.abs(a - b).max())


def decay(sequences, horizon=HORIZON):
    return np.exp(-1.0 / (horizon * len(sequences) / len(np.unique(sequences))))


def targets(p, outcome, sequences, weight):
    """Mix the next forecast and the next target, row by row from the end."""
    found = np.empty_like(p)
    for row in range(len(p) - 1, -1, -1):
        if row == len(p) - 1 or sequences[row + 1] != sequences[row]:
            found[row] = outcome[row]
        else:
            found[row] = (1 - weight) * p[row + 1] + weight * found[row + 1]
    return found


class TestOptimum:
    """The root of the estimating function, by an independent solver."""

    def test_of_a_temperature(self):
        cal = fit(tc.TemperatureScaling(shrinkage=3.0), tc.Constant())

        def psi(theta):
            p = expit(theta[0] * Z)
            return [Z @ (targets(p, Y, S, decay(S)) - p) - 3.0 * (theta[0] - 1.0)]

        expected = root(psi, [1.0], tol=1e-13).x[0]
        assert abs(cal.parameters_at([0])["inverse_temperature"][0] - expected) < 1e-8

    def test_of_slopes_and_biases_at_each_step(self):
        calibrator = tc.PlattScaling(shrinkage=2.0, smooth_targets=False)
        cal = fit(calibrator, tc.PerStep(), sample_weight=1.0 + S % 3)
        steps, key = np.unique(T, return_inverse=True)
        weights = 1.0 + S % 3

        def psi(theta):
            slope, bias = theta.reshape(2, -1)
            p = expit(slope[key] * Z + bias[key])
            residual = weights * (targets(p, Y, S, decay(S)) - p)
            return np.concatenate(
                [
                    np.bincount(key, residual * Z) - 2.0 * (slope - 1.0),
                    np.bincount(key, residual) - 2.0 * bias,
                ]
            )

        start = np.concatenate([np.ones(len(steps)), np.zeros(len(steps))])
        expected = root(psi, start, tol=1e-13).x.reshape(2, -1)
        found = cal.parameters_at(steps)
        assert gap(found["slope"], expected[0]) < 1e-8
        assert gap(found["bias"], expected[1]) < 1e-8

    def test_of_a_vector_of_weights(self):
        z, y, t, s = three_classes()
        cal = fit(tc.VectorScaling(shrinkage=1.5), tc.Constant(), z, y, t, s)
        outcome = np.eye(3)[y]

        def psi(theta):
            weight, bias = theta.reshape(2, 3)
            p = softmax(z * weight + bias, axis=1)
            residual = targets(p, outcome, s, decay(s)) - p
            slopes = (residual * z).sum(axis=0) - 1.5 * (weight - 1.0)
            return np.concatenate([slopes, residual.sum(axis=0) - 1.5 * bias])

        expected = root(psi, [1.0] * 3 + [0.0] * 3, tol=1e-13).x.reshape(2, 3)
        found = cal.predict_proba(z, time=t)
        assert gap(found, softmax(z * expected[0] + expected[1], axis=1)) < 1e-8

    @every_curve
    def test_is_a_fixed_point_of_fits_to_targets(self, curve):
        """A fit to the targets of its own forecasts, as soft labels, changes nothing."""
        cal = fit(tc.TemperatureScaling(shrinkage=1.0), curve)
        p = cal.predict_proba(Z, time=T)[:, 1]
        soft = targets(p, Y, S, decay(S))
        # A soft label is one row for each class, of that weight.
        again = tc.TemporalCalibrator(tc.TemperatureScaling(shrinkage=1.0), curve).fit(
            np.concatenate([Z, Z]),
            np.repeat([0, 1], len(Z)),
            time=np.concatenate([T, T]),
            sample_weight=np.concatenate([1.0 - soft, soft]),
        )
        assert gap(again.predict_proba(Z, time=T)[:, 1], p) < 2e-8

    def test_keeps_bounds(self):
        rng = np.random.default_rng(0)
        z = np.where(rng.random(len(Z)) < 0.8, -Z, Z)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            cal = fit(tc.TemperatureScaling(shrinkage=0.1), tc.Spline(smoothness=1.0), z)
        assert cal.parameters_at(np.unique(T))["inverse_temperature"].min() >= 0.0


class TestLaws:
    @every_curve
    @every_kind
    def test_infinity_is_the_fit_to_outcomes(self, curve, kind):
        by_outcomes = tc.TemporalCalibrator(kind(), curve).fit(Z, Y, time=T, groups=S)
        found = fit(kind(), curve, horizon=np.inf)
        np.testing.assert_array_equal(
            found.predict_proba(Z, time=T), by_outcomes.predict_proba(Z, time=T)
        )

    @every_curve
    @every_kind
    @pytest.mark.parametrize("n_classes", [2, 3])
    def test_every_calibrator_learns_along_every_curve(self, curve, kind, n_classes):
        z, y, t, s = (Z, Y, T, S) if n_classes == 2 else three_classes(80)
        if kind in (tc.MatrixScaling, tc.DirichletCalibration):
            # Their diagonal is not shrunk: at the last steps few sequences separate the classes.
            kept = t < 8
            z, y, t, s = z[kept], y[kept], t[kept], s[kept]
        cal = fit(kind(shrinkage=5.0), curve, z, y, t, s)
        p = cal.predict_proba(z, time=t)
        assert np.isfinite(p).all()
        assert cal.summary_.details["converged"]
        for interval in cal.interval_at(np.unique(t)).values():
            assert (interval.lower <= interval.upper).all()
        assert (
            gap(
                p,
                fit(kind(shrinkage=5.0), curve, z, y, t, s, horizon=np.inf).predict_proba(
                    z, time=t
                ),
            )
            > 0
        )

    def test_one_row_a_sequence_is_the_fit_to_outcomes(self):
        found = fit(tc.PlattScaling(), tc.Spline(), s=np.arange(len(Z)))
        expected = fit(tc.PlattScaling(), tc.Spline(), s=np.arange(len(Z)), horizon=np.inf)
        np.testing.assert_array_equal(
            found.predict_proba(Z, time=T), expected.predict_proba(Z, time=T)
        )

    @every_curve
    def test_the_order_of_the_rows_does_not_matter_with_order(self, curve):
        rows = np.random.default_rng(0).permutation(len(Z))
        found = fit(
            tc.PlattScaling(), curve, Z[rows], Y[rows], T[rows], S[rows], order=T[rows]
        ).decision_function(Z, time=T)
        expected = fit(tc.PlattScaling(), curve).decision_function(Z, time=T)
        assert gap(found, expected) < 1e-8

    def test_a_weight_of_two_is_the_sequence_twice(self):
        twice = [np.concatenate([one, one]) for one in (Z, Y, T)]
        found = fit(
            tc.TemperatureScaling(shrinkage=1.0),
            tc.Spline(smoothness=1.0),
            *twice,
            np.concatenate([S, S + 1000]),
        )
        weighted = fit(
            tc.TemperatureScaling(shrinkage=1.0),
            tc.Spline(smoothness=1.0),
            sample_weight=np.full(len(Z), 2.0),
        )
        assert gap(found.decision_function(Z, time=T), weighted.decision_function(Z, time=T)) < 1e-7

    def test_rows_of_weight_zero_are_left_out_of_their_sequence(self):
        weights = (np.arange(len(Z)) % 4 != 0).astype(float)
        kept = weights > 0
        found = fit(tc.TemperatureScaling(shrinkage=1.0), tc.Constant(), sample_weight=weights)
        expected = fit(
            tc.TemperatureScaling(shrinkage=1.0), tc.Constant(), Z[kept], Y[kept], T[kept], S[kept]
        )
        assert (
            gap(found.decision_function(Z, time=T), expected.decision_function(Z, time=T)) < 1e-10
        )

    def test_groups_may_hold_several_sequences(self):
        apart, together = (
            fit(tc.TemperatureScaling(shrinkage=1.0), tc.Spline(smoothness=1.0), groups=g)
            for g in (S, S // 2)
        )
        assert gap(apart.predict_proba(Z, time=T), together.predict_proba(Z, time=T)) < 1e-12
        assert together.summary_.n_groups == 30

    def test_a_long_horizon_is_near_the_fit_to_outcomes(self):
        near, far = (
            fit(tc.TemperatureScaling(shrinkage=1.0), tc.Spline(smoothness=1.0), horizon=h)
            for h in (1e4, np.inf)
        )
        assert 0 < gap(near.predict_proba(Z, time=T), far.predict_proba(Z, time=T)) < 1e-3


class TestChoice:
    def test_few_matches_teach_more(self):
        """Mean divergence from the truth, over ten sets of 40 matches."""
        test = tc.datasets.simulate_match(300, seed=99)
        truth = np.stack([1 - test.true_probability, test.true_probability], axis=1)
        excess = {"auto": [], np.inf: []}
        for seed in range(10):
            m = tc.datasets.simulate_match(40, seed=seed)
            for horizon, found in excess.items():
                cal = fit(
                    tc.TemperatureScaling(),
                    tc.Spline(),
                    m.logits,
                    m.label,
                    m.time,
                    m.sequence,
                    horizon,
                )
                log_p = cal.predict_log_proba(test.logits, time=test.time)
                found.append((truth * (np.log(truth) - log_p)).sum(axis=1).mean())
        assert np.mean(excess["auto"]) < 0.5 * np.mean(excess[np.inf])

    @pytest.mark.parametrize("n_classes", [2, 3])
    def test_a_model_that_forgets_learns_from_outcomes(self, n_classes):
        taken = {True: [], False: []}
        for forgets, found in taken.items():
            for seed in range(8):
                f = simulate_forecasts(60, n_classes, seed=seed, forgets=forgets)
                cal = fit(
                    tc.TemperatureScaling(),
                    tc.Spline(),
                    f.true_logits,
                    f.label,
                    f.time,
                    f.sequence,
                    "auto",
                )
                found.append(cal.summary_.details["td_horizon"])
        assert np.mean(np.isinf(taken[True])) >= 0.9
        assert np.mean(np.isinf(taken[False])) <= 0.4

    def test_the_summary_says_what_was_taken(self):
        m = tc.datasets.simulate_match(60, seed=0)
        rows = (m.logits, m.label, m.time, m.sequence)
        text = str(fit(tc.TemperatureScaling(), tc.Spline(), *rows, horizon="auto").summary())
        assert "td horizon: 0.1 of a sequence (about 2.1 rows)" in text
        assert "no sign that the model forgets" in text
        assert re.search(r"worth of outcomes: \d+ sequences, from 60", text)
        assert "independent rows" not in text

    def test_the_summary_gives_no_reason_for_what_was_asked(self):
        texts = [
            str(fit(tc.TemperatureScaling(), tc.Spline(), horizon=h).summary())
            for h in (np.inf, 0.3)
        ]
        assert "horizon" not in texts[0]
        assert "td horizon: 0.3 of a sequence (about 6" in texts[1]
        assert "because" not in texts[1]

    def test_coarser_groups_are_what_is_counted(self):
        cal = fit(tc.TemperatureScaling(), tc.Spline(), horizon="auto", groups=S // 2)
        assert f"groups, from {len(np.unique(S // 2))}" in str(cal.summary())

    def test_without_sequence_outcomes_count(self):
        cal = tc.TemporalCalibrator(tc.TemperatureScaling(), tc.Spline()).fit(
            Z, Y, time=T, groups=S
        )
        assert "td horizon: inf (outcomes only)" in str(cal.summary())
        assert "no sequence was given" in str(cal.summary())

    def test_labels_that_differ_leave_outcomes_only(self):
        y = np.where(np.arange(len(Y)) == 3, 1 - Y, Y)
        with pytest.warns(MixedLabelsWarning):
            cal = fit(tc.TemperatureScaling(), tc.Spline(), y=y, horizon="auto")
        assert "labels differ within sequences" in str(cal.summary())

    def test_identity_learns_nothing(self):
        assert fit(tc.Identity(), tc.Constant()).predict_proba(Z, time=T).shape == (len(Z), 2)


class TestRefusals:
    @pytest.mark.parametrize("horizon", [0, -1, np.nan, "long", None, True, [0.1]])
    def test_of_horizons(self, horizon):
        with pytest.raises(InputError, match='td_horizon must be "auto", a share'):
            fit(tc.TemperatureScaling(), tc.Spline(), horizon=horizon)

    def test_of_a_finite_horizon_without_sequence(self):
        with pytest.raises(InputError, match="pass sequence="):
            tc.TemporalCalibrator(td_horizon=0.1).fit(Z, Y, time=T, groups=S)

    def test_of_labels_that_differ(self):
        y = np.where(np.arange(len(Y)) == 3, 1 - Y, Y)
        differs = pytest.raises(InputError, match="it differs within the sequence 0")
        with pytest.warns(MixedLabelsWarning), differs:
            fit(tc.TemperatureScaling(), tc.Spline(), y=y)

    def test_of_calibrators_without_coefficients(self):
        with pytest.raises(InputError, match="IsotonicCalibration has no coefficients"):
            fit(tc.IsotonicCalibration(), tc.PerStep(bins=2))

    def test_of_equal_times(self):
        with pytest.raises(InputError, match="two rows of the sequence 0 have the same"):
            fit(tc.TemperatureScaling(), tc.Spline(), t=np.zeros(len(T)))

    def test_of_time_that_runs_backwards(self):
        with pytest.raises(InputError, match="time must grow along a sequence"):
            fit(tc.TemperatureScaling(), tc.Spline(), t=-T.astype(float))

    def test_of_order_that_runs_backwards(self):
        with pytest.raises(InputError, match="Pass -order then"):
            fit(tc.TemperatureScaling(), tc.Spline(), order=-T.astype(float))

    def test_of_two_clocks_without_order(self):
        surface = tc.Surface(tc.Spline(), tc.Spline())
        clocks = np.stack([T, T % 5], axis=1)
        with pytest.raises(InputError, match="time has two clocks"):
            fit(tc.TemperatureScaling(), surface, t=clocks)
        assert fit(tc.TemperatureScaling(), surface, t=clocks, order=T).summary_.details[
            "converged"
        ]

    def test_of_groups_that_split_a_sequence(self):
        with pytest.raises(InputError, match="a group holds whole sequences"):
            fit(tc.TemperatureScaling(), tc.Spline(), groups=np.arange(len(Z)))

    def test_of_order_without_sequence(self):
        with pytest.raises(InputError, match="sequence is None"):
            tc.TemporalCalibrator().fit(Z, Y, time=T, order=T)


class TestScikitLearn:
    X = np.column_stack([Z, T, S])

    def test_sequences_come_from_a_column(self):
        by_column = tc.TemporalCalibrator(
            tc.PlattScaling(), tc.Spline(), td_horizon=HORIZON, time_column=1, sequence_column=2
        ).fit(self.X, Y)
        expected = fit(tc.PlattScaling(), tc.Spline()).predict_proba(Z, time=T)
        np.testing.assert_array_equal(by_column.predict_proba(self.X), expected)

    def test_the_horizon_is_searched(self):
        cal = tc.TemporalCalibrator(curve=tc.Spline(), time_column=1, sequence_column=2)
        search = GridSearchCV(
            cal,
            {"td_horizon": [0.1, 0.5, float("inf")]},
            cv=GroupKFold(3),
            scoring="neg_log_loss",
            error_score="raise",
        ).fit(self.X, Y, groups=S)
        assert search.best_params_["td_horizon"] in (0.1, 0.5, float("inf"))

    def test_metadata_is_requested(self):
        with config_context(enable_metadata_routing=True):
            cal = tc.TemporalCalibrator().set_fit_request(sequence=True, order=True, groups=True)
            requests = cal.get_metadata_routing().fit.requests
        assert requests["sequence"] is requests["order"] is requests["groups"] is True

    def test_clones_keep_the_horizon(self):
        cal = clone(tc.TemporalCalibrator(td_horizon=0.3, time_column=0, sequence_column=1))
        assert (cal.td_horizon, cal.sequence_column) == (0.3, 1)

    def test_a_column_is_not_both(self):
        with pytest.raises(InputError, match="are the same column"):
            tc.TemporalCalibrator(time_column=1, sequence_column=1).fit(self.X, Y)

    def test_of_a_column_of_sequences_without_one_of_times(self):
        with pytest.raises(InputError, match="sequence_column is 2"):
            tc.TemporalCalibrator(sequence_column=2).fit(self.X, Y, time=T)

    def test_not_from_two_places(self):
        cal = tc.TemporalCalibrator(time_column=1, sequence_column=2)
        with pytest.raises(InputError, match="give one of the two"):
            cal.fit(self.X, Y, sequence=S)

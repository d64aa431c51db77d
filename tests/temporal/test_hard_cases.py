"""Data and arguments on which calibrators along time could fall over."""

import pickle
import warnings
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import tempocal as tc
from support.calibrators import ALL, PARAMETRIC, simulate
from support.lanes import by_turns
from support.public_curves import with_every_curve
from tempocal.errors import InputError, NoFiniteOptimumError

CURVES = with_every_curve(
    [
        tc.Constant(),
        tc.PerStep(),
        tc.PerStep(bins=2),
        tc.ExponentialDecay(),
        tc.Spline(),
        tc.RandomWalk(),
    ]
)
every_curve = pytest.mark.parametrize("curve", CURVES, ids=repr)
every_pair = pytest.mark.parametrize(
    ("kind", "curve"), by_turns(PARAMETRIC, CURVES, every=3), ids=repr
)
pytestmark = pytest.mark.filterwarnings("ignore::tempocal.errors.AtBoundWarning")

MATCHES = tc.datasets.simulate_match(60, wins=5, seed=2)
Z, Y, T, G = MATCHES.logits, MATCHES.label, MATCHES.time, MATCHES.sequence


def temporal(kind=tc.TemperatureScaling, curve=None, **settings):
    return tc.TemporalCalibrator(kind(**settings), curve or tc.Spline())


def assert_usable(cal, z, t):
    p = cal.predict_proba(z, time=t)
    assert np.isfinite(p).all()
    np.testing.assert_allclose(p.sum(axis=1), 1.0, rtol=1e-12)
    for interval in cal.interval_at(t).values():
        assert np.isfinite(interval.lower).all()
        assert np.isfinite(interval.upper).all()
    assert isinstance(str(cal.summary()), str)
    return p


class TestFewRows:
    @every_pair
    def test_one_row(self, kind, curve):
        cal = temporal(kind, curve, classes=[0, 1]).fit([0.3], [1], time=[4])
        p = assert_usable(cal, [0.3], [9])
        assert 0.3 < p[0, 1] < 0.99

    @every_pair
    def test_two_rows(self, kind, curve):
        cal = temporal(kind, curve).fit([-0.4, 0.7], [0, 1], time=[0, 5], groups=[3, 4])
        p = assert_usable(cal, [-0.4, 0.7], [0, 5])
        assert p.max() < 0.999

    @every_pair
    def test_forty_rows_of_three_classes(self, kind, curve):
        z, y = simulate(3, 40)
        cal = temporal(kind, curve).fit(z, y, time=np.arange(40) % 7, groups=np.arange(40) // 4)
        assert_usable(cal, z, np.arange(40))

    @every_curve
    def test_one_sequence(self, curve):
        z, y = simulate(2, 40)
        cal = temporal(curve=curve).fit(z, y, time=np.arange(40), groups=np.zeros(40))
        assert_usable(cal, z, np.arange(40))
        assert cal.summary().n_groups == 1
        assert cal.summary().effective_number == pytest.approx(1.0)

    @every_curve
    @pytest.mark.filterwarnings("ignore::tempocal.errors.SingleRowsWarning")  # said of steps
    def test_every_row_at_a_time_of_its_own(self, curve):
        z, y = simulate(2, 300)
        time = np.random.default_rng(0).exponential(size=300)
        assert_usable(temporal(curve=curve).fit(z, y, time=time), z, time)

    def test_no_rows_are_refused(self):
        with pytest.raises(InputError):
            temporal().fit(np.zeros((0,)), [], time=[])

    @pytest.mark.parametrize("kind", ALL)
    def test_every_calibrator_goes_with_steps_and_time_bins(self, kind):
        for curve in (tc.PerStep(), tc.PerStep(bins=2)):
            p = temporal(kind, curve).fit(Z, Y, time=T).predict_proba(Z, time=T)
            assert np.isfinite(p).all()


class TestHardSteps:
    def one_class(self):
        y = Y.copy()
        y[T == 2] = 1
        return y

    def separable(self):
        return np.where(T == 2, Z > 0, Y).astype(int)

    @every_pair
    def test_of_one_class_or_separable_are_shrunk(self, kind, curve):
        for y in (self.one_class(), self.separable()):
            cal = temporal(kind, curve).fit(Z, y, time=T, groups=G)
            p = assert_usable(cal, Z, T)
            assert p[T == 2].max() < 1 - 1e-7

    @pytest.mark.parametrize("kind", [tc.TemperatureScaling, tc.PlattScaling, tc.BetaCalibration])
    def test_that_are_separable_have_no_maximum_likelihood(self, kind):
        with pytest.raises(NoFiniteOptimumError, match="the best coefficients are infinite"):
            temporal(kind, tc.PerStep(), shrinkage=0).fit(Z, self.separable(), time=T)

    def test_that_have_no_maximum_likelihood_are_named(self):
        """Which of thirty steps is to blame is what a user has to know."""
        with pytest.raises(NoFiniteOptimumError, match=r"time.* 2\b"):
            temporal(curve=tc.PerStep(), shrinkage=0).fit(Z, self.separable(), time=T)

    @pytest.mark.parametrize("kind", [tc.PlattScaling, tc.BetaCalibration])
    def test_of_one_class_have_no_maximum_likelihood(self, kind):
        with pytest.raises(NoFiniteOptimumError, match="a class never occurs"):
            temporal(kind, tc.PerStep(), shrinkage=0).fit(Z, self.one_class(), time=T)

    @pytest.mark.parametrize(
        "curve", [tc.ExponentialDecay(), tc.Spline(smoothness=0.0), tc.RandomWalk(0.0)], ids=repr
    )
    def test_all_separable_have_no_maximum_likelihood(self, curve):
        with pytest.raises(NoFiniteOptimumError, match="the best coefficients are infinite"):
            temporal(curve=curve, shrinkage=0).fit(Z, (Z > 0).astype(int), time=T)
        p = temporal(curve=curve).fit(Z, (Z > 0).astype(int), time=T).predict_proba(Z, time=T)
        assert np.isfinite(p).all()

    @every_curve
    def test_whose_logits_are_all_zero_are_left_alone(self, curve):
        """At the start of a match nothing is known, and a fair model says so."""
        silent = np.where(T == 0, 0.0, Z)
        for shrinkage in ("auto", 1.0, 0):
            cal = temporal(curve=curve, shrinkage=shrinkage)
            cal.fit(silent, Y, time=T)
            p = cal.predict_proba(silent, time=T)
            assert (p[T == 0] == 0.5).all()
            assert np.isfinite(p).all()

    @pytest.mark.parametrize("curve", CURVES, ids=repr)
    @pytest.mark.parametrize("size", [1e-6, 1e2, 1e4])
    def test_of_huge_or_tiny_logits(self, curve, size):
        cal = temporal(curve=curve).fit(size * Z, Y, time=T)
        assert cal.summary().details["passes"] < 150
        assert np.isfinite(cal.predict_proba(size * Z, time=T)).all()

    @every_curve
    def test_certain_logits(self, curve):
        z = np.where(Z > 0, np.inf, -np.inf)
        p = temporal(curve=curve).fit(z, Y, time=T).predict_proba(z, time=T)
        assert np.isfinite(p).all()
        assert p.max() < 1 - 1e-4


class TestTimes:
    @every_curve
    def test_beyond_the_fitted_range_are_answered(self, curve):
        cal = temporal(curve=curve).fit(Z, Y, time=T)
        far = [-1e300, -1e9, T.max() + 1, 1e9, 1e300]
        assert_usable(cal, np.ones(5), far)

    @every_curve
    @pytest.mark.parametrize("order", ["shuffled", "reversed"])
    def test_may_come_in_any_order(self, curve, order):
        rows = np.random.default_rng(0).permutation(len(Y))
        rows = rows if order == "shuffled" else np.arange(len(Y))[::-1]
        cal = temporal(curve=curve, shrinkage=1.0)
        a = cal.fit(Z, Y, time=T).predict_proba(Z, time=T)
        b = cal.fit(Z[rows], Y[rows], time=T[rows]).predict_proba(Z, time=T)
        np.testing.assert_allclose(a, b, atol=1e-4 if curve in CURVES[3:] else 1e-7)

    @every_curve
    @pytest.mark.parametrize("span", [1e-300, 1e-12, 1e12, 1e300])
    def test_of_any_scale(self, curve, span):
        """From the age of the universe to that of a photon."""
        cal = temporal(curve=curve, shrinkage=1.0)
        a = cal.fit(Z, Y, time=T).predict_proba(Z, time=T)
        b = cal.fit(Z, Y, time=span * T).predict_proba(Z, time=span * T)
        np.testing.assert_allclose(a, b, atol=1e-4)

    @every_curve
    def test_that_differ_in_their_last_digit_alone(self, curve):
        time = np.where(np.arange(len(Y)) % 2, 1.7e9, np.nextafter(1.7e9, np.inf))
        assert_usable(temporal(curve=curve).fit(Z, Y, time=time), Z, time)

    @pytest.mark.parametrize(
        ("bad", "words"),
        [
            (np.nan, "time contains NaN, NaT or None"),
            (np.inf, "time"),
            (-np.inf, "time"),
            (None, "time contains NaN, NaT or None"),
        ],
    )
    def test_that_are_none_are_refused(self, bad, words):
        broken = [float(t) for t in T]
        broken[7] = bad
        with pytest.raises(InputError, match=words) as caught:
            temporal().fit(Z, Y, time=broken)
        assert "7" in str(caught.value)
        cal = temporal().fit(Z, Y, time=T)
        for ask in (cal.parameters_at, cal.interval_at):
            with pytest.raises(InputError, match="time"):
                ask([1.0, bad])
        with pytest.raises(InputError, match="time"):
            cal.predict_proba([0.1, 0.2], time=[1.0, bad])

    def test_that_are_not_a_time_are_refused(self):
        missing = pd.Series(pd.to_timedelta(T, unit="s"))
        missing[3] = pd.NaT
        with pytest.raises(InputError, match="time contains NaN, NaT or None"):
            temporal().fit(Z, Y, time=missing)

    def test_of_another_length_are_refused(self):
        for time in (T[:-1], np.append(T, 3), 5):
            with pytest.raises(InputError, match="time"):
                temporal().fit(Z, Y, time=time)
        cal = temporal().fit(Z, Y, time=T)
        with pytest.raises(InputError, match="time"):
            cal.predict_proba(Z, time=T[:-1])

    def test_of_two_columns_are_for_surfaces(self):
        both = np.stack([T, T], axis=1)
        with pytest.raises(InputError, match="time must be one time for each row"):
            temporal().fit(Z, Y, time=both)
        surface = temporal(curve=tc.Surface(tc.Spline(), tc.Constant()))
        with pytest.raises(InputError, match=r"time must be an array of shape \(n, 2\)"):
            surface.fit(Z, Y, time=T)
        with pytest.raises(InputError, match=r"time must be an array of shape \(n, 2\)"):
            surface.fit(Z, Y, time=both).predict_proba(Z, time=T)

    def test_that_are_single_are_refused_in_words(self):
        cal = temporal().fit(Z, Y, time=T)
        for ask in (cal.parameters_at, cal.interval_at):
            with pytest.raises(InputError, match="time"):
                ask(3)

    def test_keep_their_kind(self):
        kinds = {
            "numbers": T,
            "timedeltas": T.astype("m8[m]"),
            "datetimes": np.datetime64("2024-01-01") + T.astype("m8[h]"),
        }
        for before, time in kinds.items():
            cal = temporal().fit(Z, Y, time=time)
            for now, other in kinds.items():
                if now == before:
                    assert np.isfinite(cal.predict_proba(Z, time=other)).all()
                    continue
                with pytest.raises(InputError, match=r"time was .* in the fit and is .* now"):
                    cal.predict_proba(Z, time=other)
                with pytest.raises(InputError, match="in the fit and is"):
                    cal.parameters_at(other[:3])


class TestDoors:
    def table(self):
        return pd.DataFrame({"minute": T, "logit": Z})

    def test_exactly_one_must_be_open(self):
        with pytest.raises(InputError, match="time is missing: pass time="):
            temporal().fit(Z, Y)
        both = tc.TemporalCalibrator(curve=tc.Spline(), time_column=0)
        with pytest.raises(InputError, match="time was passed, but time_column=0"):
            both.fit(self.table(), Y, time=T)
        with pytest.raises(InputError, match="time is missing"):
            temporal().fit(Z, Y, time=T).predict_proba(Z)
        fitted = both.fit(self.table(), Y)
        with pytest.raises(InputError, match="give one of"):
            fitted.predict_proba(self.table(), time=T)

    @pytest.mark.parametrize("column", [0, -2, "minute", np.int64(0)])
    def test_the_column_is_as_good_as_the_keyword(self, column):
        keyword = temporal().fit(Z[:, None], Y, time=T, groups=G)
        table = self.table()
        within = tc.TemporalCalibrator(
            tc.TemperatureScaling(), tc.Spline(), time_column=column
        ).fit(table, Y, groups=G)
        for method in ("predict_proba", "predict_log_proba", "decision_function", "predict"):
            np.testing.assert_array_equal(
                getattr(within, method)(table), getattr(keyword, method)(Z[:, None], time=T)
            )
        assert within.n_features_in_ == 2
        assert within.feature_names_in_.tolist() == ["minute", "logit"]

    @pytest.mark.parametrize("column", [1, -1])
    def test_the_column_of_an_array_or_a_list(self, column):
        X = np.stack([Z, T], axis=1)
        expected = temporal().fit(Z, Y, time=T).predict_proba(Z, time=T)
        for kind in (X, X.tolist(), X.astype(np.float32).astype(float)):
            cal = tc.TemporalCalibrator(curve=tc.Spline(), time_column=column).fit(kind, Y)
            np.testing.assert_allclose(cal.predict_proba(kind), expected, atol=1e-5)

    def test_two_columns_for_a_surface(self):
        other = np.arange(len(Y)) % 3
        surface = tc.Surface(tc.Spline(smoothness=1.0), tc.PerStep())
        table = pd.DataFrame({"a": T, "logit": Z, "b": other})
        keyword = temporal(curve=surface, shrinkage=1.0).fit(Z, Y, time=(T, other))
        for columns in (("a", "b"), (0, 2), (0, -1), ["a", "b"]):
            cal = tc.TemporalCalibrator(
                tc.TemperatureScaling(shrinkage=1.0), surface, time_column=columns
            ).fit(table, Y)
            np.testing.assert_allclose(
                cal.predict_proba(table), keyword.predict_proba(Z, time=(T, other)), atol=1e-9
            )

    def test_a_column_of_datetimes(self):
        table = self.table()
        table["minute"] = pd.Timestamp("2024-01-01", tz="Europe/Vienna") + pd.to_timedelta(
            table["minute"], unit="min"
        )
        cal = tc.TemporalCalibrator(curve=tc.Spline(), time_column="minute").fit(table, Y)
        expected = temporal().fit(Z, Y, time=T).predict_proba(Z, time=T)
        np.testing.assert_allclose(cal.predict_proba(table), expected, atol=1e-6)

    @pytest.mark.parametrize(
        ("column", "words"),
        [
            ("hour", r"time_column is 'hour', but the columns of X are \['minute', 'logit'\]"),
            (2, "time_column is 2, but X has 2 feature"),
            (-3, "it must be from -2 to 1"),
            (True, "time_column must be a position or a name"),
            (1.0, "time_column must be a position or a name"),
            ((0, 1), "time_column must name 1 column"),
        ],
    )
    def test_a_column_that_is_not_there_is_refused(self, column, words):
        cal = tc.TemporalCalibrator(curve=tc.Spline(), time_column=column)
        with pytest.raises(InputError, match=words):
            cal.fit(self.table(), Y)

    def test_x_with_nothing_but_time_is_refused(self):
        cal = tc.TemporalCalibrator(curve=tc.Spline(), time_column=-1)
        with pytest.raises(InputError, match="all of them time"):
            cal.fit(T[:, None], Y)
        with pytest.raises(InputError, match="two dimensions"):
            cal.fit(Z, Y)

    @every_curve
    def test_a_shuffled_index_is_not_looked_at(self, curve):
        order = np.random.default_rng(0).permutation(len(Y))
        table = pd.DataFrame({"logit": Z, "time": T, "y": Y, "match": G}, index=order)
        cal = temporal(curve=curve, shrinkage=1.0)
        a = cal.fit(Z, Y, time=T, groups=G).predict_proba(Z, time=T)
        b = cal.fit(table["logit"], table["y"], time=table["time"], groups=table["match"])
        b = b.predict_proba(table["logit"], time=table["time"])
        np.testing.assert_array_equal(a, b)


class TestKindsOfInput:
    @every_curve
    @pytest.mark.parametrize("dtype", [np.float16, np.float32])
    def test_small_floats_are_computed_with_as_large_ones(self, curve, dtype):
        small = Z.astype(dtype)
        cal = temporal(tc.PlattScaling, curve, shrinkage=1.0)
        a = cal.fit(small, Y, time=T.astype(dtype)).predict_proba(small, time=T.astype(dtype))
        assert a.dtype == np.float64
        b = cal.fit(small.astype(float), Y, time=T).predict_proba(small.astype(float), time=T)
        np.testing.assert_array_equal(a, b)

    def test_labels_may_be_words(self):
        words = np.array(["lost", "won"])[Y]
        a = temporal().fit(Z, Y, time=T)
        b = temporal().fit(Z, words, time=T)
        np.testing.assert_array_equal(a.predict_proba(Z, time=T), b.predict_proba(Z, time=T))
        assert b.classes_.tolist() == ["lost", "won"]
        assert set(b.predict(Z, time=T)) == {"lost", "won"}

    @every_curve
    def test_probabilities_are_as_good_as_logits(self, curve):
        p = 1 / (1 + np.exp(-Z))
        a = temporal(curve=curve, shrinkage=1.0).fit(Z, Y, time=T).predict_proba(Z, time=T)
        b = temporal(curve=curve, shrinkage=1.0, inputs="proba").fit(p, Y, time=T)
        np.testing.assert_allclose(b.predict_proba(p, time=T), a, atol=1e-5)

    @every_curve
    def test_one_column_is_as_good_as_two_for_temperature(self, curve):
        two = np.stack([np.zeros_like(Z), Z], axis=1)
        a = temporal(curve=curve, shrinkage=1.0).fit(Z, Y, time=T).predict_proba(Z, time=T)
        b = temporal(curve=curve, shrinkage=1.0).fit(two, Y, time=T).predict_proba(two, time=T)
        np.testing.assert_allclose(a, b, atol=1e-6)

    @pytest.mark.parametrize("bad", [Z[:-1], "logits"])
    def test_wrong_lengths_are_refused(self, bad):
        with pytest.raises(InputError):
            temporal().fit(bad, Y, time=T)
        with pytest.raises(InputError):
            temporal().fit(Z, Y[:-1], time=T)
        with pytest.raises(InputError, match="groups"):
            temporal().fit(Z, Y, time=T, groups=G[:-1])
        with pytest.raises(InputError, match="sample_weight"):
            temporal().fit(Z, Y, time=T, sample_weight=np.ones(3))

    def test_a_single_number_is_refused_in_words(self):
        with pytest.raises(InputError, match="logits"):
            temporal().fit(0.3, [1], time=[2])


class TestParts:
    def test_that_do_not_go_together_are_refused(self):
        for curve in (tc.Spline(), tc.ExponentialDecay(), tc.RandomWalk()):
            with pytest.raises(InputError, match="has no coefficients that could follow"):
                temporal(tc.IsotonicCalibration, curve).fit(Z, Y, time=T)
        with pytest.raises(InputError, match='unseen="interpolate"'):
            temporal(tc.IsotonicCalibration, tc.PerStep(unseen="interpolate")).fit(Z, Y, time=T)

    @pytest.mark.parametrize("kind", [tc.IsotonicCalibration, tc.HistogramBinning])
    def test_may_have_their_shrinkage_outside(self, kind):
        within = temporal(kind, tc.PerStep(bins=2), shrinkage=5.0).fit(Z, Y, time=T)
        outside = tc.TemporalCalibrator(kind(), tc.PerStep(bins=2), shrinkage=5.0)
        a, b = (cal.fit(Z, Y, time=T).predict_proba(Z, time=T) for cal in (within, outside))
        np.testing.assert_array_equal(a, b)

    def test_that_are_none_are_refused(self):
        with pytest.raises(InputError, match="calibrator must be one such as"):
            tc.TemporalCalibrator("temperature").fit(Z, Y, time=T)
        with pytest.raises(InputError, match="calibrator must be one such as"):
            tc.TemporalCalibrator(tc.TemporalCalibrator()).fit(Z, Y, time=T)
        with pytest.raises(InputError, match="curve must be one such as"):
            tc.TemporalCalibrator(curve="spline").fit(Z, Y, time=T)
        with pytest.raises(InputError, match="shrinkage must be"):
            tc.TemporalCalibrator(shrinkage=-1.0).fit(Z, Y, time=T)
        with pytest.raises(InputError, match="or a number of at least 0, but it is"):
            tc.TemporalCalibrator(shrinkage=(1.0, 2.0)).fit(Z, Y, time=T)

    def test_default_to_temperature_along_an_exponential(self):
        a = tc.TemporalCalibrator().fit(Z, Y, time=T, groups=G)
        b = tc.TemporalCalibrator(tc.TemperatureScaling(), tc.ExponentialDecay())
        b.fit(Z, Y, time=T, groups=G)
        np.testing.assert_array_equal(a.predict_proba(Z, time=T), b.predict_proba(Z, time=T))

    def test_keep_a_fit_that_was_followed_by_a_failed_one(self):
        cal = temporal().fit(Z, Y, time=T)
        before = cal.predict_proba(Z, time=T)
        with pytest.raises(InputError):
            cal.fit(Z, Y, time=np.full(len(Y), np.nan))
        np.testing.assert_array_equal(cal.predict_proba(Z, time=T), before)

    def test_only_an_exponential_has_its_numbers(self):
        cal = temporal().fit(Z, Y, time=T)
        for name in ("alpha_", "beta_", "gamma_", "time_origin_"):
            assert not hasattr(cal, name)
        with pytest.raises(AttributeError, match="ExponentialDecay"):
            _ = cal.alpha_

    def test_do_not_change_by_being_fitted(self):
        calibrator, curve = tc.PlattScaling(), tc.Spline()
        cal = tc.TemporalCalibrator(calibrator, curve)
        before = repr(cal)
        cal.fit(Z, Y, time=T)
        assert repr(cal) == before
        assert cal.calibrator is calibrator
        assert not hasattr(calibrator, "map_")


class TestCopies:
    def test_have_the_parameters_of_the_parts(self):
        cal = tc.TemporalCalibrator(tc.PlattScaling(shrinkage=3.0), tc.Spline(5), time_column=-1)
        assert cal.get_params(deep=False) == {
            "calibrator": cal.calibrator,
            "curve": tc.Spline(5),
            "td_horizon": "auto",
            "shrinkage": None,
            "time_column": -1,
            "sequence_column": None,
        }
        assert cal.get_params()["calibrator__shrinkage"] == 3.0
        copy = clone(cal).set_params(calibrator__shrinkage=1.0, curve=tc.RandomWalk())
        assert cal.calibrator.shrinkage == 3.0
        assert copy.calibrator.shrinkage == 1.0
        assert copy.curve == tc.RandomWalk()

    @every_curve
    def test_are_unfitted_and_fit_alike(self, curve):
        cal = temporal(curve=curve).fit(Z, Y, time=T)
        copy = clone(cal)
        assert not hasattr(copy, "map_")
        again = copy.fit(Z, Y, time=T).predict_proba(Z, time=T)
        np.testing.assert_array_equal(again, cal.predict_proba(Z, time=T))

    @every_curve
    def test_by_pickle_predict_the_same(self, curve):
        cal = temporal(curve=curve).fit(Z, Y, time=T, groups=G)
        copy = pickle.loads(pickle.dumps(cal))
        np.testing.assert_array_equal(copy.predict_proba(Z, time=T), cal.predict_proba(Z, time=T))
        a, b = (one.interval_at([3])["inverse_temperature"].upper for one in (cal, copy))
        np.testing.assert_array_equal(a, b)

    def test_go_through_a_pool_of_processes(self):
        cals = [temporal(curve=curve).fit(Z, Y, time=T) for curve in CURVES]
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
            futures = [pool.submit(cal.predict_proba, Z, T) for cal in cals]
            fits = [pool.submit(clone(cal).fit, Z, Y, time=T) for cal in cals[:2]]
            for cal, future in zip(cals, futures, strict=True):
                np.testing.assert_array_equal(future.result(), cal.predict_proba(Z, time=T))
            for cal, future in zip(cals, fits, strict=False):
                found = future.result().predict_proba(Z, time=T)
                np.testing.assert_allclose(found, cal.predict_proba(Z, time=T), atol=1e-12)


class TestRatesAtAnEnd:
    def test_are_said(self):
        """A curve that bends upwards is nearest to a straight line."""
        rng = np.random.default_rng(0)
        t = rng.integers(0, 10, size=4000)
        z = 2 * rng.normal(size=4000)
        y = (rng.random(4000) < 1 / (1 + np.exp(-(0.3 + 0.015 * t**2) * z))).astype(int)
        with pytest.warns(tc.errors.AtBoundWarning, match="a straight line"):
            cal = temporal(curve=tc.ExponentialDecay(), shrinkage=0).fit(z, y, time=t)
        values = cal.parameters_at(np.arange(10))["inverse_temperature"]
        np.testing.assert_allclose(np.diff(values, n=2), 0.0, atol=1e-3)
        band = cal.interval_at([0, 9])["inverse_temperature"]
        assert (band.upper - band.lower < 0.5).all()


def test_a_million_rows():
    """The only slow one."""
    rng = np.random.default_rng(0)
    n = 1_000_000
    t = rng.integers(0, 36, size=n)
    z = 2 * rng.normal(size=n)
    slope = 1 - 0.7 * np.exp(-t / 6)
    y = (rng.random(n) < 1 / (1 + np.exp(-slope * z))).astype(int)
    for curve in (tc.ExponentialDecay(), tc.PerStep()):
        cal = temporal(curve=curve).fit(z, y, time=t)
        found = cal.parameters_at(np.arange(36))["inverse_temperature"]
        np.testing.assert_allclose(found, 1 - 0.7 * np.exp(-np.arange(36) / 6), atol=0.05)


def test_warnings_are_those_of_the_user():
    """A warning points at the line that called, not into the package."""
    rng = np.random.default_rng(0)
    z = rng.normal(size=200)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        temporal(curve=tc.ExponentialDecay()).fit(z, (z < 0).astype(int), time=np.arange(200) % 9)
    assert caught
    assert all(one.filename == __file__ for one in caught)

"""Laws that hold whatever the data: what reduces to what, and what changes nothing."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.metrics import roc_auc_score

import tempocal as tc
from support.calibrators import PARAMETRIC, at_fixed_shrinkage, simulate
from support.examples import examples

MATCHES = tc.datasets.simulate_match(120, seed=3)
Z, Y, T, G = MATCHES.logits, MATCHES.label, MATCHES.time, MATCHES.sequence
# Curves at fixed strengths, so that equal problems have equal answers.
FIXED = [
    tc.Constant(),
    tc.PerStep(),
    tc.PerStep(bins=3),
    tc.ExponentialDecay(),
    tc.Spline(smoothness=1.0),
    tc.RandomWalk(smoothness=1.0),
]
every_curve = pytest.mark.parametrize("curve", FIXED, ids=repr)
every_kind = pytest.mark.parametrize("kind", PARAMETRIC)
quick = examples(8)
# Random labels: rates and slopes may well stand at an end.
pytestmark = pytest.mark.filterwarnings("ignore::tempocal.errors.AtBoundWarning")


def three_classes(n=400, seed=0):
    z, y = simulate(3, n, seed=seed)
    t = np.random.default_rng(seed).integers(0, 8, size=n)
    return z * (1 + t[:, None] / 8), y, t, np.arange(n) // 5


def data_of(n_classes):
    return (Z, Y, T, G) if n_classes == 2 else three_classes()


def temperature(curve, shrinkage=1.0):
    return tc.TemporalCalibrator(tc.TemperatureScaling(shrinkage=shrinkage), curve)


def gap(a, b):
    return float(np.abs(a - b).max())


class TestConstant:
    @every_kind
    @pytest.mark.parametrize("n_classes", [2, 3])
    @pytest.mark.parametrize("grouped", [False, True])
    def test_is_the_calibrator_alone(self, kind, n_classes, grouped):
        z, y, t, g = data_of(n_classes)
        weights = np.random.default_rng(0).random(len(y)) + 0.1
        more = {"groups": g if grouped else None, "sample_weight": weights}
        along = tc.TemporalCalibrator(kind(), tc.Constant()).fit(z, y, time=t, **more)
        alone = kind().fit(z, y, **more)
        assert gap(along.predict_proba(z, time=t), alone.predict_proba(z)) < 1e-9

    @every_kind
    @pytest.mark.parametrize("n_classes", [2, 3])
    @pytest.mark.parametrize("shrinkage", [0.0, 2.0])
    def test_is_so_at_the_strength_of_the_outside_too(self, kind, n_classes, shrinkage):
        z, y, t, _ = data_of(n_classes)
        outer = tc.TemporalCalibrator(kind(), tc.Constant(), shrinkage=shrinkage)
        alone = kind(shrinkage=shrinkage).fit(z, y)
        found = outer.fit(z, y, time=t).predict_proba(z, time=t)
        assert gap(found, alone.predict_proba(z)) < 1e-9

    @pytest.mark.parametrize("kind", [tc.MatrixScaling, tc.DirichletCalibration, tc.VectorScaling])
    @pytest.mark.parametrize("shrinkage", [0.0, 2.0])
    def test_shows_the_numbers_of_the_calibrator_alone(self, kind, shrinkage):
        z, y, t, _ = three_classes()
        along = tc.TemporalCalibrator(kind(shrinkage=shrinkage), tc.Constant()).fit(z, y, time=t)
        alone = kind(shrinkage=shrinkage).fit(z, y)
        numbers = along.parameters_at([3])
        np.testing.assert_allclose(numbers["weights"][0], alone.weights_, atol=1e-6)
        np.testing.assert_allclose(numbers["bias"][0], alone.bias_, atol=1e-6)

    def test_does_not_hear_the_time(self):
        a = temperature(tc.Constant()).fit(Z, Y, time=T).predict_proba(Z, time=T)
        b = temperature(tc.Constant()).fit(Z, Y, time=-7.5 * T).predict_proba(Z, time=0 * T)
        np.testing.assert_array_equal(a, b)


class TestOneStep:
    @every_curve
    @every_kind
    @pytest.mark.parametrize("n_classes", [2, 3])
    def test_is_the_global_method(self, curve, kind, n_classes):
        z, y, _, _ = data_of(n_classes)
        along = tc.TemporalCalibrator(at_fixed_shrinkage(kind), curve)
        found = along.fit(z, y, time=np.full(len(y), 7)).predict_proba(z, time=np.full(len(y), 9))
        assert gap(found, at_fixed_shrinkage(kind).fit(z, y).predict_proba(z)) < 1e-6

    @pytest.mark.parametrize(
        "curve",
        [tc.PerStep(), tc.ExponentialDecay(), tc.Spline(), tc.RandomWalk(), tc.PerStep(bins=4)],
        ids=repr,
    )
    @pytest.mark.parametrize("kind", [tc.TemperatureScaling, tc.PlattScaling, tc.BetaCalibration])
    def test_is_so_with_strengths_from_the_data(self, curve, kind):
        along = tc.TemporalCalibrator(kind(), curve).fit(Z, Y, time=0 * T, groups=G)
        alone = kind().fit(Z, Y, groups=G)
        assert gap(along.predict_proba(Z, time=0 * T), alone.predict_proba(Z)) < 1e-5


class TestPerStep:
    @pytest.mark.parametrize(
        "calibrator",
        [
            tc.TemperatureScaling(shrinkage=1.0),
            tc.PlattScaling(shrinkage=1.0, smooth_targets=False),
            tc.PlattScaling(shrinkage=(2.0, 0.3), smooth_targets=False),
            tc.VectorScaling(shrinkage=1.0),
            tc.BetaCalibration(shrinkage=1.0),
            tc.BetaCalibration(shrinkage=1.0, form="ab"),
            tc.MatrixScaling(shrinkage=1.0, regularization="l2"),
            tc.DirichletCalibration(shrinkage=1.0, regularization="l2"),
            tc.DirichletCalibration(shrinkage=1.0),
            tc.IsotonicCalibration(),
            tc.HistogramBinning(bins=4),
        ],
        ids=repr,
    )
    @pytest.mark.parametrize("n_classes", [2, 3])
    def test_is_a_fit_for_each_step(self, calibrator, n_classes):
        z, y, t, _ = data_of(n_classes)
        keep = t < 8
        z, y, t = z[keep], y[keep], t[keep]
        found = tc.TemporalCalibrator(calibrator, tc.PerStep()).fit(z, y, time=t)
        found = found.predict_proba(z, time=t)
        for step in np.unique(t):
            at = t == step
            alone = calibrator.set_params(classes=np.unique(y)).fit(z[at], y[at])
            assert gap(found[at], alone.predict_proba(z[at])) < 2e-6
        calibrator.set_params(classes=None)

    @pytest.mark.parametrize("kind", [tc.TemperatureScaling, tc.PlattScaling, tc.BetaCalibration])
    def test_is_so_without_shrinkage(self, kind):
        keep = T < 6
        z, y, t = Z[keep], Y[keep], T[keep]
        cal = tc.TemporalCalibrator(kind(shrinkage=0), tc.PerStep()).fit(z, y, time=t)
        for step in range(6):
            at = t == step
            alone = kind(shrinkage=0).fit(z[at], y[at])
            found = cal.predict_proba(z[at], time=t[at])
            assert gap(found, alone.predict_proba(z[at])) < 1e-6

    def test_in_time_bins_is_a_fit_for_each_of_them(self):
        cal = temperature(tc.PerStep(bins=3)).fit(Z, Y, time=T)
        inside = cal.parameters_at(T)["inverse_temperature"]
        assert len(np.unique(inside)) == 3
        for value in np.unique(inside):
            at = inside == value
            alone = tc.TemperatureScaling(shrinkage=1.0).fit(Z[at], Y[at])
            assert alone.inverse_temperature_ == pytest.approx(value, rel=1e-6)

    def test_of_an_unseen_time_does_as_requested(self):
        seen = T % 4 == 0
        fits = {
            unseen: temperature(tc.PerStep(unseen=unseen)).fit(Z[seen], Y[seen], time=T[seen])
            for unseen in ("nearest", "interpolate", "error")
        }
        at = {k: fits[k].parameters_at([0, 4, 8])["inverse_temperature"] for k in fits}
        for numbers in at.values():
            np.testing.assert_allclose(numbers, at["error"])
        g0, g4, g8 = at["error"]
        nearest = fits["nearest"].parameters_at([1, 2, 3, 6, 7, -50, 999])["inverse_temperature"]
        last = fits["error"].parameters_at([T[seen].max()])["inverse_temperature"][0]
        np.testing.assert_allclose(nearest, [g0, g0, g4, g4, g8, g0, last])
        between = fits["interpolate"].parameters_at([1, 2, 7])["inverse_temperature"]
        np.testing.assert_allclose(between, [g0 + (g4 - g0) / 4, (g0 + g4) / 2, g8 + (g4 - g8) / 4])
        with pytest.raises(tc.errors.InputError, match="time holds 5, a step that the fit had not"):
            fits["error"].predict_proba([0.3], time=[5])

    def test_leaves_out_thin_steps_and_says_so(self):
        counts = np.bincount(T)
        least = int(counts[-3]) + 1
        cal = temperature(tc.PerStep(min_rows=least, unseen="error")).fit(Z, Y, time=T)
        thin = np.flatnonzero(counts < least)
        assert len(thin)
        with pytest.raises(tc.errors.InputError, match="too few rows"):
            cal.predict_proba([0.3], time=thin[:1])
        enough = counts[T] >= least
        alone = temperature(tc.PerStep()).fit(Z[enough], Y[enough], time=T[enough])
        np.testing.assert_array_equal(
            cal.predict_proba(Z[enough], time=T[enough]),
            alone.predict_proba(Z[enough], time=T[enough]),
        )


class TestExponential:
    def test_of_equal_values_has_the_objective_of_the_global_method(self):
        """With alpha = 0 the penalty on its two ends is that on the one coefficient."""
        track = tc.ExponentialDecay().track(T.astype(float), None)
        for rate in (1e-2, 1.0, 1e3):
            shape = track.shape([rate])
            basis = shape.basis(T.astype(float))
            for value in (0.3, 1.7):
                table = np.full(2, value)
                np.testing.assert_allclose(basis @ table, value, rtol=1e-13)
                offset = table - 1.0
                assert offset @ shape.level @ offset == pytest.approx((value - 1.0) ** 2)

    def test_is_never_worse_than_the_global_method_at_the_same_strength(self):
        """It is one with alpha = 0, so that its best objective cannot be higher."""
        for strength in (0.0, 1.0, 30.0):
            cal = temperature(tc.ExponentialDecay(), strength).fit(Z, Y, time=T)
            alone = tc.TemperatureScaling(shrinkage=strength).fit(Z, Y)
            at_range = cal.parameters_at([T.min(), T.max()])["inverse_temperature"]
            total = len(Y) * cal.summary().nll_after + 0.25 * strength * ((at_range - 1) ** 2).sum()
            flat = len(Y) * alone.summary().nll_after
            flat += 0.5 * strength * (alone.inverse_temperature_ - 1) ** 2
            assert total <= flat + 1e-9 * len(Y)

    @pytest.mark.parametrize("offset", [0.0, 5.0, 1.7e9])
    def test_follows_its_formula_and_goes_on_to_gamma(self, offset):
        cal = temperature(tc.ExponentialDecay()).fit(Z, Y, time=T + offset)
        requested = np.array([0.0, 3.5, 10.0, 24.0, 60.0])
        found = cal.parameters_at(offset + requested)["inverse_temperature"]
        since = offset + requested - cal.time_origin_
        np.testing.assert_allclose(
            found, cal.gamma_ - cal.alpha_ * np.exp(-cal.beta_ * since), rtol=1e-6
        )
        assert cal.time_origin_ == (0.0 if offset < 1e3 else offset)
        far = cal.parameters_at([offset + 1e6])["inverse_temperature"][0]
        assert far == pytest.approx(cal.gamma_, rel=1e-9)
        beyond = np.abs(cal.parameters_at(offset + np.arange(24, 90))["inverse_temperature"] - far)
        assert (np.diff(beyond) <= 0).all()

    def test_is_held_before_the_first_time(self):
        cal = temperature(tc.ExponentialDecay()).fit(Z, Y, time=T + 10)
        early = cal.parameters_at([10, 9, 0, -1e9])["inverse_temperature"]
        np.testing.assert_array_equal(early, early[[0] * 4])

    @pytest.mark.parametrize("n_classes", [2, 3])
    @pytest.mark.parametrize("kind", [tc.PlattScaling, tc.VectorScaling, tc.BetaCalibration])
    def test_shows_its_numbers_for_every_parameter(self, kind, n_classes):
        z, y, t, _ = data_of(n_classes)
        cal = tc.TemporalCalibrator(kind(shrinkage=1.0), tc.ExponentialDecay()).fit(z, y, time=t)
        since = 2.5 - cal.time_origin_
        rate = np.atleast_1d(cal.beta_)[:, None]
        value = np.atleast_2d(cal.gamma_) - np.atleast_2d(cal.alpha_) * np.exp(-rate * since)
        shown = cal.parameters_at([2.5])
        if "weights" in shown:
            expected = np.stack([shown["weights"][0], shown["bias"][0]], axis=1).ravel()
        else:
            expected = np.stack([np.ravel(shown[name][0]) for name in shown], axis=1)
        np.testing.assert_allclose(value.ravel(), np.ravel(expected), rtol=1e-9)


class TestHeld:
    @pytest.mark.parametrize(
        "curve",
        [one for one in FIXED if not isinstance(one, tc.ExponentialDecay)],
        ids=repr,
    )
    def test_before_the_first_and_after_the_last_time(self, curve):
        cal = temperature(curve).fit(Z, Y, time=T + 5)
        first, last = T.min() + 5, T.max() + 5
        at = cal.parameters_at([first, -1e9, first - 1, last, last + 1, 1e12])
        early, late = np.split(at["inverse_temperature"], 2)
        np.testing.assert_array_equal(early, early[[0] * 3])
        np.testing.assert_array_equal(late, late[[0] * 3])


class TestSurface:
    @pytest.mark.parametrize(
        "curve",
        [tc.ExponentialDecay(), tc.Spline(smoothness=1.0), tc.PerStep(), tc.RandomWalk(1.0)],
        ids=repr,
    )
    @pytest.mark.parametrize("kind", [tc.TemperatureScaling, tc.PlattScaling])
    @pytest.mark.parametrize("constant_first", [True, False])
    def test_with_a_constant_side_is_the_other_curve(self, curve, kind, constant_first):
        other = np.random.default_rng(0).normal(size=len(Y))
        sides = (tc.Constant(), curve) if constant_first else (curve, tc.Constant())
        clocks = np.stack([other, T] if constant_first else [T, other], axis=1)
        surface = tc.TemporalCalibrator(kind(shrinkage=1.0), tc.Surface(*sides))
        plain = tc.TemporalCalibrator(kind(shrinkage=1.0), curve)
        a = surface.fit(Z, Y, time=clocks).predict_proba(Z, time=clocks)
        b = plain.fit(Z, Y, time=T).predict_proba(Z, time=T)
        assert gap(a, b) < 1e-6

    def test_with_a_constant_side_is_so_with_strengths_from_the_data(self):
        clocks = np.stack([T, T], axis=1)
        for curve in (tc.Spline(), tc.RandomWalk()):
            surface = temperature(tc.Surface(curve, tc.Constant()), "auto")
            a = surface.fit(Z, Y, time=clocks, groups=G).predict_proba(Z, time=clocks)
            b = temperature(curve, "auto").fit(Z, Y, time=T, groups=G).predict_proba(Z, time=T)
            assert gap(a, b) < 1e-6

    def test_turned_round_is_the_same(self):
        other = np.random.default_rng(0).integers(0, 4, size=len(Y))
        one, two = tc.Spline(3, smoothness=1.0), tc.ExponentialDecay()
        a = temperature(tc.Surface(one, two)).fit(Z, Y, time=(T, other))
        b = temperature(tc.Surface(two, one)).fit(Z, Y, time=(other, T))
        assert gap(a.predict_proba(Z, time=(T, other)), b.predict_proba(Z, time=(other, T))) < 1e-6

    def test_of_two_steps_is_a_fit_for_each_pair(self):
        keep = T < 4
        other = np.arange(len(Y)) % 2
        clocks = np.stack([T, other], axis=1)[keep]
        cal = temperature(tc.Surface(tc.PerStep(), tc.PerStep()))
        found = cal.fit(Z[keep], Y[keep], time=clocks).predict_proba(Z[keep], time=clocks)
        for step in range(4):
            for which in range(2):
                at = (clocks == [step, which]).all(axis=1)
                alone = tc.TemperatureScaling(shrinkage=1.0).fit(Z[keep][at], Y[keep][at])
                assert gap(found[at], alone.predict_proba(Z[keep][at])) < 1e-6


class TestWeightsAndOrder:
    @every_curve
    @pytest.mark.parametrize("kind", [tc.TemperatureScaling, tc.PlattScaling, tc.BetaCalibration])
    def test_a_weight_is_a_repetition(self, curve, kind):
        counts = np.random.default_rng(0).integers(0, 4, size=len(Y))
        cal = tc.TemporalCalibrator(kind(shrinkage=1.0), curve)
        a = cal.fit(Z, Y, time=T, sample_weight=counts).predict_proba(Z, time=T)
        zr, yr, tr = (np.repeat(one, counts) for one in (Z, Y, T))
        b = cal.fit(zr, yr, time=tr).predict_proba(Z, time=T)
        assert gap(a, b) < 2e-6

    @pytest.mark.parametrize(
        "curve", [tc.ExponentialDecay(), tc.Spline(), tc.RandomWalk(), tc.PerStep()], ids=repr
    )
    @pytest.mark.parametrize("grouped", [False, True])
    def test_a_weight_is_a_repetition_for_the_strengths_too(self, curve, grouped):
        counts = np.random.default_rng(0).integers(1, 4, size=len(Y))
        groups = [G, np.repeat(G, counts)] if grouped else [None, None]
        cal = temperature(curve, "auto")
        a = cal.fit(Z, Y, time=T, sample_weight=counts, groups=groups[0])
        a = a.predict_proba(Z, time=T)
        zr, yr, tr = (np.repeat(one, counts) for one in (Z, Y, T))
        b = cal.fit(zr, yr, time=tr, groups=groups[1]).predict_proba(Z, time=T)
        assert gap(a, b) < 2e-5

    def test_a_weight_is_a_repetition_on_a_surface_of_continuous_clocks(self):
        """More distinct values than a clock may have: cells must not depend on repetition."""
        rng = np.random.default_rng(0)
        clocks = rng.gamma(2.0, size=(len(Y), 2))
        counts = rng.integers(1, 4, size=len(Y))
        curve = tc.Surface(tc.Spline(2, smoothness=1.0), tc.Spline(2, smoothness=1.0))
        a = temperature(curve).fit(Z, Y, time=clocks, sample_weight=counts)
        b = temperature(curve).fit(
            np.repeat(Z, counts), np.repeat(Y, counts), time=np.repeat(clocks, counts, axis=0)
        )
        assert gap(a.predict_proba(Z, time=clocks), b.predict_proba(Z, time=clocks)) < 1e-6

    @every_curve
    def test_a_row_of_no_weight_is_no_row(self, curve):
        weights = np.ones(len(Y))
        dropped = T > 20
        weights[dropped] = 0.0
        cal = temperature(curve)
        a = cal.fit(Z, Y, time=T, groups=G, sample_weight=weights)
        a, a_band = a.predict_proba(Z, time=T), a.interval_at([4])["inverse_temperature"].upper
        b = cal.fit(Z[~dropped], Y[~dropped], time=T[~dropped], groups=G[~dropped])
        np.testing.assert_allclose(a, b.predict_proba(Z, time=T), atol=1e-9)
        np.testing.assert_allclose(a_band, b.interval_at([4])["inverse_temperature"].upper)

    @every_curve
    @pytest.mark.parametrize("kind", [tc.TemperatureScaling, tc.PlattScaling])
    def test_the_order_of_the_rows_does_not_matter(self, curve, kind):
        order = np.random.default_rng(0).permutation(len(Y))
        cal = tc.TemporalCalibrator(kind(), curve)
        a = cal.fit(Z, Y, time=T, groups=G).predict_proba(Z, time=T)
        b = cal.fit(Z[order], Y[order], time=T[order], groups=G[order]).predict_proba(Z, time=T)
        assert gap(a, b) < 2e-6

    @pytest.mark.parametrize("kind", PARAMETRIC)
    def test_the_order_of_the_classes_does_not_matter(self, kind):
        z, y, t, _ = three_classes()
        order = np.array([2, 0, 1])
        cal = tc.TemporalCalibrator(at_fixed_shrinkage(kind), tc.Spline(smoothness=1.0))
        a = cal.fit(z, y, time=t).predict_proba(z, time=t)
        b = cal.fit(z[:, order], np.argsort(order)[y], time=t).predict_proba(z[:, order], time=t)
        assert gap(a[:, order], b) < 1e-6


class TestUnits:
    """Seconds or hours, from 1970 or from the first row."""

    @pytest.mark.parametrize(
        "curve",
        [
            tc.ExponentialDecay(),
            tc.Spline(),
            tc.Spline(clock="time"),
            tc.RandomWalk(),
            tc.PerStep(unseen="interpolate"),
            tc.PerStep(bins=3),
        ],
        ids=repr,
    )
    @pytest.mark.parametrize(
        ("unit", "offset"), [(3600.0, 0.0), (1 / 24, 0.0), (60.0, 1.7e9), (1.0, -1e6), (1e-9, 0.0)]
    )
    def test_of_time_change_nothing(self, curve, unit, offset):
        between = np.arange(len(Y)) % 50 * 0.71 - 3
        plain, changed = temperature(curve, "auto"), temperature(curve, "auto")
        plain.fit(Z, Y, time=T, groups=G)
        changed.fit(Z, Y, time=offset + unit * T, groups=G)
        a, b = (
            cal.predict_proba(Z, time=time)
            for cal, time in ((plain, between), (changed, offset + unit * between))
        )
        assert gap(a, b) < 1e-6

    @pytest.mark.parametrize(
        "curve", [tc.ExponentialDecay(), tc.Spline(), tc.RandomWalk()], ids=repr
    )
    def test_datetimes_and_timedeltas_are_seconds(self, curve):
        seconds = 90 * T
        start = np.datetime64("2024-02-29T12:00:00", "s")
        times = {
            "numbers": seconds,
            "timedeltas": seconds.astype("m8[s]"),
            "in nanoseconds": seconds.astype("m8[s]").astype("m8[ns]"),
            "datetimes": start + seconds.astype("m8[s]"),
        }
        found = {}
        for kind, time in times.items():
            cal = temperature(curve, "auto").fit(Z, Y, time=time, groups=G)
            found[kind] = cal.predict_proba(Z, time=time)
        for kind in times:
            assert gap(found[kind], found["numbers"]) < 1e-6

    def test_of_time_show_in_the_rate_alone(self):
        a = temperature(tc.ExponentialDecay()).fit(Z, Y, time=T)
        b = temperature(tc.ExponentialDecay()).fit(Z, Y, time=3600.0 * T)
        assert b.beta_ * 3600 == pytest.approx(a.beta_, rel=1e-4)
        assert b.alpha_ == pytest.approx(a.alpha_, rel=1e-4)
        assert b.gamma_ == pytest.approx(a.gamma_, rel=1e-4)


@st.composite
def odd_data(draw):
    """Few rows, any labels, logits and times."""
    n = draw(st.integers(2, 25))
    z = draw(arrays(np.float64, n, elements=st.floats(-20, 20, width=32)))
    y = draw(arrays(np.int64, n, elements=st.integers(0, 1)))
    y[:2] = 0, 1
    times = st.integers(0, 6) if draw(st.booleans()) else st.floats(-1e3, 1e3, width=32)
    t = draw(arrays(np.float64, n, elements=times))
    return z, y, t


class TestPositive:
    @pytest.mark.parametrize(
        "curve",
        [
            tc.PerStep(unseen="interpolate"),
            tc.ExponentialDecay(),
            tc.Spline(),
            tc.Spline(smoothness=0.0),
            tc.RandomWalk(),
            tc.RandomWalk(smoothness=1e-3),
        ],
        ids=repr,
    )
    @pytest.mark.parametrize("shrinkage", ["auto", 1e-3])
    @given(data=odd_data(), turned=st.booleans())
    @quick
    def test_is_the_inverse_temperature_everywhere(self, curve, shrinkage, data, turned):
        z, y, t = data
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", tc.errors.TempocalWarning)
            cal = temperature(curve, shrinkage).fit(z, 1 - y if turned else y, time=t)
        span = np.ptp(t) + 1
        requested = np.concatenate([t, np.linspace(t.min() - 9 * span, t.max() + 9 * span, 301)])
        g = cal.parameters_at(requested)["inverse_temperature"]
        assert np.isfinite(g).all()
        assert (g > 0).all()

    @pytest.mark.parametrize("shrinkage", ["auto", 1e-3])
    def test_steps_that_are_all_but_one_do_not_hide_the_shrinkage(self, shrinkage):
        """Steps 1e-25 apart are tied 1e25 times as strongly as others; the rows are separable."""
        t = np.array([0.0, 1e-25, 1.0])
        cal = temperature(tc.RandomWalk(smoothness=1e-3), shrinkage)
        g = cal.fit([1.0, -1.0, 1.0], [1, 0, 0], time=t).parameters_at(t)["inverse_temperature"]
        assert np.isfinite(g).all()
        assert g[0] == pytest.approx(g[1])
        assert g[0] > g[2]

    @pytest.mark.parametrize("shrinkage", [0, "auto"])
    @pytest.mark.parametrize(
        "curve", [tc.ExponentialDecay(), tc.Spline(), tc.RandomWalk(), tc.PerStep()], ids=repr
    )
    def test_is_so_on_falling_curves_and_reversed_logits(self, curve, shrinkage):
        rng = np.random.default_rng(0)
        t = rng.integers(0, 10, size=3000)
        z = 2 * rng.normal(size=3000)
        falling = 1.5 - 0.25 * t  # below zero at the end
        y = (rng.random(3000) < 1 / (1 + np.exp(-falling * z))).astype(int)
        for labels in (y, 1 - y):
            cal = temperature(curve, shrinkage).fit(z, labels, time=t)
            g = cal.parameters_at(np.linspace(-20, 200, 500))["inverse_temperature"]
            assert (g > 0).all()


class TestRanks:
    @pytest.mark.parametrize(
        "curve",
        [tc.PerStep(), tc.ExponentialDecay(), tc.Spline(), tc.RandomWalk(), tc.Constant()],
        ids=repr,
    )
    def test_no_two_of_a_million_pairs_are_swapped(self, curve):
        """For z1 < z2 at one time t the calibrated logits are in that order."""
        cal = temperature(curve, "auto").fit(Z, Y, time=T, groups=G)
        rng = np.random.default_rng(0)
        n = 200_000  # for each of five curves
        one, two = np.sort(rng.normal(size=(2, n)) * 10.0 ** rng.integers(-8, 3, size=n), axis=0)
        two[::7] = np.nextafter(one[::7], np.inf)
        time = rng.uniform(-5, 60, size=n)
        low, high = (cal.decision_function(z, time=time) for z in (one, two))
        assert (low <= high).all()
        apart = two - one > 1e-12 * np.abs(one)
        assert (low < high)[apart].all()

    @pytest.mark.parametrize(
        "curve", [tc.PerStep(), tc.ExponentialDecay(), tc.Spline(), tc.RandomWalk()], ids=repr
    )
    def test_the_area_under_the_curve_is_unchanged_within_a_step(self, curve):
        cal = temperature(curve, "auto").fit(Z, Y, time=T, groups=G)
        decision = cal.decision_function(Z, time=T)
        for step in np.unique(T):
            at = step == T
            if 0 < Y[at].sum() < at.sum():
                raw, calibrated = (roc_auc_score(Y[at], one[at]) for one in (Z, decision))
                assert raw == calibrated

    def test_the_most_probable_class_of_three_stays(self):
        z, y, t, g = three_classes()
        for curve in (tc.PerStep(), tc.ExponentialDecay(), tc.Spline(), tc.RandomWalk()):
            cal = temperature(curve, "auto").fit(z, y, time=t, groups=g)
            np.testing.assert_array_equal(cal.predict(z, time=t), z.argmax(axis=1))


class TestKnownTruth:
    def test_is_found(self):
        matches = tc.datasets.simulate_match(3000)
        for curve in (tc.ExponentialDecay(), tc.Spline(), tc.RandomWalk()):
            cal = temperature(curve, "auto").fit(
                matches.logits, matches.label, time=matches.time, groups=matches.sequence
            )
            found = cal.predict_proba(matches.logits, time=matches.time)[:, 1]
            assert np.abs(found - matches.true_probability).mean() < 0.012

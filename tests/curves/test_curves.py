"""Laws of bases and penalties, and an independent implementation of the spline."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.interpolate import BSpline

import tempocal as tc
from support.examples import examples
from support.public_curves import with_every_curve
from tempocal.errors import InputError
from tempocal.maps import BinBasis, ConstantBasis, ExponentialBasis, SplineBasis, StepBasis

quick = examples(40)
some_times = arrays(np.float64, st.integers(1, 30), elements=st.floats(-1e6, 1e6, width=32))
CURVES = with_every_curve(
    [
        tc.Constant(),
        tc.PerStep(),
        tc.PerStep(unseen="interpolate"),
        tc.PerStep(bins=3),
        tc.ExponentialDecay(),
        tc.Spline(),
        tc.Spline(intervals=1, clock="time"),
        tc.RandomWalk(),
    ]
)
every_curve = pytest.mark.parametrize("curve", CURVES, ids=repr)


def laid(curve, times, weights=None, rate=3.0):
    track = curve.track(np.asarray(times, dtype=float), weights)
    return track, track.shape((rate,) * track.n_rates)


class TestBases:
    @every_curve
    @given(times=some_times, rate=st.floats(1e-2, 1e3))
    @quick
    def test_are_positive_and_sum_to_one_everywhere(self, curve, times, rate):
        _, shape = laid(curve, times, rate=rate)
        span = np.ptp(times) + 1.0
        asked = np.concatenate(
            [times, np.linspace(times.min() - 3 * span, times.max() + 3 * span, 101)]
        )
        values = shape.basis(asked)
        assert values.shape == (len(asked), shape.basis.n_functions)
        assert (values >= 0).all()
        np.testing.assert_allclose(values.sum(axis=1), 1.0, rtol=1e-12)

    @every_curve
    @given(times=some_times)
    @quick
    def test_combine_what_they_give(self, curve, times):
        _, shape = laid(curve, times)
        table = np.random.default_rng(0).normal(size=(shape.basis.n_functions, 2))
        asked = np.linspace(times.min() - 1.0, times.max() + 1.0, 41)
        np.testing.assert_allclose(
            shape.basis.combine(asked, table), shape.basis(asked) @ table, atol=1e-12
        )

    @every_curve
    def test_of_two_curves_multiply(self, curve):
        rng = np.random.default_rng(0)
        clocks = np.stack([rng.integers(0, 9, 60), rng.integers(0, 5, 60)], axis=1).astype(float)
        track = tc.Surface(curve, tc.Spline(intervals=2)).track(clocks, None)
        values = track.shape((3.0,) * track.n_rates).basis(clocks)
        left, right = laid(curve, clocks[:, 0])[1], laid(tc.Spline(intervals=2), clocks[:, 1])[1]
        expected = np.einsum("ni,nj->nij", left.basis(clocks[:, 0]), right.basis(clocks[:, 1]))
        np.testing.assert_allclose(values, expected.reshape(60, -1), atol=1e-14)
        np.testing.assert_allclose(values.sum(axis=1), 1.0, rtol=1e-12)

    @pytest.mark.parametrize(
        "curve", [one for one in CURVES if not isinstance(one, tc.ExponentialDecay)], ids=repr
    )
    def test_are_held_before_the_first_and_after_the_last_time(self, curve):
        _, shape = laid(curve, np.arange(10.0, 30.0))
        early, late = shape.basis(np.array([10.0, 9.0, -1e9])), shape.basis(np.array([29.0, 1e9]))
        np.testing.assert_array_equal(early, early[[0, 0, 0]])
        np.testing.assert_array_equal(late, late[[0, 0]])

    @pytest.mark.parametrize("k", [0, 1])
    @pytest.mark.parametrize(
        "curve",
        [
            tc.ExponentialDecay(),
            tc.Surface(tc.ExponentialDecay(), tc.ExponentialDecay()),
            tc.Surface(tc.ExponentialDecay(), tc.Spline(intervals=2)),
            tc.Surface(tc.RandomWalk(), tc.ExponentialDecay()),
        ],
        ids=repr,
    )
    def test_of_many_rates_are_those_of_each(self, curve, k):
        times = np.random.default_rng(0).integers(0, 9, (60, curve.n_clocks)).astype(float)
        times = times if curve.n_clocks == 2 else times[:, 0]
        track = curve.track(times, None)
        rates, k = [3.0] * track.n_rates, min(k, track.n_rates - 1)
        many = np.geomspace(1e-2, 1e3, 7)
        together = track.shape([*rates[:k], many, *rates[k + 1 :]])
        for spot, rate in enumerate(many):
            alone = track.shape([*rates[:k], rate, *rates[k + 1 :]])
            np.testing.assert_array_equal(together.basis(times)[spot], alone.basis(times))
            np.testing.assert_allclose(together.level[spot], alone.level, rtol=1e-15)
            assert len(together.smooth) == len(alone.smooth)

    def test_of_the_exponential_are_its_first_value_and_its_limit(self):
        basis = ExponentialBasis(rate=0.5, first=10.0)
        np.testing.assert_allclose(basis(np.array([10.0, -5.0])), [[0, 1], [0, 1]])
        np.testing.assert_allclose(basis(np.array([12.0])), [[1 - np.exp(-1), np.exp(-1)]])
        np.testing.assert_allclose(basis(np.array([1e9])), [[1, 0]])


class TestSpline:
    @pytest.mark.parametrize("intervals", [1, 2, 8, 20])
    def test_agrees_with_scipy(self, intervals):
        basis = SplineBasis(first=5.0, last=25.0, unit=0.0, intervals=intervals)
        step = 20.0 / intervals
        knots = 5.0 + step * np.arange(-3, intervals + 4)
        asked = np.linspace(5.0, 25.0, 200)
        expected = BSpline.design_matrix(asked, knots, 3).toarray()
        np.testing.assert_allclose(basis(asked), expected, atol=1e-12)

    @pytest.mark.parametrize("unit", [0.0, 0.7])
    def test_has_two_continuous_derivatives(self, unit):
        """Across every knot, in the clock that it runs on."""
        basis = SplineBasis(first=0.0, last=10.0, unit=unit, intervals=5)
        table = np.random.default_rng(0).normal(size=(basis.n_functions, 1))
        step = 1e-4
        for knot in np.arange(1, 5) / 5:
            ticks = knot + step * np.array([-3, -2, -1, 0, 1, 2, 3])
            times = 10.0 * ticks if unit == 0 else unit * np.expm1(ticks * np.log1p(10.0 / unit))
            np.testing.assert_allclose(basis.clock(times), ticks, atol=1e-12)
            values = basis.combine(times, table)[:, 0]
            for order in (0, 1, 2):
                left = np.diff(values[:4], n=order)[-1] / step**order
                right = np.diff(values[3:], n=order)[0] / step**order
                # Differences on either side are a third derivative times a few steps apart.
                assert left == pytest.approx(right, abs=1e-6 + 5e3 * step * (order > 0))

    @pytest.mark.parametrize(("offset", "unit"), [(0.0, 3600.0), (1.7e9, 1.0), (-50.0, 1e-3)])
    def test_on_the_log_clock_is_free_of_offset_and_unit(self, offset, unit):
        since = np.random.default_rng(0).geometric(0.1, size=500).astype(float)
        _, plain = laid(tc.Spline(), since)
        _, changed = laid(tc.Spline(), offset + unit * since)
        asked = np.linspace(-5, 80, 50)
        np.testing.assert_allclose(
            changed.basis(offset + unit * asked), plain.basis(asked), atol=1e-7
        )
        np.testing.assert_array_equal(changed.smooth[0], plain.smooth[0])

    def test_turns_faster_at_the_start_on_the_log_clock(self):
        _, log = laid(tc.Spline(clock="log"), np.arange(100.0))
        _, even = laid(tc.Spline(clock="time"), np.arange(100.0))
        early = np.array([5.0])
        assert log.basis.clock(early)[0] > 3 * even.basis.clock(early)[0]

    def test_costs_about_one_for_a_curve_that_rises_by_one_and_falls_again(self):
        for intervals in (4, 8, 20):
            _, shape = laid(tc.Spline(intervals=intervals, clock="time"), np.arange(50.0))
            # Coefficients of a parabola with its knots at these places are again a parabola.
            x = (np.arange(intervals + 3) - 1) / intervals
            hump = 4 * x * (1 - x)
            assert hump @ shape.smooth[0] @ hump == pytest.approx(1.0, rel=0.35)


class TestPenalties:
    @pytest.mark.parametrize("curve", [tc.Spline(), tc.RandomWalk()], ids=repr)
    def test_of_roughness_are_zero_on_constants_and_never_negative(self, curve):
        _, shape = laid(curve, np.arange(20.0))
        [smooth] = shape.smooth
        ones = np.ones(len(smooth))
        np.testing.assert_allclose(smooth @ ones, 0.0, atol=1e-9 * np.abs(smooth).max())
        assert np.linalg.eigvalsh(smooth).min() > -1e-9 * np.abs(smooth).max()

    def test_of_a_spline_are_zero_on_straight_lines(self):
        _, shape = laid(tc.Spline(clock="time"), np.arange(20.0))
        line = np.arange(shape.basis.n_functions, dtype=float)
        np.testing.assert_allclose(shape.smooth[0] @ line, 0.0, atol=1e-9)
        drawn = shape.basis.combine(np.arange(20.0), line[:, None])[:, 0]
        np.testing.assert_allclose(np.diff(drawn, n=2), 0.0, atol=1e-12)

    def test_of_a_random_walk_are_squared_steps_over_their_gaps(self):
        times = np.array([0.0, 1.0, 4.0, 10.0])
        _, shape = laid(tc.RandomWalk(), times)
        values = np.array([1.0, 2.0, 0.5, 0.7])
        expected = (np.diff(values) ** 2 / (np.diff(times) / 10.0)).sum()
        assert values @ shape.smooth[0] @ values == pytest.approx(expected)

    def test_of_the_level_of_an_exponential_are_at_its_two_ends(self):
        _, shape = laid(tc.ExponentialDecay(), np.arange(11.0), rate=2.0)
        limit, first = 0.4, -0.9
        last = limit + (first - limit) * np.exp(-2.0)
        table = np.array([limit, first])
        assert table @ shape.level @ table == pytest.approx(0.5 * (first**2 + last**2))

    @every_curve
    def test_of_the_level_pull_a_constant_curve(self, curve):
        _, shape = laid(curve, np.arange(12.0))
        ones = np.ones(shape.basis.n_functions)
        level = np.diag(shape.level) if shape.level.ndim == 1 else shape.level
        assert ones @ level @ ones > 0


class TestPerStep:
    def test_leaves_out_steps_with_too_few_rows(self):
        times = np.repeat([1.0, 2.0, 5.0], [3, 1, 2])
        track, shape = laid(tc.PerStep(min_rows=2), times)
        assert track.grid.times.tolist() == [1.0, 5.0]
        assert track.kept.tolist() == [True] * 3 + [False] + [True] * 2
        assert track.grid.keys.tolist() == [0, 0, 0, 1, 1]
        assert shape.separate
        assert shape.basis.codes(np.array([2.0, 4.0])).tolist() == [0, 1]

    def test_leaves_out_no_step_that_has_rows_unless_it_is_asked_to(self):
        """Weights of 1 over the length of a sequence make late steps light."""
        times, weights = np.array([1.0, 1.0, 2.0, 3.0]), np.array([0.5, 0.7, 0.01, 1e-6])
        track, _ = laid(tc.PerStep(), times, weights)
        assert track.grid.times.tolist() == [1.0, 2.0, 3.0]
        assert track.kept is None
        with pytest.raises(InputError, match="min_rows is 2, but no step has more than"):
            laid(tc.PerStep(min_rows=2), times, weights)

    def test_takes_the_earlier_of_two_steps_as_near(self):
        basis = StepBasis(np.array([1.0, 3.0, 9.0]), "nearest")
        assert basis.codes(np.array([-7.0, 2.0, 2.1, 6.0, 6.1, 99.0])).tolist() == [
            0, 0, 1, 1, 2, 2,
        ]  # fmt: skip

    def test_draws_a_line_between_its_neighbors(self):
        basis = StepBasis(np.array([1.0, 3.0, 9.0]), "interpolate")
        table = np.array([[0.0], [1.0], [-2.0]])
        drawn = basis.combine(np.array([0.0, 1.0, 1.5, 3.0, 5.0, 9.0, 20.0]), table)[:, 0]
        np.testing.assert_allclose(drawn, [0, 0, 0.25, 1, 0, -2, -2], atol=1e-12)

    def test_refuses_an_unseen_step_where_asked(self):
        basis = StepBasis(np.array([1.0, 3.0]), "error")
        assert basis.codes(np.array([3.0, 1.0])).tolist() == [1, 0]
        with pytest.raises(InputError, match=r"time holds 2\.5, a step that the fit had not seen"):
            basis.codes(np.array([1.0, 2.5]))

    @pytest.mark.parametrize("bins", [1, 2, 3, 7, 50])
    def test_cuts_time_into_stretches_of_about_as_many_rows(self, bins):
        times = np.random.default_rng(0).geometric(0.08, size=3000).astype(float)
        track, shape = laid(tc.PerStep(bins=bins), times)
        assert isinstance(shape.basis, BinBasis)
        assert 1 <= shape.basis.n_functions <= bins
        assert track.grid.n_keys == shape.basis.n_functions
        np.testing.assert_array_equal(track.grid.keys, shape.basis.codes(times))
        largest_step = np.unique(times, return_counts=True)[1].max()
        assert np.abs(track.grid.weights - 3000 / bins).max() <= largest_step + 3000 / bins

    def test_bins_by_weight(self):
        times, weights = np.array([0.0, 1.0, 2.0, 3.0]), np.array([9.0, 1.0, 1.0, 1.0])
        _, shape = laid(tc.PerStep(bins=2), times, weights)
        assert shape.basis.edges.tolist() == [1.0]


class TestOneTime:
    @every_curve
    def test_leaves_one_function(self, curve):
        track, shape = laid(curve, np.full(7, 3.5))
        assert track.n_rates == 0
        assert shape.basis.n_functions == 1
        assert shape.smooth == ()

    def test_is_a_constant_for_curves_without_steps(self):
        for curve in (tc.ExponentialDecay(), tc.Spline()):
            assert isinstance(laid(curve, [2.0, 2.0])[1].basis, ConstantBasis)


class TestRefusals:
    @pytest.mark.parametrize(
        ("curve", "words"),
        [
            (tc.PerStep(min_rows=0), "min_rows"),
            (tc.PerStep(min_rows=99), "min_rows is 99, but no step has more than 1 rows"),
            (tc.PerStep(unseen="guess"), "unseen"),
            (tc.PerStep(bins=0), "bins"),
            (tc.PerStep(bins=2.5), "bins"),
            (tc.Spline(intervals=0), "intervals"),
            (tc.Spline(clock="sun"), "clock"),
            (tc.Spline(smoothness=-1.0), "smoothness must be"),
            (tc.Spline(smoothness=np.nan), "smoothness must be"),
            (tc.RandomWalk(smoothness="much"), "smoothness must be"),
            (tc.RandomWalk(smoothness=True), "smoothness must be"),
            (tc.RandomWalk(smoothness=np.inf), "smoothness must be"),
        ],
        ids=repr,
    )
    def test_name_the_argument(self, curve, words):
        with pytest.raises(InputError, match=words):
            curve.track(np.arange(5.0), None)

    def test_too_many_steps_say_what_to_use_instead(self):
        with pytest.raises(InputError, match=r"PerStep\(bins=20\).*Spline\(\) follows it"):
            tc.PerStep().track(np.arange(70_000) / 3.0, None)

    @pytest.mark.parametrize(
        ("surface", "words"),
        [
            (tc.Surface(tc.Spline(), "round"), "curve_b must be a curve along one clock"),
            (tc.Surface(tc.Surface(tc.Constant(), tc.Constant()), tc.Spline()), "curve_a"),
            (tc.Surface(tc.PerStep(min_rows=2), tc.Constant()), "min_rows of PerStep must be 1"),
        ],
        ids=["not a curve", "a surface", "min_rows"],
    )
    def test_of_a_surface(self, surface, words):
        clocks = np.stack([[0.0, 1.0, 1.0], [2.0, 2.0, 3.0]], axis=1)
        with pytest.raises(InputError, match=words):
            surface.track(clocks, None)

"""The clock of a spline: knots by the times of the rows."""

import numpy as np
import pytest

import tempocal as tc
from tempocal.curves.spline import LONGEST_UNIT

SKEWED = np.random.default_rng(0).gamma(1.5, 10.0, size=2001)


def basis_of(curve, times, weights=None):
    track = curve.track(np.asarray(times, dtype=float), weights)
    return track.shape(()).basis


def test_half_of_the_rows_lie_in_each_half():
    basis = basis_of(tc.Spline(), SKEWED)
    assert basis.unit > np.median(SKEWED - SKEWED.min()) / 8
    assert basis.clock(np.array([np.median(SKEWED)]))[0] == pytest.approx(0.5, abs=0.01)


@pytest.mark.parametrize(("offset", "unit"), [(0.0, 3600.0), (1.7e9, 1.0), (-50.0, 1e-3)])
def test_is_free_of_offset_and_unit(offset, unit):
    asked = np.linspace(-5, 120, 50)
    np.testing.assert_allclose(
        basis_of(tc.Spline(), offset + unit * SKEWED)(offset + unit * asked),
        basis_of(tc.Spline(), SKEWED)(asked),
        atol=1e-5,
    )


@pytest.mark.parametrize("clock", ["auto", "log", "time"])
def test_a_weight_of_two_is_the_row_twice(clock):
    steps = np.floor(SKEWED)
    weights = np.random.default_rng(1).integers(1, 4, size=len(steps)).astype(float)
    one = basis_of(tc.Spline(clock=clock), steps, weights)
    other = basis_of(tc.Spline(clock=clock), np.repeat(steps, weights.astype(int)))
    assert one == other


def test_of_rows_in_any_order_is_the_same():
    steps = np.floor(SKEWED)
    assert basis_of(tc.Spline(), steps) == basis_of(tc.Spline(), np.sort(steps)[::-1])


@pytest.mark.parametrize("times", [np.arange(25.0), 100.0 - SKEWED], ids=["even", "late"])
def test_is_time_itself_where_the_median_is_not_early(times):
    assert basis_of(tc.Spline(), times) == basis_of(tc.Spline(clock="time"), times)


def test_of_a_long_tail_is_the_logarithmic_one():
    times = np.random.default_rng(0).pareto(1.0, size=2001)
    assert basis_of(tc.Spline(), times) == basis_of(tc.Spline(clock="log"), times)


def test_of_many_rows_at_the_first_time_is_the_logarithmic_one():
    times = np.where(np.arange(30) < 20, 0.0, np.arange(30.0))
    assert basis_of(tc.Spline(), times) == basis_of(tc.Spline(clock="log"), times)


def test_goes_over_into_time_without_a_jump():
    """Next to the longest unit the two clocks are the same to a thousandth."""
    last, asked = 100.0, np.linspace(0, 100, 201)
    # The median that has this unit: 2 log(1 + m / u) = log(1 + last / u).
    unit = LONGEST_UNIT * last
    median = unit * (np.sqrt(1 + last / unit) - 1)
    below, above = (
        basis_of(tc.Spline(), [0.0, 0.0, middle, last, last]) for middle in (median * 0.999, 50.1)
    )
    assert below.unit > 0.0
    assert above.unit == 0.0
    np.testing.assert_allclose(below(asked), above(asked), atol=0.03)


def test_the_log_clock_is_that_of_0_1():
    basis = basis_of(tc.Spline(clock="log"), np.arange(25.0))
    assert (basis.first, basis.last, basis.unit, basis.intervals) == (0.0, 24.0, 1.5, 8.0)

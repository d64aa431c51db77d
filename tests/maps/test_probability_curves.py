"""Maps of one class that are curves of its probability."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.special import expit, logit

from tempocal.maps import Knots, Steps

some_odds = arrays(np.float64, st.integers(1, 20), elements=st.floats(-700, 700))
LARGEST = 2.0**53


def test_a_value_on_an_edge_belongs_to_the_bin_on_its_left():
    steps = Steps(np.array([-1.0, 2.0]), np.array([0.1, 0.5, 0.9]))
    odds = np.array([-LARGEST, -1.0, np.nextafter(-1.0, 0.0), 2.0, np.nextafter(2.0, 3.0), LARGEST])
    np.testing.assert_allclose(expit(steps(odds)), [0.1, 0.1, 0.5, 0.5, 0.9, 0.9], rtol=1e-14)


def test_one_bin_has_no_edges():
    np.testing.assert_allclose(Steps(np.array([]), np.array([0.3]))(np.zeros(2)), logit(0.3))


@given(some_odds)
def test_knots_interpolate_probabilities_and_hold_them_beyond(odds):
    knots = Knots(np.array([-2.0, 0.0, 1.0]), np.array([0.2, 0.3, 0.9]))
    inside = np.clip(odds, -2.0, 1.0)
    expected = np.where(inside < 0, 0.3 + 0.05 * inside, 0.3 + 0.6 * inside)
    np.testing.assert_allclose(expit(knots(odds)), expected, rtol=1e-13)


def test_one_knot_is_a_constant():
    np.testing.assert_allclose(Knots(np.zeros(1), np.array([0.3]))(np.arange(3.0)), logit(0.3))


@pytest.mark.parametrize(
    "fitted",
    [
        Steps(np.array([0.0]), np.array([0.0, 1.0])),
        Knots(np.array([-1.0, 1.0]), np.array([0.0, 1.0])),
    ],
    ids=["steps", "knots"],
)
def test_probabilities_of_0_and_1_are_infinite_log_odds_without_a_warning(fitted):
    assert fitted(np.array([-5.0, 5.0])).tolist() == [-np.inf, np.inf]


@pytest.mark.parametrize("p", [1e-300, 1e-17, 1e-9, 0.5])
def test_small_probabilities_keep_their_digits(p):
    got = Steps(np.array([]), np.array([p]))(np.zeros(1))
    np.testing.assert_allclose(got, np.log(p) - np.log1p(-p), rtol=1e-15)

"""Maps of the log-odds of one class against the rest."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.special import expit, softmax

from tempocal.maps import Beta, Line, OneVsRest, Steps

three_logits = arrays(np.float64, (4, 3), elements=st.floats(-300, 300))
some_odds = arrays(np.float64, st.integers(1, 20), elements=st.floats(-700, 700))
EDGELESS = np.array([])


@given(some_odds, st.floats(-5, 5), st.floats(-5, 5))
def test_a_line_is_a_line(odds, slope, bias):
    np.testing.assert_array_equal(Line(slope, bias)(odds), slope * odds + bias)


@given(arrays(np.float64, 9, elements=st.floats(-30, 30)))
def test_beta_is_its_formula(odds):
    p = expit(odds)
    q = expit(-odds)
    expected = 1.5 * np.log(p) - 0.5 * np.log(q) + 0.25
    np.testing.assert_allclose(Beta(1.5, 0.5, 0.25)(odds), expected, rtol=1e-12, atol=1e-14)


@given(some_odds)
def test_beta_with_equal_slopes_is_a_line(odds):
    np.testing.assert_allclose(Beta(2.0, 2.0, 1.0)(odds), Line(2.0, 1.0)(odds), rtol=1e-14)


@pytest.mark.parametrize("identity", [Line(1.0, 0.0), Beta(1.0, 1.0, 0.0)], ids=["line", "beta"])
@given(z=three_logits)
def test_one_against_the_rest_with_slope_1_is_the_identity(identity, z):
    calibrated = OneVsRest((identity,) * 3)(z)
    np.testing.assert_allclose(softmax(calibrated, axis=1), softmax(z, axis=1), rtol=1e-11)


def test_one_against_the_rest_normalizes_the_probabilities():
    parts = [Steps(EDGELESS, np.array([p])) for p in (0.2, 0.3, 0.3)]
    calibrated = OneVsRest(tuple(parts))(np.zeros((1, 3)))
    np.testing.assert_allclose(softmax(calibrated, axis=1), [[0.25, 0.375, 0.375]], rtol=1e-14)


@pytest.mark.parametrize(
    ("probabilities", "expected"),
    [
        ((0.0, 0.5, 0.5), [0.0, 0.5, 0.5]),
        ((0.0, 0.0, 0.1), [0.0, 0.0, 1.0]),
        ((1.0, 1.0, 0.0), [0.5, 0.5, 0.0]),
        # Nothing to normalize: what came in is kept.
        ((0.0, 0.0, 0.0), softmax([0.0, 1.0, 2.0])),
    ],
)
def test_classes_given_probability_0_are_ruled_out_unless_all_are(probabilities, expected):
    parts = [Steps(EDGELESS, np.array([p])) for p in probabilities]
    calibrated = OneVsRest(tuple(parts))(np.array([[0.0, 1.0, 2.0]]))
    np.testing.assert_allclose(softmax(calibrated, axis=1), [expected], rtol=1e-14)


@given(arrays(np.float64, (4, 2), elements=st.floats(-300, 300)))
def test_two_classes_need_one_map(z):
    fitted = OneVsRest((Line(2.0, 1.0),))
    expected = 2.0 * (z[:, 1] - z[:, 0]) + 1.0
    np.testing.assert_array_equal(fitted(z), expected)
    np.testing.assert_array_equal(fitted(z[:, 1] - z[:, 0]), expected)

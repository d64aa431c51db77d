"""Maps that scale and shift the logits of all classes."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.special import expit, softmax

from tempocal.links import one_column
from tempocal.maps import Affine, Scale

three_logits = arrays(np.float64, (4, 3), elements=st.floats(-300, 300))


@given(three_logits, st.floats(0.01, 10))
def test_one_number_scales_all_logits(z, factor):
    np.testing.assert_array_equal(Scale(factor)(z), factor * z)
    np.testing.assert_array_equal(Scale(factor)(z[:, 0]), factor * z[:, 0])


@given(three_logits)
def test_a_matrix_has_a_row_for_each_class_that_comes_out(z):
    weights = np.array([[1.0, 2.0, 0.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 1.0]])
    bias = np.array([0.5, 0.0, -0.5])
    expected = [[r[0] + 2 * r[1] + 0.5, r[1], r[2] - r[0] - 0.5] for r in z.tolist()]
    np.testing.assert_allclose(Affine(weights, bias, False)(z), expected, rtol=1e-13, atol=1e-12)


@given(three_logits)
def test_a_vector_of_weights_is_a_diagonal_matrix(z):
    weights, bias = np.array([0.5, 1.0, 2.0]), np.array([1.0, 0.0, -1.0])
    for of_log_proba in (False, True):
        short = Affine(weights, bias, of_log_proba)(z)
        full = Affine(np.diag(weights), bias, of_log_proba)(z)
        np.testing.assert_allclose(short, full, rtol=1e-14, atol=1e-14)


@given(three_logits)
def test_the_identity_on_log_probabilities_keeps_the_probabilities(z):
    fitted = Affine(np.eye(3), np.zeros(3), of_log_proba=True)
    np.testing.assert_allclose(
        softmax(fitted(z), axis=1), softmax(z, axis=1), rtol=1e-12, atol=2.0**-52
    )


def test_no_log_probability_is_taken_below_that_of_certainty():
    fitted = Affine(np.eye(3), np.zeros(3), of_log_proba=True)
    masked = fitted(np.array([[0.0, 1.0, -1e9]]))
    np.testing.assert_allclose(masked[0, 2], np.log(2.0**-53), rtol=1e-12)


def test_log_probabilities_of_one_column_are_of_two_classes():
    z = np.array([-2.0, 0.0, 3.0])
    calibrated = Affine(np.eye(2), np.zeros(2), of_log_proba=True)(z)
    np.testing.assert_allclose(one_column(calibrated), z, rtol=1e-15, atol=1e-15)


@given(arrays(np.float64, (4, 2), elements=st.floats(-300, 300)))
def test_one_column_is_the_log_odds_of_the_second_class(z):
    np.testing.assert_allclose(expit(one_column(z)), softmax(z, axis=1)[:, 1], rtol=1e-12)
    np.testing.assert_array_equal(one_column(z[:, 0]), z[:, 0])

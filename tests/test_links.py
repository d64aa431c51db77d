"""Between logits and probabilities: against SciPy and against more digits."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import special

from tempocal.links import (
    log_odds,
    log_proba_from_logits,
    log_sigmoid,
    log_softmax,
    logsumexp,
    sigmoid,
)

EXTREMES = np.array(
    [0.0, -0.0, 5e-324, 1e-17, 1.0, 36.7, 37.0, 700.0, 746.0, 1e5, 2.0**53, 1e308, np.inf]
)
BOTH_SIGNS = np.concatenate([-EXTREMES, EXTREMES])
any_logits = arrays(np.float64, st.integers(1, 20), elements=st.floats(-800, 800))


def rows_of_logits(largest=700.0):
    """Two to fifty logits a row."""
    shape = st.tuples(st.integers(1, 4), st.integers(2, 50))
    return arrays(np.float64, shape, elements=st.floats(-largest, largest))


# One column


@pytest.mark.parametrize(
    ("ours", "scipys"), [(sigmoid, special.expit), (log_sigmoid, special.log_expit)]
)
def test_the_sigmoid_and_its_log_are_scipys_at_the_extremes(ours, scipys):
    with np.errstate(all="raise", under="ignore"):
        got = ours(BOTH_SIGNS)
    np.testing.assert_allclose(got, scipys(BOTH_SIGNS), rtol=1e-15)


@given(any_logits)
def test_the_sigmoid_and_its_log_are_scipys(z):
    # SciPy's is 0 where a probability is subnormal.
    np.testing.assert_allclose(sigmoid(z), special.expit(z), rtol=1e-14, atol=1e-307)
    np.testing.assert_allclose(log_sigmoid(z), special.log_expit(z), rtol=1e-14)


@given(any_logits)
def test_a_sigmoid_and_that_of_the_negative_make_one(z):
    np.testing.assert_allclose(sigmoid(z) + sigmoid(-z), 1.0, rtol=1e-15)
    np.testing.assert_allclose(log_sigmoid(z) - log_sigmoid(-z), z, rtol=1e-15, atol=1e-15)


# Several columns


@given(rows_of_logits())
def test_the_softmax_is_scipys(z):
    np.testing.assert_allclose(
        logsumexp(z), special.logsumexp(z, axis=1, keepdims=True), rtol=1e-14, atol=1e-15
    )
    np.testing.assert_allclose(log_softmax(z), special.log_softmax(z, axis=1), rtol=1e-14)


@pytest.mark.parametrize("z", [[2.0**53, -(2.0**53)], [700.0] * 50, [-1e5, -1e5], [5e-324, 0.0]])
def test_the_softmax_is_scipys_at_the_extremes(z):
    z = np.array([z])
    with np.errstate(all="raise", under="ignore"):
        got = log_softmax(z)
    np.testing.assert_allclose(got, special.log_softmax(z, axis=1), rtol=1e-14)


def test_nothing_sums_to_minus_infinity_and_infinity_to_itself():
    z = np.array([[-np.inf, -np.inf], [-np.inf, 3.0], [np.inf, 3.0]])
    with np.errstate(all="raise"):
        np.testing.assert_array_equal(logsumexp(z), [[-np.inf], [3.0], [np.inf]])


def naive_log_odds(z):
    """``log(exp(z_k) / sum of the others)``, as it is written, in more digits than a double's."""
    wide = z.astype(np.longdouble)
    others = ~np.eye(z.shape[1], dtype=bool)
    rest = np.stack([np.exp(wide[:, row]).sum(axis=1) for row in others], axis=1)
    return (wide - np.log(rest)).astype(np.float64)


@given(rows_of_logits())
def test_log_odds_are_right_to_the_last_digits(z):
    np.testing.assert_allclose(log_odds(z), naive_log_odds(z), rtol=1e-14, atol=1e-12)


@pytest.mark.parametrize("scale", [1e-8, 1.0, 30.0, 250.0])
@pytest.mark.parametrize("n_classes", [2, 3, 10, 50])
def test_log_odds_of_typical_rows_are_right_to_the_last_digits(n_classes, scale):
    z = np.clip(scale * np.random.default_rng(0).normal(size=(200, n_classes)), -700, 700)
    np.testing.assert_allclose(
        log_odds(z), naive_log_odds(z), rtol=1e-14, atol=4e-16 * max(scale, 4)
    )


def test_log_odds_keep_what_probabilities_round_away():
    z = np.array([[700.0, 0.0, -700.0], [60.0, 0.0, 0.0]])
    expected = [[700.0, -700.0, -1400.0], [60.0 - np.log(2.0), -60.0, -60.0]]
    np.testing.assert_allclose(log_odds(z), expected, rtol=1e-15)


@given(rows_of_logits())
def test_a_sigmoid_of_log_odds_is_the_softmax(z):
    # The smallest numbers have fewer digits.
    expected = special.softmax(z, axis=1)
    np.testing.assert_allclose(sigmoid(log_odds(z)), expected, rtol=1e-12, atol=1e-300)


@given(arrays(np.float64, (4, 2), elements=st.floats(-700, 700)))
def test_two_classes_have_the_difference_and_its_negative(z):
    difference = z[:, 1] - z[:, 0]
    np.testing.assert_allclose(log_odds(z), np.stack([-difference, difference], axis=1), atol=1e-12)


@pytest.mark.parametrize("function", [log_odds, log_softmax])
@pytest.mark.parametrize("shift", [-(2.0**40), 1024.0, 2.0**40])
def test_a_shift_of_a_row_takes_no_digits(function, shift):
    """The shifted logits are exact, since the logits are multiples of 1/1024."""
    z = np.random.default_rng(0).integers(-20_000, 20_000, size=(50, 4)) / 1024
    np.testing.assert_array_equal(function(z + shift), function(z))


def test_log_odds_do_not_depend_on_how_rows_lie_in_memory():
    z = np.array([[0.0] * 2 + [-1.75] * 8, [-1.75] * 10])
    np.testing.assert_array_equal(log_odds(np.asfortranarray(z)), log_odds(z))


@given(rows_of_logits(), st.randoms())
def test_log_odds_do_not_depend_on_the_order_of_the_classes_to_the_bit(z, random):
    """A step function sees the last bit: rows that say the same must stay ties."""
    order = list(range(z.shape[1]))
    random.shuffle(order)
    np.testing.assert_array_equal(log_odds(z[:, order]), log_odds(z)[:, order])


def test_equal_logits_are_equal_odds():
    """The largest is treated apart, which must not show where several are largest."""
    np.testing.assert_allclose(log_odds(np.zeros((1, 5))), -np.log(4.0), rtol=1e-15)


@pytest.mark.parametrize("function", [log_odds, log_softmax, logsumexp, log_proba_from_logits])
def test_the_logits_that_came_in_are_left_alone(function):
    z = np.random.default_rng(0).normal(size=(5, 3))
    z.setflags(write=False)
    before = z.copy()
    function(z)
    np.testing.assert_array_equal(z, before)


def test_one_column_is_the_second_of_two():
    z = np.array([-np.inf, -40.0, 0.0, 3.0, np.inf])
    with np.errstate(all="raise", under="ignore"):
        log_p = log_proba_from_logits(z)
    np.testing.assert_allclose(log_p, special.log_expit(np.stack([-z, z], axis=1)), rtol=1e-15)
    two = np.stack([np.zeros(3), z[1:4]], axis=1)
    np.testing.assert_allclose(log_proba_from_logits(two), log_p[1:4], atol=1e-15)

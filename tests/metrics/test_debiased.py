import numpy as np
import pytest

from tempocal.errors import InputError
from tempocal.metrics import debiased_ece, ece

LEVELS, SHIFT = np.array([0.1, 0.3, 0.5, 0.7, 0.9]), np.array([0.05, 0.0, 0.1, -0.1, 0.0])
SHARE = np.array([4, 8, 10, 6, 12])
CONFIDENCE = np.repeat(LEVELS, SHARE)
SQUARE = np.sum(SHARE * SHIFT**2) / SHARE.sum()


def simulate(random):
    return random.random(len(CONFIDENCE)) < CONFIDENCE + np.repeat(SHIFT, SHARE)


def test_square_is_unbiased_and_the_plain_one_is_not():
    random = np.random.default_rng(0)
    debiased, plain = [], []
    for _ in range(1_500):
        y = simulate(random)
        error = debiased_ece(
            y, CONFIDENCE, bins=5, binning="equal_width", of="positive_class", classes=[False, True]
        )
        debiased.append(error.squared)
        plain.append(np.sum(SHARE * (error.bins.confidence - error.bins.frequency) ** 2) / 40)
    standard_error = np.std(debiased) / len(debiased) ** 0.5
    assert abs(np.mean(debiased) - SQUARE) < 3 * standard_error
    assert abs(np.mean(plain) - SQUARE) > 30 * standard_error


def test_agrees_with_the_formula():
    random = np.random.default_rng(1)
    p, y = random.random(120), random.random(120) < 0.4
    edges = np.sort(p)[[39, 79]]
    square = 0.0
    for here in (p <= edges[0], (p > edges[0]) & (p <= edges[1]), p > edges[1]):
        frequency = y[here].mean()
        variance = frequency * (1 - frequency) / 39
        square += ((p[here].mean() - frequency) ** 2 - variance) / 3
    error = debiased_ece(y, p, bins=3, of="positive_class")
    assert error.squared == pytest.approx(square, rel=1e-12)
    assert error == pytest.approx(square**0.5, rel=1e-12)


def test_negative_square_has_root_zero():
    y, p = [0, 1, 0, 1], [0.5, 0.5, 0.5, 0.5]
    error = debiased_ece(y, p, of="positive_class")
    assert error == 0.0
    assert error.squared == pytest.approx(-0.25 / 3)


def test_bins_of_a_single_row_do_not_count():
    error = debiased_ece([1, 1, 0], [0.1, 0.1, 0.9], bins=2, of="positive_class")
    np.testing.assert_array_equal(error.bins.count, [2, 1])
    assert error.squared == pytest.approx(0.81)


@pytest.mark.parametrize("weight", [None, [0.1] * 15])
def test_bins_of_single_rows_only_are_refused(weight):
    """Fifteen rows that are all wrong are not perfectly calibrated."""
    with pytest.raises(InputError, match="needs a bin with a weight of at least 2"):
        debiased_ece([0] * 15, np.linspace(0.9, 0.99, 15), sample_weight=weight, classes=[0, 1])


def test_many_rows_leave_the_plain_error():
    random = np.random.default_rng(2)
    p = random.random(200_000)
    y = random.random(len(p)) < 0.2 + 0.6 * p
    one_bin = {"bins": 1, "of": "positive_class", "binning": "equal_width"}
    assert debiased_ece(y, 0.5 * p, **one_bin) == pytest.approx(
        ece(y, 0.5 * p, **one_bin), abs=1e-5
    )

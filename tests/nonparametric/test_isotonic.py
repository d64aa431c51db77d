import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.isotonic import IsotonicRegression

import tempocal as tc
from support.curves import fit_isotonic
from tempocal.kernels.order import BUCKET_ROWS
from tempocal.links import sigmoid


@pytest.mark.parametrize("digits", [0, 1, 12])
def test_predictions_are_those_of_scikit_learn(digits):
    rng = np.random.default_rng(digits)
    odds = rng.normal(0.0, 2.0, 400).round(digits)
    targets = (rng.random(400) < sigmoid(odds)).astype(float)
    weights = rng.random(400) + 0.1
    peer = IsotonicRegression(out_of_bounds="clip").fit(odds, targets, sample_weight=weights)
    query = np.concatenate([odds, np.linspace(-20.0, 20.0, 999)])

    fitted = fit_isotonic(odds, targets, weights, shrinkage=0.0)

    assert sigmoid(fitted(query)) == pytest.approx(peer.predict(query), abs=1e-12)


def test_knots_are_those_of_scikit_learn():
    rng = np.random.default_rng(7)
    odds = rng.normal(size=1000)
    targets = (rng.random(1000) < sigmoid(odds)).astype(float)
    peer = IsotonicRegression().fit(odds, targets)

    fitted = fit_isotonic(odds, targets, None, shrinkage=0.0)

    assert_array_equal(fitted.odds, peer.X_thresholds_)
    assert fitted.probabilities == pytest.approx(peer.y_thresholds_, abs=1e-15)


def test_two_rows_in_reverse_are_pooled():
    fitted = fit_isotonic(
        np.array([1.0, -1.0]), np.array([0.0, 1.0]), np.array([3.0, 1.0]), shrinkage=0.0
    )

    assert_array_equal(fitted.odds, [-1.0, 1.0])
    assert_array_equal(fitted.probabilities, [0.25, 0.25])


@pytest.mark.parametrize("label", [0.0, 1.0])
def test_one_class_alone_is_certain_unless_shrunk(label):
    odds, targets = np.array([-700.0, 0.3, 700.0]), np.full(3, label)
    weights = np.array([0.1, 0.2, 0.7])

    certain = fit_isotonic(odds, targets, weights, shrinkage=0.0)
    shrunk = fit_isotonic(odds, targets, weights, shrinkage=1.0)

    assert np.all(certain.probabilities == label)
    assert shrunk.probabilities == pytest.approx((label + weights @ sigmoid(odds)) / 2)


@pytest.mark.parametrize("n", [1000, 100_000])
def test_a_pure_block_at_the_end_is_not_certain_however_many_rows_there_are(n):
    odds = np.linspace(-2.0, 2.0, n)
    targets = np.arange(n) % 2.0
    targets[-10:] = 1.0

    shrunk = fit_isotonic(odds, targets, None, shrinkage=1.0)

    assert np.all(np.diff(shrunk.probabilities) >= 0)
    assert shrunk.probabilities[-1] == pytest.approx(
        (10 + sigmoid(odds[-10:]).mean()) / 11, abs=0.01
    )


def test_shrinkage_adds_no_blocks():
    rng = np.random.default_rng(3)
    odds = rng.normal(0.0, 8.0, 2000)
    targets = (rng.random(2000) < sigmoid(odds)).astype(float)

    classical = fit_isotonic(odds, targets, None, shrinkage=0.0)
    shrunk = fit_isotonic(odds, targets, None, shrinkage=10.0)

    assert set(shrunk.odds) <= set(classical.odds)
    assert np.all(np.diff(shrunk.probabilities) >= 0)


def wide(n, rng):
    return rng.normal(size=n)


def rounded(n, rng):
    p = rng.integers(1, 100, n) / 100
    return np.log(p) - np.log1p(-p)


def tied_at_the_top(n, rng):
    return np.minimum(rng.normal(size=n), 0.1)


def all_equal(n, rng):
    return np.full(n, 0.25)


@pytest.mark.parametrize(
    "n", [BUCKET_ROWS - 1, BUCKET_ROWS + 1, 2 * BUCKET_ROWS, 3 * BUCKET_ROWS, 100_003]
)
@pytest.mark.parametrize("make", [wide, rounded, tied_at_the_top, all_equal])
def test_many_rows_against_scikit_learn(make, n):
    rng = np.random.default_rng(n)
    odds = make(n, rng)
    labels = rng.random(n) < 1.0 / (1.0 + np.exp(-odds))
    cal = tc.IsotonicCalibration(shrinkage=0).fit(odds, labels)
    other = IsotonicRegression(out_of_bounds="clip").fit(odds, labels)
    at = np.append(odds[::97], [-9.0, 9.0])
    np.testing.assert_allclose(cal.predict_proba(at)[:, 1], other.predict(at), atol=1e-10)

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from tempocal.nonparametric.distinct import collapse, shrunk_targets


def test_sums_are_those_of_a_dictionary():
    rng = np.random.default_rng(0)
    odds = rng.integers(-5, 5, 200) / 2
    targets = rng.integers(0, 2, 200).astype(float)
    weights = rng.integers(0, 4, 200).astype(float)
    weights[odds == 1.0] = 0.0
    sums = {}
    for z, y, w in zip(odds, targets, weights, strict=True):
        if w > 0:
            weight, positive = sums.get(z, (0.0, 0.0))
            sums[z] = (weight + w, positive + w * y)

    data = collapse(odds, targets, weights)

    assert 1.0 not in data.odds
    assert_array_equal(data.odds, sorted(sums))
    assert_array_equal(data.weights, [sums[z][0] for z in data.odds])
    assert_array_equal(data.positives, [sums[z][1] for z in data.odds])
    assert_array_equal(data.negatives, data.weights - data.positives)


def test_a_class_that_is_absent_sums_to_exactly_zero():
    rng = np.random.default_rng(1)
    odds, weights = rng.integers(0, 3, 500) * 1.0, rng.random(500)

    assert_array_equal(collapse(odds, np.ones(500), weights).negatives, np.zeros(3))
    assert_array_equal(collapse(odds, np.zeros(500), weights).positives, np.zeros(3))


def test_shrinkage_is_the_pseudo_rows_themselves():
    rng = np.random.default_rng(2)
    odds, weights = rng.integers(-4, 5, 60) / 3, rng.random(60) + 0.1
    targets = rng.integers(0, 2, 60).astype(float)
    pseudo = 1 / (1 + np.exp(-odds))
    with_rows = collapse(
        np.concatenate([odds, odds]),
        np.concatenate([targets, pseudo]),
        np.concatenate([weights, weights * 7.0 / weights.sum()]),
    )

    shrunk = shrunk_targets(collapse(odds, targets, weights), shrinkage=7.0)

    assert shrunk == pytest.approx(with_rows.positives / with_rows.weights, rel=1e-12)

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from tempocal.nonparametric.distinct import collapse, shrink_blocks


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
    """The mean of a block with the pseudo-rows in it."""
    rng = np.random.default_rng(2)
    odds, weights = np.sort(rng.normal(size=60)), rng.random(60) + 0.1
    targets = rng.integers(0, 2, 60).astype(float)
    block = np.arange(60) // 20
    means = np.array(
        [np.average(targets[block == b], weights=weights[block == b]) for b in range(3)]
    )
    share = weights / np.bincount(block, weights)[block]
    pseudo = 7.0 * share

    shrunk = shrink_blocks(collapse(odds, targets, weights), means[block], shrinkage=7.0)

    for b in range(3):
        rows = block == b
        mass = (weights * targets + pseudo / (1 + np.exp(-odds)))[rows].sum()
        expected = mass / (weights + pseudo)[rows].sum()
        assert shrunk[rows] == pytest.approx(np.full(20, expected), rel=1e-12)

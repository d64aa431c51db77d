import numpy as np
import pytest
from sklearn.metrics import brier_score_loss

from tempocal.metrics import brier

RANDOM = np.random.default_rng(0)
P, WEIGHT = RANDOM.random(400), RANDOM.exponential(size=400)
Y = RANDOM.integers(0, 2, 400)


@pytest.mark.parametrize("weight", [None, WEIGHT])
def test_positive_class_agrees_with_sklearn(weight):
    expected = brier_score_loss(Y, P, sample_weight=weight)
    assert brier(Y, P, of="positive_class", sample_weight=weight) == pytest.approx(expected)


def test_two_classes_are_twice_the_single_column():
    assert brier(Y, P) == pytest.approx(2 * brier(Y, P, of="positive_class"), rel=1e-12)


def test_many_classes_agree_with_the_formula():
    proba = RANDOM.dirichlet(np.ones(4), size=400)
    codes = RANDOM.integers(0, 4, 400)
    expected = np.average(((np.eye(4)[codes] - proba) ** 2).sum(axis=1), weights=WEIGHT)
    assert brier(codes, proba, sample_weight=WEIGHT) == pytest.approx(expected, rel=1e-12)


def test_certain_and_wrong_is_two():
    assert brier([0, 1], [1.0, 0.0]) == 2.0


def test_input_is_left_alone():
    proba = np.array([[0.3, 0.7], [0.6, 0.4]])
    brier([0, 1], proba)
    np.testing.assert_array_equal(proba, [[0.3, 0.7], [0.6, 0.4]])

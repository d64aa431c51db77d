import numpy as np
import pytest
from sklearn.metrics import log_loss

from tempocal.errors import InputError
from tempocal.metrics import nll


@pytest.mark.parametrize("n_classes", [2, 5])
def test_agrees_with_sklearn(n_classes):
    random = np.random.default_rng(0)
    proba = random.dirichlet(np.ones(n_classes), size=500)
    y, weight = random.integers(0, n_classes, 500), random.exponential(size=500)
    assert nll(y, proba) == pytest.approx(log_loss(y, proba), rel=1e-12)
    assert nll(y, proba, sample_weight=weight) == pytest.approx(
        log_loss(y, proba, sample_weight=weight), rel=1e-12
    )


def test_impossible_true_class_is_infinite():
    assert nll([0, 1], [0.3, 0.0]) == np.inf
    assert nll([0, 1], [1.0, 0.3]) == np.inf


def test_clip_bounds_the_charge_of_a_row():
    expected = -(np.log(0.7) + np.log(1e-4)) / 2
    assert nll([0, 1], [0.3, 0.0], clip=1e-4) == pytest.approx(expected, rel=1e-12)


def test_clip_leaves_larger_probabilities_alone():
    assert nll([0, 1], [0.3, 0.6], clip=0.5) == nll([0, 1], [0.3, 0.6])


def test_impossible_row_of_weight_zero_is_absent():
    assert nll([0, 1], [0.3, 0.0], sample_weight=[1, 0]) == pytest.approx(-np.log(0.7))


@pytest.mark.parametrize("clip", [-0.1, 1, 1.5, np.nan, "1e-3", None])
def test_clip_must_be_a_probability_below_one(clip):
    with pytest.raises(InputError, match="clip must be a number of at least 0 and below 1, but"):
        nll([0, 1], [0.3, 0.6], clip=clip)

import numpy as np
import pytest

from tempocal.metrics import classwise_ece, ece

RANDOM = np.random.default_rng(0)
PROBA, CODES = RANDOM.dirichlet(np.ones(4), size=300), RANDOM.integers(0, 4, 300)


@pytest.mark.parametrize("binning", ["equal_width", "equal_mass"])
def test_is_the_mean_of_one_against_the_rest(binning):
    alone = [
        ece(came, said, of="positive_class", binning=binning, bins=7)
        for came, said in zip(np.eye(4)[CODES].T, PROBA.T, strict=True)
    ]
    error = classwise_ece(CODES, PROBA, binning=binning, bins=7)
    assert error == pytest.approx(np.mean(alone), rel=1e-12)
    assert error.by_class == pytest.approx(alone, rel=1e-12)


def test_each_class_has_its_name():
    names = np.array(["ash", "elm", "fir", "oak"])
    error = classwise_ece(names[CODES], PROBA)
    np.testing.assert_array_equal(error.classes, names)
    assert error.by_class[2].estimator == "class 'fir' ECE, 15 equal-width bins"

"""Calibrators without coefficients say that they cannot be updated, and which can."""

import copy
import pickle

import numpy as np
import pytest

import tempocal as tc
from tempocal.errors import InputError, NoPartialFitError

Z, Y = np.array([-1.0, 2.0, 0.5, 0.1]), np.array([0, 1, 0, 1])
BARE = [
    tc.Identity(),
    tc.HistogramBinning(),
    tc.IsotonicCalibration(),
    tc.BayesianBinning(),
    tc.NearIsotonicEnsemble(),
]
NONE = [
    *BARE,
    *(tc.TemporalCalibrator(one, tc.PerStep()) for one in BARE),
    tc.AutoTemporalCalibrator(),
    tc.TemporalCalibrator("nonsense"),
]


@pytest.mark.parametrize("cal", NONE, ids=repr)
def test_the_error_says_what_can(cal):
    with pytest.raises(NoPartialFitError, match=r"has no partial_fit: .* PlattScaling, ") as caught:
        cal.partial_fit(Z, Y)
    assert isinstance(caught.value, InputError)


@pytest.mark.parametrize("cal", NONE, ids=repr)
def test_there_is_no_such_attribute(cal):
    """As scikit-learn wants it."""
    assert not hasattr(cal, "partial_fit")


def test_auto_names_its_choice():
    with pytest.raises(NoPartialFitError, match="A TemporalCalibrator has one: best_, unless"):
        tc.AutoTemporalCalibrator().partial_fit(Z, Y)


def test_a_class_without_one():
    assert not hasattr(tc.Identity, "partial_fit")
    assert hasattr(tc.PlattScaling, "partial_fit")
    assert tc.TemporalCalibrator.partial_fit.__doc__


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda cal: pickle.loads(pickle.dumps(cal))])
def test_copies_have_one_too(copied):
    cal = tc.TemporalCalibrator(tc.PlattScaling(shrinkage=1.0), tc.Constant())
    assert copied(cal).partial_fit(Z, Y, time=[0, 1, 2, 3]).predict_proba([1.0], time=[0]).size == 2


def test_the_share_that_is_kept_may_be_any_number():
    found = [
        tc.PlattScaling(shrinkage=1.0).fit(Z, Y).partial_fit(Z, Y, keep=keep).predict_proba(Z)
        for keep in (0.5, np.float32(0.5), np.float64(0.5))
    ]
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])

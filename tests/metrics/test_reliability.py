import numpy as np
import pytest
from sklearn.calibration import calibration_curve

from tempocal.metrics import ece, reliability_curve

RANDOM = np.random.default_rng(0)
P = RANDOM.random(500)
Y = (RANDOM.random(500) < P**2).astype(int)


def test_agrees_with_sklearn():
    frequency, confidence = calibration_curve(Y, P, n_bins=20, strategy="uniform")
    curve = reliability_curve(Y, P, bins=20, binning="equal_width", of="positive_class")
    np.testing.assert_allclose(curve.frequency, frequency, rtol=1e-12)
    np.testing.assert_allclose(curve.confidence, confidence, rtol=1e-12)


def test_default_is_ten_bins_of_equal_mass():
    np.testing.assert_array_equal(reliability_curve(Y, P).count, np.full(10, 50))


def test_has_the_bins_of_ece():
    weight = RANDOM.exponential(size=500)
    curve = reliability_curve(Y, P, sample_weight=weight)
    bins = ece(Y, P, bins=10, binning="equal_mass", sample_weight=weight).bins
    for name, column in vars(curve).items():
        np.testing.assert_array_equal(column, getattr(bins, name))


def test_bins_cover_the_unit_interval():
    curve = reliability_curve(Y, P, of="positive_class")
    assert (curve.lower[0], curve.upper[-1]) == (0.0, 1.0)
    np.testing.assert_array_equal(curve.lower[1:], curve.upper[:-1])
    assert ((curve.lower < curve.confidence) & (curve.confidence <= curve.upper)).all()


def test_empty_bin_is_kept_and_unknown():
    curve = reliability_curve([0, 1], [0.1, 0.9], bins=3, binning="equal_width")
    np.testing.assert_array_equal(curve.count, [0, 0, 2])
    np.testing.assert_array_equal(np.isnan(curve.frequency), [True, True, False])


def test_pooled_classes_are_the_mirror_image_of_themselves():
    proba = np.stack([1 - P, P], axis=1)
    curve = reliability_curve(np.eye(2)[Y].ravel(), proba.ravel(), of="positive_class")
    assert curve.confidence == pytest.approx(1 - curve.confidence[::-1])
    assert curve.frequency == pytest.approx(1 - curve.frequency[::-1])

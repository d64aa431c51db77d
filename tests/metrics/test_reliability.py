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


def bins_of(weight, groups):
    random = np.random.default_rng(0)
    proba = random.random(600)
    return reliability_curve(
        random.random(600) < proba,
        proba,
        bins=3,
        of="positive_class",
        groups=groups,
        sample_weight=weight,
    )


def test_intervals_do_not_depend_on_the_scale_of_weights():
    groups = np.arange(600) % 60
    one, small = bins_of(np.ones(600), groups), bins_of(np.full(600, 0.1), groups)
    np.testing.assert_allclose(one.lower_frequency, small.lower_frequency, rtol=1e-9)
    np.testing.assert_allclose(one.upper_frequency, small.upper_frequency, rtol=1e-9)


def test_groups_of_one_row_are_independent_rows():
    alone, grouped = bins_of(None, None), bins_of(None, np.arange(600))
    np.testing.assert_allclose(alone.lower_frequency, grouped.lower_frequency, atol=2e-3)


@pytest.mark.parametrize("spread", [0.0, 1.0])
def test_intervals_over_groups_hold_the_frequency(spread):
    """Rows of a group share their outcome, and groups differ in weight."""
    random, held, sets = np.random.default_rng(1), 0, 400
    groups = np.repeat(np.arange(50), 5)
    for _ in range(sets):
        label = np.repeat(random.random(50) < 0.3, 5)
        weight = np.repeat(np.exp(spread * random.normal(size=50)), 5)
        found = reliability_curve(
            label,
            np.full(250, 0.3),
            bins=1,
            of="positive_class",
            groups=groups,
            sample_weight=weight,
            classes=[False, True],
        )
        held += found.lower_frequency[0] <= 0.3 <= found.upper_frequency[0]
    assert 0.91 < held / sets < 0.995

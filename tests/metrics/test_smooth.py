import numpy as np
import pytest
import relplot

from tempocal.metrics import ece, smooth_ece

RANDOM = np.random.default_rng(0)


def simulate(n, slope):
    logits = RANDOM.normal(0, 1.5, n)
    y = (RANDOM.random(n) < 1 / (1 + np.exp(-logits))).astype(int)
    return y, 1 / (1 + np.exp(-slope * logits))


def error_by_quadrature(y, p, weight, bandwidth, points=4_000):
    """Integral over [0, 1] of the absolute gap, smoothed by the kernel and its mirror images."""
    at = (np.arange(points) + 0.5) / points
    smoothed = np.zeros(points)
    for period in range(-2, 3):
        for image in (2 * period + p, 2 * period - p):
            kernel = np.exp(-0.5 * ((at[:, None] - image) / bandwidth) ** 2)
            smoothed += kernel @ (weight * (p - y))
    scale = bandwidth * np.sqrt(2 * np.pi) * weight.sum()
    return np.abs(smoothed).sum() / points / scale


# relplot halves the mass that lies at 0 and 1 and cuts the kernel at half a unit, so it is right
# for probabilities away from the ends and small errors; its bandwidth is a multiple of 1 / 1024.
@pytest.mark.parametrize(("n", "slope"), [(50, 1.0), (1_000, 1.0), (1_000, 0.5), (5_000, 2.0)])
def test_agrees_with_relplot(n, slope):
    y, p = simulate(n, slope)
    p = np.clip(p, 0.01, 0.99)
    assert smooth_ece(y, p, of="positive_class") == pytest.approx(relplot.smECE(p, y), abs=1e-3)


@pytest.mark.parametrize(("n", "slope"), [(1, 1.0), (30, 1.0), (200, 0.2), (200, 20.0)])
def test_is_the_bandwidth_that_equals_its_own_error(n, slope):
    y, p = simulate(n, slope)
    weight = RANDOM.exponential(size=n)
    error = smooth_ece(y, p, of="positive_class", sample_weight=weight, classes=[0, 1])
    assert error == pytest.approx(error_by_quadrature(y, p, weight, error), abs=2e-6)


def test_top_label_is_the_event_of_being_right():
    proba = RANDOM.dirichlet(np.ones(3), size=200)
    y = RANDOM.integers(0, 3, 200)
    right = proba.argmax(axis=1) == y
    expected = smooth_ece(right, proba.max(axis=1), of="positive_class")
    assert smooth_ece(y, proba) == pytest.approx(expected, rel=1e-9)


def test_mirrored_problem_is_the_same():
    y, p = simulate(300, 20.0)
    expected = smooth_ece(y, p, of="positive_class")
    assert smooth_ece(1 - y, 1 - p, of="positive_class") == pytest.approx(expected, rel=1e-6)


def test_gaps_of_one_sign_are_their_mean():
    p = np.array([0.0, 0.2, 0.4, 1.0])
    assert smooth_ece(np.ones(4), p, of="positive_class", classes=[0, 1]) == pytest.approx(0.6)


def test_small_error_has_a_narrow_kernel():
    y, p = np.array([0, 1, 0, 1]), np.array([0.5, 0.5, 0.51, 0.51])
    weight = np.array([0.252, 0.248, 0.243, 0.257])
    error = smooth_ece(y, p, of="positive_class", sample_weight=weight)
    assert 0.003 < error < 0.004
    assert error == pytest.approx(error_by_quadrature(y, p, weight, error), rel=1e-3)


def test_smaller_than_the_grid():
    p = np.full(10, 1e-6)
    error = smooth_ece(np.zeros(10), p, of="positive_class", classes=[0, 1])
    assert error == pytest.approx(1e-6)


def test_does_not_jump_where_a_binned_error_does():
    y, together, apart = [0, 1], [0.5, 0.5], [0.5, 0.5 + 1e-12]
    assert ece(y, together, bins=2, of="positive_class") == 0.0
    assert ece(y, apart, bins=2, of="positive_class") == pytest.approx(0.5)
    assert smooth_ece(y, together, of="positive_class") == 0.0
    assert smooth_ece(y, apart, of="positive_class") < 1e-6

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tempocal.metrics import ece, max_calibration_error, sampling_floor


def gaps_by_loop(codes, proba, weight, bins):
    """Share of the weight and gap of each bin of the top label, row by row."""
    cells = [[0.0, 0.0, 0.0] for _ in range(bins)]
    for code, row, w in zip(codes, proba, weight, strict=True):
        top = int(np.argmax(row))
        b = next(b for b in range(bins) if row[top] <= (b + 1) / bins)
        cells[b][0] += w
        cells[b][1] += w * row[top]
        cells[b][2] += w * (top == code)
    return [(w / sum(weight), abs(said - came) / w) for w, said, came in cells if w]


@given(
    seed=st.integers(0, 2**32 - 1),
    n_rows=st.integers(1, 60),
    n_classes=st.integers(2, 5),
    bins=st.integers(1, 25),
)
def test_agrees_with_a_loop(seed, n_rows, n_classes, bins):
    random = np.random.default_rng(seed)
    proba = random.multinomial(20, np.ones(n_classes) / n_classes, size=n_rows) / 20
    codes, weight = random.integers(0, n_classes, n_rows), random.exponential(size=n_rows)
    gaps = gaps_by_loop(codes, proba, weight, bins)
    arguments = {"bins": bins, "sample_weight": weight, "classes": range(n_classes)}
    assert ece(codes, proba, **arguments) == pytest.approx(sum(share * gap for share, gap in gaps))
    largest = max(gap for _, gap in gaps)
    assert max_calibration_error(codes, proba, **arguments) == pytest.approx(largest)


def test_one_bin_is_the_difference_of_the_means():
    y, p = [0, 1, 1, 0, 1], np.array([0.1, 0.4, 0.8, 0.3, 0.6])
    for metric in (ece, max_calibration_error):
        for binning in ("equal_width", "equal_mass"):
            error = metric(y, p, bins=1, binning=binning, of="positive_class")
            assert error == pytest.approx(abs(p.mean() - 0.6))


@pytest.mark.parametrize("binning", ["equal_width", "equal_mass"])
def test_single_row(binning):
    error = ece([1], [0.7], classes=[0, 1], binning=binning)
    assert error == pytest.approx(0.3)
    assert error.bins.count.sum() == 1


def test_more_equal_mass_bins_than_rows_is_a_bin_each():
    error = ece([0, 1, 1], [0.1, 0.6, 0.8], bins=50, binning="equal_mass", of="positive_class")
    np.testing.assert_array_equal(error.bins.count, [1, 1, 1])
    assert error == pytest.approx((0.1 + 0.4 + 0.2) / 3)


def test_zero_and_one_are_counted():
    error = ece([0, 1, 1, 0], [0.0, 0.0, 1.0, 1.0], bins=4, of="positive_class")
    np.testing.assert_array_equal(error.bins.count, [2, 0, 0, 2])
    assert error == 0.5


def test_right_edge_is_closed():
    counts = ece([0, 1, 1], [0.25, 0.5, np.nextafter(0.5, 1)], bins=4, of="positive_class").bins
    np.testing.assert_array_equal(counts.count, [1, 1, 1, 0])


def test_ties_share_a_bin():
    y, p = np.arange(100) % 2, np.full(100, 0.5)
    assert ece(y, p, bins=10, binning="equal_mass", of="positive_class") == 0.0


def test_says_which_it_is():
    y, p = [0, 1], [0.2, 0.7]
    assert ece(y, p).estimator == "top-label ECE, 15 equal-width bins"
    error = max_calibration_error(y, p, bins=1, binning="equal_mass", of="positive_class")
    assert error.estimator == "maximum positive-class calibration error, 1 equal-mass bin"


def test_calibrated_rows_show_the_floor_and_others_more():
    random = np.random.default_rng(0)
    logits = random.normal(0, 2, 5_000)
    p = 1 / (1 + np.exp(-logits))
    truth = [ece(random.random(len(p)) < p, p) for _ in range(40)]
    floor = sampling_floor(p, seed=1)
    assert np.mean(truth) == pytest.approx(floor, rel=0.1)
    overconfident = ece(random.random(len(p)) < p, 1 / (1 + np.exp(-2 * logits)))
    assert overconfident > 3 * floor.upper

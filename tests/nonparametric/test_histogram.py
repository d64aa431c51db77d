from fractions import Fraction

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from support.curves import fit_histogram
from tempocal.links import sigmoid


def rows(seed, n=300):
    rng = np.random.default_rng(seed)
    odds = rng.normal(0.5, 2.0, n).round(1) + 0.05
    targets = (rng.random(n) < sigmoid(odds / 2)).astype(float)
    return odds, targets, rng.integers(1, 5, n).astype(float)


def predict(fitted, odds):
    return sigmoid(fitted(odds))


def mean_with_pseudo_rows(odds, targets, weights, members, shrinkage):
    positives, mass, predicted = 0.0, 0.0, 0.0
    for i in members:
        positives += weights[i] * targets[i]
        predicted += weights[i] / (1 + np.exp(-odds[i]))
        mass += weights[i]
    return (positives + shrinkage * predicted / mass) / (mass + shrinkage)


@pytest.mark.parametrize("shrinkage", [0.0, 2.5])
@pytest.mark.parametrize("bins", [1, 2, 10])
def test_equal_width_is_a_loop_over_probability_bins(bins, shrinkage):
    odds, targets, weights = rows(0)
    bin_of = [int(p * bins) for p in sigmoid(odds)]

    fitted = fit_histogram(
        odds, targets, weights, bins=bins, binning="equal_width", shrinkage=shrinkage
    )

    for b in set(bin_of):
        members = [i for i in range(len(odds)) if bin_of[i] == b]
        expected = mean_with_pseudo_rows(odds, targets, weights, members, shrinkage)
        assert predict(fitted, odds[members]) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("shrinkage", [0.0, 2.5])
@pytest.mark.parametrize("bins", [1, 3, 10])
def test_equal_mass_is_a_loop_over_ranks(bins, shrinkage):
    odds, targets, weights = rows(1)
    members = {}
    for z in odds:
        below, level = weights[odds < z].sum(), weights[odds == z].sum()
        rank = Fraction(int(2 * below + level), int(2 * weights.sum()))
        b = sum(rank > Fraction(edge, bins) for edge in range(1, bins))
        members.setdefault(b, set()).update(np.flatnonzero(odds == z))

    fitted = fit_histogram(odds, targets, weights, bins=bins, shrinkage=shrinkage)

    assert len(fitted.probabilities) == len(members) == bins
    for b, inside in members.items():
        expected = mean_with_pseudo_rows(odds, targets, weights, sorted(inside), shrinkage)
        assert fitted.probabilities[b] == pytest.approx(expected, rel=1e-12)


def test_equal_mass_bins_differ_by_less_than_a_row():
    odds = np.random.default_rng(2).normal(size=1003)

    edges = fit_histogram(odds, np.ones(1003), None, bins=7, shrinkage=0.0).edges

    counts = np.bincount(np.searchsorted(edges, odds))
    assert counts.max() - counts.min() <= 1


def test_a_value_on_an_edge_counts_in_the_bin_that_predicts_it():
    odds, targets = np.array([-1.0, 0.0, 1.0]), np.array([0.0, 1.0, 1.0])

    fitted = fit_histogram(odds, targets, None, bins=2, binning="equal_width", shrinkage=0.0)

    assert predict(fitted, odds) == pytest.approx([0.5, 0.5, 1.0])


@pytest.mark.parametrize("shrinkage", [0.0, 1.0])
def test_an_empty_bin_is_the_identity(shrinkage):
    odds = np.array([-3.0, 3.0])

    fitted = fit_histogram(
        odds, np.array([1.0, 0.0]), None, bins=5, binning="equal_width", shrinkage=shrinkage
    )

    assert fitted.probabilities[1:4] == pytest.approx([0.3, 0.5, 0.7])


def test_shrinkage_goes_all_the_way_to_the_predicted_mean():
    odds, targets, weights = rows(3)

    fitted = fit_histogram(odds, targets, weights, bins=4, shrinkage=1e12)

    bin_of = np.searchsorted(fitted.edges, odds)
    predicted = np.bincount(bin_of, weights * sigmoid(odds)) / np.bincount(bin_of, weights)
    assert fitted.probabilities == pytest.approx(predicted, rel=1e-8)


def test_one_value_is_one_bin_of_equal_mass():
    fitted = fit_histogram(np.full(9, 700.0), np.arange(9.0) % 2, None, bins=5, shrinkage=0.0)

    assert_array_equal(fitted.edges, [])
    assert fitted.probabilities == pytest.approx([4 / 9])

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from support.examples import examples
from tempocal.nonparametric.bins import edges_at, equal_mass_cuts, mass_ranks, midpoints

law = examples(100)


def exact_bins(weights, bins):
    """Bin of each value, in fractions: the one that holds the middle of its weight."""
    total, below, found = sum(weights), 0, []
    for weight in weights:
        rank = (below + Fraction(weight, 2)) / total
        found.append(sum(rank > Fraction(b, bins) for b in range(1, bins)))
        below += weight
    return found


@law
@given(weights=st.lists(st.integers(1, 9), min_size=1, max_size=40), bins=st.integers(1, 50))
def test_equal_mass_cuts_stand_where_exact_fractions_put_them(weights, bins):
    found = exact_bins(weights, bins)
    expected = [i for i in range(len(weights) - 1) if found[i] != found[i + 1]]

    assert_array_equal(equal_mass_cuts(mass_ranks(np.array(weights, float)), bins), expected)


@pytest.mark.parametrize("unit", [0.1, 1 / 3, 7.7])
def test_the_unit_of_the_weights_does_not_move_a_cut(unit):
    # Middles on an edge of a bin abound here, and rounding puts them on either side of it.
    for count in range(1, 50):
        ranks, scaled = mass_ranks(np.ones(count)), mass_ranks(np.full(count, unit))
        for bins in range(1, 50):
            assert_array_equal(equal_mass_cuts(scaled, bins), equal_mass_cuts(ranks, bins))


@law
@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=2, unique=True))
def test_an_edge_parts_its_two_values(values):
    odds = np.unique(values)
    cuts = np.arange(len(odds) - 1)

    edges = edges_at(odds, cuts)

    assert np.all(edges >= odds[:-1])
    assert np.all(edges < odds[1:])


def test_an_edge_between_neighboring_floats_parts_them_too():
    low = np.nextafter(1.0, 0.0)
    for left, right in ((low, 1.0), (1.0, np.nextafter(1.0, 2.0)), (-5e-324, 0.0)):
        (edge,) = edges_at(np.array([left, right]), np.array([0]))
        assert left <= edge < right


def test_midpoints_keep_the_small_complement():
    middle, complement = midpoints(np.array([-100.0, 100.0]))

    assert middle == pytest.approx([np.exp(-100) / 2, 0.5, 1.0])
    assert complement == pytest.approx([1.0, 0.5, np.exp(-100) / 2])

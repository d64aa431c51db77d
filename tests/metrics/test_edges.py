import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tempocal.metrics.edges import describe, equal_mass, equal_width

confidences = st.lists(
    st.one_of(st.integers(0, 20).map(lambda i: i / 20), st.floats(0, 1)), min_size=1, max_size=60
).map(np.array)


@given(confidence=confidences, bins=st.integers(1, 30), mass=st.booleans())
def test_every_row_lies_within_its_bin(confidence, bins, mass):
    edges = equal_mass(confidence, None, bins) if mass else equal_width(bins)
    found = edges.locate(confidence)
    assert (confidence <= edges.values[found + 1]).all()
    assert ((confidence > edges.values[found]) | ((confidence == 0) & (found == 0))).all()


@pytest.mark.parametrize("bins", [1, 2, 3, 10, 15, 20, 49, 100, 2**14])
def test_equal_width_is_exact_beside_its_edges(bins):
    edges = equal_width(bins)
    beside = [np.nextafter(edges.values, 0), edges.values, np.nextafter(edges.values, 1)]
    confidence = np.concatenate(beside)
    expected = np.searchsorted(edges.values[1:-1], confidence, side="left")
    np.testing.assert_array_equal(edges.locate(confidence), expected)


@given(bins=st.integers(1, 12), n_rows=st.integers(1, 60))
def test_equal_mass_without_ties_is_even(bins, n_rows):
    confidence = np.random.default_rng(n_rows).permutation(np.linspace(0, 1, n_rows))
    counts = np.bincount(equal_mass(confidence, None, bins).locate(confidence))
    assert len(counts) == min(bins, n_rows)
    assert counts.max() - counts.min() <= 1


@given(
    confidence=confidences, bins=st.integers(1, 12), factor=st.sampled_from([0.1, 1 / 3, 1.0, 7.0])
)
def test_equal_mass_by_equal_weights_is_equal_mass(confidence, bins, factor):
    weight = np.full(len(confidence), factor)
    np.testing.assert_array_equal(
        equal_mass(confidence, weight, bins).values,
        equal_mass(confidence, None, bins).values,
    )


def test_equal_mass_follows_the_weight():
    confidence = np.array([0.1, 0.2, 0.3, 0.4])
    heavy_first = equal_mass(confidence, np.array([3.0, 1.0, 1.0, 1.0]), 2)
    np.testing.assert_array_equal(heavy_first.values, [0.0, 0.1, 1.0])


def test_equal_mass_has_no_empty_bin():
    confidence = np.array([0.0, 0.0, 0.0, 0.5, 1.0, 1.0, 1.0, 1.0])
    edges = equal_mass(confidence, None, 8)
    np.testing.assert_array_equal(edges.values, [0.0, 0.0, 0.5, 1.0])
    np.testing.assert_array_equal(np.bincount(edges.locate(confidence)), [3, 1, 4])


def test_description_counts():
    assert describe(1, "equal_mass") == "1 equal-mass bin"
    assert describe(15, "equal_width") == "15 equal-width bins"

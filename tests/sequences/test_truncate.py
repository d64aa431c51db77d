"""Random cut points, as the paper samples them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2

from tempocal.errors import InputError
from tempocal.sequences import prefixes, truncate

LENGTHS = st.lists(st.integers(1, 30), min_size=1, max_size=12)


@given(LENGTHS, st.integers(1, 9), st.integers(0, 99))
def test_each_sequence_is_cut_k_times_within_its_length(lengths, k, seed):
    cuts = truncate(lengths, k, seed=seed)
    np.testing.assert_array_equal(cuts.sequence, np.repeat(np.arange(len(lengths)), k))
    assert (cuts.length >= 1).all()
    assert (cuts.length <= np.array(lengths)[cuts.sequence]).all()
    assert (np.diff(cuts.length.reshape(-1, k)) >= 0).all()
    assert cuts.weight.sum() == pytest.approx(sum(lengths))


def test_five_cuts_unless_told():
    assert len(truncate(["abc", "a"])) == 10


def chi_square(counts):
    expected = counts.sum() / counts.size
    return ((counts - expected) ** 2 / expected).sum()


def test_cut_points_are_uniform_from_the_first_element_to_the_whole():
    cuts = [truncate(np.full(1000, 20), k=5, seed=seed).length for seed in range(20)]
    counts = np.bincount(np.concatenate(cuts), minlength=21)[1:]
    assert chi2.sf(chi_square(counts), df=19) > 1e-3


def test_cut_points_of_a_sequence_are_independent():
    """Two draws from 1 to 6 are two dice: doubles as often as any pair, not never."""
    throws = [truncate(np.full(5000, 6), k=2, seed=seed).length for seed in range(20)]
    low, high = np.concatenate(throws).reshape(-1, 2).T - 1
    pairs = np.bincount(6 * low + high, minlength=36).reshape(6, 6)
    # Rows are sorted, so a pair of different numbers stands for both of its orders.
    observed = np.concatenate([np.diag(pairs), pairs[np.triu_indices(6, 1)]])
    expected = len(low) / 36 * np.repeat([1, 2], [6, 15])
    statistic = ((observed - expected) ** 2 / expected).sum()
    assert chi2.sf(statistic, df=20) > 1e-3


def test_the_weighted_mean_is_unbiased_for_all_prefixes():
    lengths = np.array([1, 2, 5, 40, 13])

    def mean(found, weight):
        return np.average(np.sqrt(found.length) + found.sequence, weights=weight)

    everything = prefixes(lengths)
    truth = mean(everything, None)
    draws = [truncate(lengths, k=3, seed=seed) for seed in range(2000)]
    weighted = np.array([mean(cuts, cuts.weight) for cuts in draws])
    assert abs(weighted.mean() - truth) < 4 * weighted.std() / np.sqrt(2000)
    # So that this test can fail: without weights short sequences count for too much.
    unweighted = np.array([mean(cuts, None) for cuts in draws])
    assert abs(unweighted.mean() - truth) > 20 * unweighted.std() / np.sqrt(2000)


def test_seeds_repeat():
    a, b, c = (truncate(np.full(50, 100), seed=seed).length for seed in (3, 3, 4))
    np.testing.assert_array_equal(a, b)
    assert (a != c).any()


def test_sequences_and_their_lengths_are_cut_alike():
    words = ["abc", "defghij", "k"]
    np.testing.assert_array_equal(truncate(words).length, truncate([3, 7, 1]).length)


def test_prefixes_are_those_of_the_sequences():
    words = ["abc", "defghij", "k"]
    cuts = truncate(words, 4)
    for at, length, prefix in zip(cuts.sequence, cuts.length, cuts.take(words), strict=True):
        assert prefix == words[at][:length]


@pytest.mark.parametrize("k", [0, -1, 2.5, True, "five", None])
def test_a_number_of_cuts_is_whole(k):
    with pytest.raises(InputError, match="k must be a whole number"):
        truncate(["abc"], k)

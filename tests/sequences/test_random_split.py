"""Random splits that keep sequences whole."""

from uuid import UUID

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tempocal.errors import InputError
from tempocal.sequences import split_by_sequence

GROUPS = st.lists(st.integers(-5, 20), min_size=1, max_size=60).filter(
    lambda groups: len(set(groups)) >= 3
)
SHARES = st.lists(st.integers(1, 20), min_size=1, max_size=3).map(
    lambda parts: [part / sum(parts) for part in parts]
)


def number_of_groups(groups, parts):
    return [len(set(np.asarray(groups)[rows].tolist())) for rows in parts]


@given(GROUPS, SHARES, st.integers(0, 99))
def test_nothing_is_lost_nothing_comes_twice_and_no_group_is_divided(groups, shares, seed):
    parts = split_by_sequence(groups, shares, seed=seed)
    assert len(parts) == len(shares)
    assert sorted(np.concatenate(parts).tolist()) == list(range(len(groups)))
    assert sum(number_of_groups(groups, parts)) == len(set(groups))
    assert all((np.diff(rows) > 0).all() for rows in parts)


@given(GROUPS, SHARES)
def test_parts_are_as_near_to_their_shares_as_whole_groups_allow(groups, shares):
    n = len(set(groups))
    counts = np.array(number_of_groups(groups, split_by_sequence(groups, shares)))
    assert counts.min() >= 1
    # No other way to divide them into parts that are not empty comes nearer.
    off = ((counts - n * np.array(shares)) ** 2).sum()
    for others in np.ndindex(*(n,) * (len(shares) - 1)):
        other = np.array([*others, n - sum(others)])
        if other.min() >= 1:
            assert off <= ((other - n * np.array(shares)) ** 2).sum() + 1e-9


@given(GROUPS, st.integers(0, 99), st.booleans(), st.randoms())
def test_the_order_of_rows_does_not_matter(groups, seed, stratified, random):
    groups = np.array(groups)
    order = np.array(random.sample(range(len(groups)), len(groups)))
    label = groups % 2 if stratified else None
    parts = split_by_sequence(groups, seed=seed, stratify=label)
    permuted = split_by_sequence(
        groups[order], seed=seed, stratify=label[order] if stratified else None
    )
    for rows, others in zip(parts, permuted, strict=True):
        assert sorted(order[others].tolist()) == rows.tolist()


def test_the_default_is_train_calibrate_and_test():
    assert [len(rows) for rows in split_by_sequence(range(100))] == [60, 20, 20]


def test_seeds_repeat():
    a, b, c = (split_by_sequence(range(50), seed=seed)[0] for seed in (3, 3, 4))
    np.testing.assert_array_equal(a, b)
    assert (a != c).any()


@pytest.mark.parametrize("stratify", [None, [0, 1, 1, 1, 1, 1, 1, 1, 1, 2]])
def test_every_sequence_comes_to_every_part_as_often_as_its_share(stratify):
    """Also a sequence that is the only one of its label."""
    seen = np.zeros((3, 10))
    for seed in range(2000):
        for part, rows in enumerate(split_by_sequence(range(10), seed=seed, stratify=stratify)):
            seen[part, rows] += 1
    share = np.array([[0.6], [0.2], [0.2]])
    error = np.sqrt(share * (1 - share) / 2000)
    assert (np.abs(seen / 2000 - share) < 4.5 * error).all()


@given(
    st.lists(st.integers(0, 4), min_size=5, max_size=200),
    st.sampled_from([(0.6, 0.2, 0.2), (0.5, 0.5), (0.7, 0.1, 0.2)]),
    st.integers(0, 99),
)
def test_each_part_has_the_mix_of_labels(label, shares, seed):
    """Within two sequences of the share of each label."""
    label = np.array(label)
    parts = split_by_sequence(range(len(label)), shares, seed=seed, stratify=label)
    assert [len(rows) for rows in parts] == [
        len(rows) for rows in split_by_sequence(range(len(label)), shares)
    ]
    for rows in parts:
        got = np.bincount(label[rows], minlength=5)
        wanted = np.bincount(label, minlength=5) * len(rows) / len(label)
        assert (np.abs(got - wanted) < 2).all()


IDS = {
    "text": ["a", "a", "b", "c"],
    "dates": np.array(["2020", "2020", "2021", "2022"], dtype="datetime64[Y]"),
    "uuids": [UUID(int=1), UUID(int=1), UUID(int=2), UUID(int=3)],
    "pandas": pd.Series(["a", "a", "b", "c"], index=[3, 2, 1, 0]),
    "numbers": [0.5, 0.5, 1.5, 2.5],
}


@pytest.mark.parametrize("ids", IDS.values(), ids=IDS)
def test_ids_may_be_of_any_kind(ids):
    """Ids in the same order are split alike, whatever they are."""
    parts = split_by_sequence(ids)
    for rows, others in zip(parts, split_by_sequence([0, 0, 1, 2]), strict=True):
        np.testing.assert_array_equal(rows, others)


SHARES_REFUSED = {
    "zero": ((0.5, 0.5, 0.0), "positive and sum to 1"),
    "negative": ((1.5, -0.5), "positive and sum to 1"),
    "too little": ((0.5, 0.4), "which sum to 0.9"),
    "percent": ((60, 40), "which sum to 100"),
    "nan": ((0.5, float("nan")), "positive and sum to 1"),
    "one number": (0.5, "shares must list the share of each part, but it is 0.5"),
    "none": ((), "shares must list the share of each part"),
    "text": (("half", "half"), "shares must be numbers"),
}


@pytest.mark.parametrize(("shares", "words"), SHARES_REFUSED.values(), ids=SHARES_REFUSED)
def test_shares_that_make_no_whole_are_refused(shares, words):
    with pytest.raises(InputError, match=words):
        split_by_sequence(range(10), shares)


def test_a_third_three_times_is_a_whole():
    assert [len(rows) for rows in split_by_sequence(range(9), [1 / 3] * 3)] == [3, 3, 3]


GROUPS_REFUSED = {
    "too few": ([1, 1, 2, 2], "groups holds 2 different ids, too few for 3 parts"),
    "none": ([], "groups holds 0 different ids"),
    "not given": (None, "groups is None: say which sequence"),
    "missing": ([1.0, np.nan, 3.0], "groups contains a missing id"),
    "table": ([[1, 2], [3, 4]], "groups must be one-dimensional"),
}


@pytest.mark.parametrize(("groups", "words"), GROUPS_REFUSED.values(), ids=GROUPS_REFUSED)
def test_groups_that_cannot_be_split_are_refused(groups, words):
    with pytest.raises(InputError, match=words):
        split_by_sequence(groups)


def test_a_sequence_has_one_label():
    with pytest.raises(InputError, match="differs within the group b: a sequence has one label"):
        split_by_sequence(["a", "b", "b", "c"], stratify=[0, 1, 0, 1])
    with pytest.raises(InputError, match="stratify has 3 entries and groups 4 rows"):
        split_by_sequence(["a", "b", "b", "c"], stratify=[0, 1, 1])

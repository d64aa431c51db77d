"""Splits by when sequences started."""

from datetime import date, datetime
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tempocal.errors import InputError
from tempocal.sequences import split_by_sequence, split_in_time

# Rows of a group and when, with ties of groups.
ROWS = st.lists(st.tuples(st.integers(0, 15), st.integers(-4, 12)), min_size=3, max_size=60)


def earliest(start, groups):
    first = {}
    for moment, group in zip(start, groups, strict=True):
        first[group] = min(moment, first.get(group, moment))
    return first


def split_or_none(start, groups, shares):
    try:
        return split_in_time(start, groups, shares)
    except InputError:
        return None


@given(ROWS, st.sampled_from([(1.0,), (0.5, 0.5), (0.6, 0.2, 0.2), (0.1, 0.8, 0.1)]))
def test_parts_follow_each_other_and_nothing_is_lost_or_divided(rows, shares):
    groups, start = zip(*rows, strict=True)
    first = earliest(start, groups)
    parts = split_or_none(start, groups, shares)
    # Where there is a moment for each part there is a split, and only there.
    assert (parts is None) == (len(set(first.values())) < len(shares))
    if parts is None:
        return
    assert sorted(np.concatenate(parts).tolist()) == list(range(len(rows)))
    assert all(len(part) for part in parts)
    moments = [[first[groups[row]] for row in part] for part in parts]
    for before, after in pairwise(moments):
        assert max(before) < min(after)


@given(ROWS, st.randoms())
def test_the_order_of_rows_does_not_matter(rows, random):
    groups, start = (np.array(column) for column in zip(*rows, strict=True))
    parts = split_or_none(start, groups, (0.5, 0.5))
    order = np.array(random.sample(range(len(rows)), len(rows)))
    permuted = split_or_none(start[order], groups[order], (0.5, 0.5))
    assert (parts is None) == (permuted is None)
    for part, others in zip(parts or (), permuted or (), strict=True):
        assert sorted(order[others].tolist()) == part.tolist()


@given(st.integers(3, 60), st.sampled_from([(0.6, 0.2, 0.2), (0.1, 0.8, 0.1), (0.3, 0.3, 0.4)]))
def test_without_ties_parts_are_as_large_as_in_a_random_split(n, shares):
    in_time = split_in_time(np.arange(n), np.arange(n)[::-1], shares)
    at_random = split_by_sequence(np.arange(n), shares)
    assert [len(rows) for rows in in_time] == [len(rows) for rows in at_random]


def sizes(start, shares):
    return [len(rows) for rows in split_in_time(start, range(len(start)), shares)]


def test_a_tie_goes_to_the_nearer_side_and_to_the_later_part_if_both_are_near():
    half = (0.5, 0.5)
    assert sizes([0, 1, 1, 1, 2, 3, 4, 5], half) == [4, 4]
    assert sizes([0, 1, 2, 3, 3, 3, 4, 5], half) == [3, 5]
    assert sizes([0, 1, 2, 2, 2, 3, 4, 5], half) == [5, 3]
    assert sizes([0, 1, 2, 2, 3, 4], half) == [2, 4]


def test_a_tie_leaves_something_for_every_part():
    assert sizes([0] * 8 + [1, 2], (0.2, 0.4, 0.4)) == [8, 1, 1]
    assert sizes([0, 1] + [2] * 8, (0.4, 0.4, 0.2)) == [1, 1, 8]
    assert sizes([0, 1] + [2] * 8 + [3], (0.4, 0.4, 0.2)) == [2, 8, 1]


MOMENTS = {
    "dates": [date(2020, 1, day) for day in (5, 2, 9)],
    "datetimes": [datetime(2020, 1, 1, hour) for hour in (5, 2, 9)],
    "numpy": np.array(["2020-05", "2020-02", "2020-09"], dtype="datetime64[M]"),
    "pandas": pd.Series(pd.to_datetime(["2020-05-01", "2020-02-01", "2020-09-01"])),
    "pandas, of a time zone": pd.date_range("2020", periods=3, tz="CET")[[1, 0, 2]],
    "numbers": [0.5, -2.5, 9.5],
}


@pytest.mark.parametrize("start", MOMENTS.values(), ids=MOMENTS)
def test_starts_may_be_numbers_or_datetimes(start):
    parts = split_in_time(start, ["x", "y", "z"])
    assert [rows.tolist() for rows in parts] == [[1], [0], [2]]


def test_the_first_row_of_a_sequence_need_not_come_first():
    groups = ["x", "y", "x", "z"]
    train, rest = split_in_time([9, 3, 1, 4], groups, (0.3, 0.7))
    assert train.tolist() == [0, 2]
    assert rest.tolist() == [1, 3]


REFUSED = {
    "few groups": ([1, 2, 3], [0, 0, 1], "groups holds 2 different ids, too few for 3 parts"),
    "few moments": ([1, 1, 2], [0, 1, 2], "start holds 2 different moments .* too few for 3"),
    "missing": ([1, np.nan, 2], [0, 1, 2], "start"),
    "length": ([1, 2], [0, 1, 2], "start has 2 entries"),
    "text": (["may", "june", "july"], [0, 1, 2], "start"),
}


@pytest.mark.parametrize(("start", "groups", "words"), REFUSED.values(), ids=REFUSED)
def test_what_has_no_order_in_time_is_refused(start, groups, words):
    with pytest.raises(InputError, match=words):
        split_in_time(start, groups)


def test_shares_must_be_a_whole():
    with pytest.raises(InputError, match="positive and sum to 1"):
        split_in_time([1, 2, 3], [0, 1, 2], (0.5, 0.4))

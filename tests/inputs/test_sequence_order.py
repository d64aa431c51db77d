"""Which rows follow each other, and what is independent."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from support.examples import examples
from tempocal.errors import InputError
from tempocal.inputs import (
    can_be_ordered,
    check_sequence,
    check_sequence_and_groups,
    check_sequence_order,
    check_time,
)

IDS = np.array(["b", "b", "b", "a", "a"])


def times(values):
    return check_time(values, len(values))


def chains(found, rows):
    """Which row follows which, by the names of the rows."""
    ordered = rows[found.permutation]
    codes = found.sequences.codes[found.permutation]
    return [ordered[codes == code].tolist() for code in range(found.sequences.count)]


@examples(100)
@given(
    sequence=st.lists(st.integers(0, 4), min_size=2, max_size=30),
    seed=st.integers(0, 2**32 - 1),
)
def test_rows_in_any_order_have_the_same_chain_with_an_order(sequence, seed):
    sequence, rows = np.array(sequence), np.arange(len(sequence))
    mixed = np.random.default_rng(seed).permutation(len(rows))
    straight = check_sequence_order(sequence, len(rows), times=times(rows))
    expected = [np.flatnonzero(sequence == one).tolist() for one in np.unique(sequence)]
    assert chains(straight, rows) == expected
    # What lies in reverse altogether may be a countdown, and is refused.
    assume(any(np.diff(mixed[sequence[mixed] == one]).max(initial=-1) > 0 for one in sequence))
    found = check_sequence_order(sequence[mixed], len(rows), order=rows[mixed])
    assert chains(found, mixed) == expected
    assert found.mean_length == len(rows) / len(expected)


@examples(50)
@given(st.lists(st.tuples(st.integers(0, 4), st.booleans()), min_size=2, max_size=30))
def test_rows_that_are_taken_keep_their_order(rows):
    sequence, kept = (np.array(column) for column in zip(*rows, strict=True))
    assume(kept.any())
    found = check_sequence_order(sequence, len(rows), times=times(np.arange(len(rows)))).take(kept)
    left = sequence[kept]
    expected = [np.flatnonzero(left == one).tolist() for one in np.unique(left)]
    assert chains(found, np.arange(len(left))) == expected


@pytest.mark.parametrize("kind", [list, np.asarray, pd.Series])
def test_an_order_may_be_dates_in_any_container(kind):
    days = np.array(["2026-01-03", "2026-01-01", "2026-01-02", "2026-01-01", "2026-01-02"], "M8[D]")
    found = check_sequence_order(kind(IDS.tolist()), 5, order=kind(days))
    assert chains(found, np.arange(5)) == [[3, 4], [1, 2, 0]]


def test_without_a_sequence_there_is_no_order():
    assert check_sequence_order(None, 5, times=times([0, 1, 2, 0, 1])) is None


@pytest.mark.parametrize(
    ("message", "change"),
    [
        ("order puts the rows .* but sequence is None: pass the id", {"sequence": None}),
        (
            "two rows of the sequence b have the same .one is row 2.: it must",
            {"order": [0, 1, 1, 2, 3]},
        ),
        ("all rows lie in the reverse of it .* does it count down", {"order": [3, 2, 1, 1, 0]}),
        ("order has 2 entries", {"order": [0, 1]}),
        ("order contains NaN", {"order": [0, 1, np.nan, 0, 1]}),
        ("order must be numbers, datetimes or timedeltas", {"order": list("abcde")}),
        (
            "sequence contains a missing id .first at row 1",
            {"sequence": ["b", None, "b", "a", "a"]},
        ),
        ("sequence has 1 entries", {"sequence": ["b"]}),
    ],
)
def test_bad_order_is_refused(message, change):
    given = {"sequence": IDS, "order": [0, 1, 2, 0, 1]} | change
    with pytest.raises(InputError, match=message):
        check_sequence_order(given.pop("sequence"), 5, **given)


@pytest.mark.parametrize(
    ("message", "values"),
    [
        ("time must differ .* the sequence a have the same .* pass order=", [0, 1, 2, 3, 3]),
        (
            "time must grow .* row 2 of the sequence b has an earlier .* pass order=",
            [0, 2, 1, 0, 1],
        ),
        ("time must grow along a sequence", [3, 2, 1, 1, 0]),
        ("time has two clocks, so that order must say", np.ones((5, 2))),
    ],
)
def test_times_that_are_no_order_are_refused(message, values):
    found = check_time(values, 5, clocks=np.ndim(values))
    with pytest.raises(InputError, match=message):
        check_sequence_order(IDS, 5, times=found)
    assert not can_be_ordered(IDS, 5, times=found)
    assert can_be_ordered(IDS, 5, times=found, order=[0, 1, 2, 0, 1])


def test_what_needs_a_sequence_says_so():
    with pytest.raises(InputError, match=r"sequence is None: it must be the id .* for the steps"):
        check_sequence(None, 3, "the steps")


@examples(50)
@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 2)), min_size=1, max_size=20))
def test_groups_are_what_is_independent_and_hold_whole_sequences(pairs):
    sequence, group_of = (np.array(column) for column in zip(*pairs, strict=True))
    n = len(sequence)
    alone = check_sequence_and_groups(sequence, None, n)
    np.testing.assert_array_equal(alone.codes, np.unique(sequence, return_inverse=True)[1])
    nested = group_of[alone.codes % n]
    both = check_sequence_and_groups(sequence, nested, n)
    groups = check_sequence_and_groups(None, nested, n)
    np.testing.assert_array_equal(both.codes, groups.codes)
    assert both.count == groups.count == len(np.unique(nested))


def test_without_ids_rows_are_independent():
    assert check_sequence_and_groups(None, None, 5) is None


@pytest.mark.parametrize(
    ("message", "sequence", "groups"),
    [
        ("groups must be .* within the sequence b: a group holds whole", IDS, [0, 0, 1, 1, 1]),
        ("sequence contains a missing id .first at row 2", [0, 0, np.nan, 1, 1], None),
        ("groups contains a missing id .first at row 0", IDS, [None, 0, 0, 1, 1]),
        ("sequence has 2 entries", [0, 1], [0, 0, 0, 1, 1]),
    ],
)
def test_bad_ids_are_refused(message, sequence, groups):
    with pytest.raises(InputError, match=message):
        check_sequence_and_groups(sequence, groups, 5)

"""Measures of progress, against loops written out and laws that they keep."""

from datetime import UTC, datetime, timedelta

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from inputs.containers import OF_ONE_COLUMN
from tempocal import clocks
from tempocal.errors import InputError

ids = st.lists(st.sampled_from("abcd"), min_size=1, max_size=30)
# Whole numbers, so that differences are exact.
rows = st.lists(st.tuples(st.sampled_from("abcd"), st.integers(-1000, 1000)), min_size=1)
NOON = datetime(2026, 5, 1, 12)


def at(*minutes):
    return [NOON + timedelta(minutes=minute) for minute in minutes]


def unzipped(pairs):
    return [pair[0] for pair in pairs], [pair[1] for pair in pairs]


# Steps


@given(ids, st.integers(-5, 5))
def test_a_step_counts_the_rows_before(groups, start):
    expected = [start + groups[:row].count(group) for row, group in enumerate(groups)]
    steps = clocks.step(groups, start=start)
    assert steps.dtype == np.int64
    assert steps.tolist() == expected


@given(ids)
def test_steps_depend_on_the_order_within_a_sequence_alone(groups):
    """Sequences may be interleaved in any way."""
    order = sorted(range(len(groups)), key=lambda row: groups[row])
    together = clocks.step([groups[row] for row in order])
    assert clocks.step(groups)[order].tolist() == together.tolist()


IDS = {
    "ints": [5, 3, 5, 5, 3],
    "floats": [0.5, -1.0, 0.5, 0.5, -1.0],
    "text": list("babba"),
    "dates": np.array([2, 1, 2, 2, 1], "M8[D]"),
    "tuples": pd.Series([(1, 2), (1, 1), (1, 2), (1, 2), (1, 1)]),
    "pandas, other index": pd.Series(list("babba"), index=[3, 3, 0, 1, 2]),
    "categories": pd.Categorical(list("babba"), categories=["c", "b", "a"]),
    "polars": pl.Series(list("babba")),
    "Arrow": pa.array(list("babba")),
    "torch": torch.tensor([5, 3, 5, 5, 3]),
}


@pytest.mark.parametrize("groups", IDS.values(), ids=IDS)
def test_ids_may_be_of_any_kind(groups):
    assert clocks.step(groups).tolist() == [0, 0, 1, 2, 1]
    assert clocks.elapsed([1, 2, 3, 4, 5], groups).tolist() == [0, 0, 2, 3, 3]


# Elapsed time


@given(rows)
def test_elapsed_is_the_time_since_the_earliest_row_of_the_sequence(pairs):
    groups, time = unzipped(pairs)
    expected = [t - min(other for h, other in pairs if h == g) for g, t in pairs]
    passed = clocks.elapsed(time, groups)
    assert passed.dtype == np.float64
    assert passed.tolist() == expected


@given(rows, st.dictionaries(st.sampled_from("abcd"), st.integers(-1000, 1000)))
def test_elapsed_does_not_notice_when_a_sequence_started(pairs, starts):
    groups, time = unzipped(pairs)
    shifted = [t + starts.get(g, 0) for g, t in pairs]
    assert clocks.elapsed(shifted, groups).tolist() == clocks.elapsed(time, groups).tolist()


@given(rows, st.randoms())
def test_elapsed_does_not_notice_the_order_of_the_rows(pairs, random):
    order = random.sample(range(len(pairs)), len(pairs))
    groups, time = unzipped(pairs)
    shuffled = clocks.elapsed([time[row] for row in order], [groups[row] for row in order])
    assert shuffled.tolist() == clocks.elapsed(time, groups)[order].tolist()


MOMENTS = {
    "Python": at(0, 5, 2),
    "datetime64": np.array(at(0, 5, 2), "M8[m]"),
    "pandas": pd.Series(at(0, 5, 2), index=[2, 0, 1]),
    "pandas, zone": pd.Series(at(0, 5, 2)).dt.tz_localize("Europe/Berlin"),
    "polars": pl.Series(at(0, 5, 2)),
    "Arrow": pa.array(at(0, 5, 2)),
    "durations": [timedelta(minutes=minute) for minute in (0, 5, 2)],
}


@pytest.mark.parametrize("time", MOMENTS.values(), ids=MOMENTS)
def test_elapsed_seconds_between_moments(time):
    assert clocks.elapsed(time, ["a", "a", "a"]).tolist() == [0, 300, 120]


# Containers


@pytest.mark.parametrize("container", OF_ONE_COLUMN.values(), ids=OF_ONE_COLUMN)
def test_numbers_are_read_by_position_from_every_container(container):
    numbers = np.arange(1, 9) / 4
    one = container(numbers)
    np.testing.assert_array_equal(clocks.elapsed(one, [0] * 8), numbers - 0.25)
    np.testing.assert_array_equal(clocks.fraction(one, container(2 * numbers)), np.full(8, 0.5))
    np.testing.assert_array_equal(clocks.remaining(one, container(numbers + 1)), np.ones(8))
    np.testing.assert_array_equal(
        clocks.score_difference(one, container(2 - numbers)), np.abs(2 * numbers - 2)
    )


# Shares of a horizon


@given(st.lists(st.integers(0, 1000), min_size=1), st.integers(1, 1000))
def test_a_fraction_is_the_share_of_the_horizon(time, horizon):
    expected = [t / horizon for t in time]
    assert clocks.fraction(time, horizon).tolist() == expected
    assert clocks.fraction(time, [horizon] * len(time)).tolist() == expected
    spans = [timedelta(seconds=t) for t in time]
    assert clocks.fraction(spans, timedelta(seconds=horizon)).tolist() == expected


def test_overtime_is_kept():
    assert clocks.fraction([90, 120], 90).tolist() == [1.0, 120 / 90]


@pytest.mark.parametrize("horizon", [np.float32(8), np.array(8), torch.tensor(8), np.int8(8)])
def test_a_scalar_may_come_in_any_wrapping(horizon):
    assert clocks.fraction([2, 4], horizon).tolist() == [0.25, 0.5]


# Scores


@given(st.lists(st.tuples(st.integers(-99, 99), st.integers(-99, 99)), min_size=1))
def test_a_difference_of_scores_does_not_say_who_leads(scores):
    ours, theirs = unzipped(scores)
    expected = [abs(a - b) for a, b in scores]
    assert clocks.score_difference(ours, theirs).tolist() == expected
    assert clocks.score_difference(theirs, ours).tolist() == expected


def test_unsigned_scores_do_not_wrap():
    ours, theirs = np.array([3], np.uint8), np.array([5], np.uint8)
    assert clocks.score_difference(ours, theirs).tolist() == [2]


# Time left


@given(st.lists(st.integers(0, 10**6), min_size=1))
def test_elapsed_and_remaining_add_up_to_the_end(time):
    time = [0, *time]
    end = max(time)
    both = clocks.elapsed(time, [0] * len(time)) + clocks.remaining(time, end)
    assert both.tolist() == [end] * len(time)


ENDS = {
    "Python": NOON + timedelta(minutes=5),
    "timestamp": pd.Timestamp(NOON) + pd.Timedelta("5min"),
    "datetime64": np.datetime64(NOON + timedelta(minutes=5)),
    "with a zone": (NOON + timedelta(minutes=5)).replace(tzinfo=UTC),
    "one a row": pd.Series(at(5, 5, 5), index=[1, 1, 0]),
}


@pytest.mark.parametrize("end", ENDS.values(), ids=ENDS)
def test_seconds_until_a_moment(end):
    assert clocks.remaining(at(0, 5, 2), end).tolist() == [300, 0, 180]


# What is refused

REFUSED = {
    "step: None": (lambda: clocks.step(None), "groups is None: pass the id of the sequence"),
    "step: a scalar": (lambda: clocks.step(3), "groups must be one-dimensional"),
    "step: text alone": (lambda: clocks.step("abc"), "groups must be one-dimensional"),
    "step: missing": (lambda: clocks.step(["a", None]), r"groups contains a missing id .*row 1"),
    "step: table": (lambda: clocks.step(np.zeros((3, 2))), "groups must be one-dimensional"),
    "step: start": (lambda: clocks.step([1], start=0.5), "start must be a whole number, .* 0.5"),
    "step: start text": (lambda: clocks.step([1], start="0"), "start must be a whole number"),
    "step: start True": (lambda: clocks.step([1], start=True), "start must be .* it is True"),
    "elapsed: no groups": (lambda: clocks.elapsed([1, 2], None), "groups is None"),
    "elapsed: lengths": (lambda: clocks.elapsed([1, 2], [1]), "groups has 1 entries and time 2"),
    "elapsed: no group": (lambda: clocks.elapsed([1], [np.nan]), "groups contains a missing id"),
    "elapsed: None": (lambda: clocks.elapsed(None, [1]), "time must be one-dimensional"),
    "elapsed: NaN": (lambda: clocks.elapsed([1, np.nan], [1, 1]), "time contains NaN.*row 1"),
    "elapsed: text": (lambda: clocks.elapsed(["1"], [1]), "time must be numbers, datetimes or"),
    "elapsed: two": (lambda: clocks.elapsed(np.zeros((1, 2)), [1]), "time .* has 2 columns"),
    "elapsed: overflow": (
        lambda: clocks.elapsed([1e308, -1e308], [1, 1]),
        "time minus its first contains infinity",
    ),
    "fraction: zero": (lambda: clocks.fraction([1, 2], 0), "horizon must be above 0, but it is 0"),
    "fraction: one zero": (
        lambda: clocks.fraction([1, 2], [1, -3]),
        "horizon must be above 0, but row 1 has -3",
    ),
    "fraction: negative": (
        lambda: clocks.fraction([1, -2], 3),
        "time must not be negative, but row 1 has -2",
    ),
    "fraction: lengths": (lambda: clocks.fraction([1, 2], [3]), "horizon has 1 entries and time 2"),
    "fraction: None": (lambda: clocks.fraction([1, 2], None), "horizon contains NaN, NaT or None"),
    "fraction: infinity": (lambda: clocks.fraction([1], np.inf), "horizon contains infinity"),
    "fraction: True": (lambda: clocks.fraction([1], True), "horizon must be numbers, datetimes or"),
    "fraction: text": (lambda: clocks.fraction([1], "90"), "horizon must be one-dimensional"),
    "fraction: datetimes": (
        lambda: clocks.fraction(at(0, 1), 3600),
        "time must be the time since the start, but it is datetimes: pass clocks.elapsed",
    ),
    "fraction: kinds": (
        lambda: clocks.fraction([1, 2], timedelta(hours=1)),
        "horizon must be of the same kind as time, but time is numbers and horizon timedeltas",
    ),
    "fraction: overflow": (lambda: clocks.fraction([1e308], 1e-308), "time / horizon contains inf"),
    "score: lengths": (
        lambda: clocks.score_difference([1, 2], [1]),
        "theirs has 1 entries and ours 2",
    ),
    "score: NaN": (lambda: clocks.score_difference([1], [np.nan]), "theirs contains NaN"),
    "score: dates": (
        lambda: clocks.score_difference(at(0), [1]),
        "ours must be numbers, but it is datetimes",
    ),
    "score: scalar": (lambda: clocks.score_difference([1], 1), "theirs must be one-dimensional"),
    "remaining: past": (
        lambda: clocks.remaining([1, 5, 3], 4),
        "end must not be before time: .* at least 0, but row 1 has -1",
    ),
    "remaining: lengths": (lambda: clocks.remaining([1, 2], [3]), "end has 1 entries and time 2"),
    "remaining: kinds": (
        lambda: clocks.remaining(at(0), 5),
        "end must be of the same kind as time, but time is datetimes and end numbers",
    ),
    "remaining: NaT": (lambda: clocks.remaining(at(0), pd.NaT), "end contains NaN, NaT or None"),
}


@pytest.mark.parametrize(("call", "words"), REFUSED.values(), ids=REFUSED)
def test_bad_input_is_refused_by_name(call, words):
    with pytest.raises(InputError, match=f"^{words}"):
        call()


def test_no_rows_are_no_rows():
    assert clocks.step([]).tolist() == []
    assert clocks.elapsed([], []).tolist() == []
    assert clocks.fraction([], 3).tolist() == []
    assert clocks.remaining([], 3).tolist() == []


def test_arguments_are_left_as_they_were():
    time, groups = np.array([3.0, 1.0, 2.0]), np.array([1, 0, 1])
    clocks.elapsed(time, groups)
    clocks.remaining(time, 3.0)
    clocks.fraction(time, 3.0)
    clocks.score_difference(time, time)
    assert (time.tolist(), groups.tolist()) == ([3.0, 1.0, 2.0], [1, 0, 1])

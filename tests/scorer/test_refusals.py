"""What predict_proba refuses, the scorer refuses in words; other kinds of number are welcome."""

from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
import torch

import tempocal as tc
from support.calibrators import simulate
from support.documents import document_of, text_of
from support.matches import rows
from tempocal import scorer

pytestmark = pytest.mark.filterwarnings("ignore::tempocal.errors.AtBoundWarning")

NAN, INF = float("nan"), float("inf")


def scorer_of(cal):
    return scorer.loads(text_of(document_of(cal._predictor())))


@pytest.fixture(scope="module")
def binary():
    return tc.PlattScaling().fit(*simulate(2, 100))


@pytest.fixture(scope="module")
def three():
    return tc.PlattScaling().fit(*simulate(3, 100))


@pytest.fixture(scope="module")
def along_time():
    z, y, time, _ = rows()
    return tc.TemporalCalibrator(curve=tc.PerStep()).fit(z, y, time=time)


def dated(shift):
    z, y, time, _ = rows()
    when = shift + time.astype("m8[D]").astype("m8[us]")
    return tc.TemporalCalibrator().fit(z, y, time=when)


@pytest.mark.parametrize(
    ("logit", "words"),
    [
        (NAN, "contains NaN"),
        (1e300, r"within 2\*\*53 of zero, but it has 1e\+300"),
        (-1e16, "pass inf or -inf"),
        (True, "must be numbers, but it contains True"),
        (np.bool_(True), "must be numbers"),
        ("1.5", "must be numbers, but it contains '1.5'"),
        (b"1", "must be numbers"),
        (None, "must be numbers"),
        (1j, "must be numbers"),
        (10**400, "a double can hold"),
        ([0.5, 0.2], "must be numbers"),
        (datetime(2026, 1, 1), "must be numbers"),
    ],
)
def test_a_logit_that_is_none(binary, logit, words):
    with pytest.raises(ValueError, match=words):
        scorer_of(binary)(logit)
    with pytest.raises(ValueError):  # noqa: PT011 - in the library's words
        binary.predict_proba([logit])


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ([0.0, 1.0], "must have 3 columns as in the fit, but has 2"),
        ([0.0, NAN, 0.0], "contains NaN"),
        ([INF, INF, 0.0], "not several certain ones"),
        ([-INF, -INF, -INF], "none possible"),
        ([0.0, 0.0, 2.0**54], "within 2"),
        ([INF, 0.0, 2.0**54], "within 2"),
        (["a", "b", "c"], "contains 'a'"),
        ("abc", "a sequence of 3, but it is 'abc'"),
        (0.5, "a sequence of 3"),
        (None, "a sequence of 3"),
        ({0.1, 0.2, 0.3}, "a sequence of 3"),
        ({0: 0.1, 1: 0.2, 2: 0.3}, "a sequence of 3"),
        (np.array(0.5), "a sequence of 3"),
    ],
)
def test_a_row_that_is_none(three, row, words):
    with pytest.raises(ValueError, match=words):
        scorer_of(three)(row)
    with pytest.raises(ValueError):  # noqa: PT011
        three.predict_proba([row])


@pytest.mark.parametrize("share", [-0.1, 1.0000001, NAN, INF, True])
def test_a_probability_that_is_none(share):
    z, y = simulate(2, 100)
    cal = tc.PlattScaling(inputs="proba").fit(1 / (1 + np.exp(-z)), y)
    for refuse in (scorer_of(cal), lambda p: cal.predict_proba([p])):
        with pytest.raises(ValueError, match="proba"):
            refuse(share)


def test_probabilities_that_do_not_sum_to_1():
    z, y = simulate(3, 100)
    cal = tc.PlattScaling(inputs="proba").fit(tc.Identity().fit(z, y).predict_proba(z), y)
    with pytest.raises(ValueError, match=r"sum to 1, but it sums to 1\.5"):
        scorer_of(cal)([0.5, 0.5, 0.5])


@pytest.mark.parametrize(
    ("time", "words"),
    [
        (None, "time is missing"),
        (NAN, "time contains NaN"),
        (INF, "within 8e"),
        (-1e308, "within 8e"),
        (True, "time must be a number"),
        ("3", "time must be a number.*'3'"),
        (2**53 + 1, "lose digits"),
        (datetime(2026, 1, 1), "was number in the fit and is datetime now"),
        (timedelta(1), "was number in the fit and is timedelta now"),
        (pd.NaT, "time is missing"),
        (np.timedelta64(1, "D"), r"time must be a number.*; \.item\(\) makes it one"),
    ],
)
def test_a_time_that_is_none(along_time, time, words):
    with pytest.raises(ValueError, match=words):
        scorer_of(along_time)(0.5, time)
    with pytest.raises(ValueError):  # noqa: PT011
        along_time.predict_proba([0.5], time=None if time is None else [time])


def test_time_is_left_out_where_nothing_changes_along_it(binary, three):
    for one, logit in ((scorer_of(binary), 0.5), (scorer_of(three), [0.1, 0.2, 0.3])):
        with pytest.raises(ValueError, match="does not change along time: leave time out"):
            one(logit, 1.0)


def test_an_unseen_step_may_be_an_error():
    z, y, time, _ = rows()
    cal = tc.TemporalCalibrator(curve=tc.PerStep(unseen="error")).fit(z, y, time=time)
    one = scorer_of(cal)
    assert one(0.5, 2) == pytest.approx(cal.predict_proba([0.5], time=[2])[0, 1], rel=1e-12)
    with pytest.raises(ValueError, match=r"time is 2\.5, a step that the fit had not seen"):
        one(0.5, 2.5)


def test_a_single_step_may_be_the_only_one_seen():
    z, y, time, _ = rows()
    only = time == 2
    cal = tc.TemporalCalibrator(curve=tc.PerStep(unseen="error"))
    one = scorer_of(cal.fit(z[only], y[only], time=time[only]))
    assert 0.0 < one(0.5, 2) < 1.0
    with pytest.raises(ValueError, match="a step that the fit had not seen"):
        one(0.5, 3)


@pytest.mark.parametrize("time", [1.0, [1.0], (1.0, 2.0, 3.0), "12", None, {1.0, 2.0}])
def test_two_clocks_are_a_pair(time):
    z, y, times, _ = rows(clocks=2)
    curve = tc.Surface(tc.PerStep(), tc.PerStep())
    one = scorer_of(tc.TemporalCalibrator(curve=curve).fit(z, y, time=times))
    assert one(0.5, (1, 2)) == one(0.5, [1.0, 2.0]) == one(0.5, np.array([1, 2]))
    with pytest.raises(ValueError, match="time"):
        one(0.5, time)


@pytest.mark.parametrize(
    "number", [1, np.float32(1), np.float64(1), np.int8(1), Decimal(1), Fraction(1)], ids=repr
)
def test_any_kind_of_number_is_a_number(binary, three, along_time, number):
    assert scorer_of(binary)(number) == scorer_of(binary)(1.0)
    assert scorer_of(three)([number, 0.0, 2]) == scorer_of(three)((1.0, 0.0, 2.0))
    assert scorer_of(along_time)(0.5, number) == scorer_of(along_time)(0.5, 1.0)


def test_arrays_and_series_are_rows(three):
    row = [0.1, -0.2, 0.3]
    one = scorer_of(three)
    assert one(np.array(row)) == one(pd.Series(row)) == one(tuple(row)) == one(row)
    with pytest.raises(ValueError, match="contains tensor"):
        one(torch.tensor(row))


MOMENTS = [
    datetime(2026, 5, 3, 7, 8, 9, 123_457),
    datetime(2026, 5, 3, 7, 8, tzinfo=UTC),
    datetime(2026, 5, 3, 7, 8, tzinfo=timezone(timedelta(hours=5))),
    datetime(1969, 12, 31, 23, 59, 59, 999_999),
    date(2026, 5, 3),
    pd.Timestamp("2026-05-03 07:08:09.123456789"),
]


@pytest.mark.parametrize("moment", MOMENTS, ids=str)
def test_a_moment_is_read_as_the_library_reads_it(moment):
    cal = dated(np.datetime64("2026-05-01", "us"))
    one = scorer_of(cal)
    assert one.time_kinds == ("datetime",)
    wanted = cal.predict_proba([0.5], time=[moment])[0, 1]
    assert one(0.5, moment) == pytest.approx(wanted, rel=1e-12)
    for other in (3.0, timedelta(3)):
        with pytest.raises(ValueError, match="was datetime in the fit and is"):
            one(0.5, other)


@pytest.mark.parametrize("span", [timedelta(3, 7, 11), timedelta(-1, 1), pd.Timedelta("3D 7ns")])
def test_a_duration_is_read_as_the_library_reads_it(span):
    cal = dated(np.timedelta64(0, "us"))
    wanted = cal.predict_proba([0.5], time=[span])[0, 1]
    assert scorer_of(cal)(0.5, span) == pytest.approx(wanted, rel=1e-12)
    with pytest.raises(ValueError, match="was timedelta in the fit and is number now"):
        scorer_of(cal)(0.5, 3)

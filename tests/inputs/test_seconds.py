"""Moments and durations are the same seconds from every container; a column is of one kind."""

from datetime import UTC, date, datetime, timedelta, timezone

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tempocal.errors import InputError
from tempocal.inputs import check_time

MOMENTS = [datetime(2026, 5, 1, 12, 30), datetime(1969, 12, 31, 23, 59, 59, 250_000)]
SECONDS = [1_777_638_600.0, -0.75]
BERLIN = timezone(timedelta(hours=2))
AWARE = [moment.replace(tzinfo=UTC) for moment in MOMENTS]
ABROAD = [moment.astimezone(BERLIN) for moment in AWARE]
SERIES = pd.Series(MOMENTS)
ZONED = SERIES.dt.tz_localize("UTC").dt.tz_convert("Europe/Berlin")

DATETIMES = {
    "Python": MOMENTS,
    "Python, tuple": tuple(MOMENTS),
    "Python, UTC": AWARE,
    "Python, elsewhere": ABROAD,
    "Python, several zones": [AWARE[0], ABROAD[1]],
    "objects": np.array(MOMENTS, dtype=object),
    "timestamps": [pd.Timestamp(moment) for moment in MOMENTS],
    "timestamps, elsewhere": [pd.Timestamp(moment) for moment in ABROAD],
    "datetime64 and Python": [np.datetime64(MOMENTS[0], "s"), MOMENTS[1]],
    "datetime64 in a list": list(np.array(MOMENTS, "M8[ns]")),
    "datetime64 of several units": [
        np.datetime64(m, u) for m, u in zip(MOMENTS, ["s", "ms"], strict=True)
    ],
    "other byte order": np.array(MOMENTS, ">M8[us]"),
    "a column": np.array(MOMENTS, "M8[ms]")[:, None],
    "arrays in a list": [np.array([moment], "M8[ns]") for moment in MOMENTS],
    "pandas": SERIES,
    "pandas, other index": pd.Series(MOMENTS, index=[1, 0]),
    "pandas ns": SERIES.astype("M8[ns]"),
    "pandas objects": SERIES.astype(object),
    "pandas index": pd.DatetimeIndex(SERIES),
    "pandas, zone": ZONED,
    "pandas index, zone": pd.DatetimeIndex(ZONED),
    "pandas objects, zone": ZONED.astype(object),
    "pandas on Arrow": SERIES.astype("timestamp[us][pyarrow]"),
    "pandas on Arrow, zone": ZONED.astype("timestamp[us, tz=Europe/Berlin][pyarrow]"),
    "pandas table": ZONED.to_frame(),
    "polars": pl.Series(MOMENTS),
    "polars ns": pl.Series(MOMENTS, dtype=pl.Datetime("ns")),
    "polars, zone": pl.Series(AWARE).dt.convert_time_zone("Europe/Berlin"),
    "polars table": pl.DataFrame({"at": MOMENTS}),
    "Arrow": pa.array(MOMENTS),
    "Arrow, zone": pa.array(AWARE, pa.timestamp("us", "Europe/Berlin")),
    "Arrow, chunks": pa.chunked_array([pa.array(MOMENTS[:1]), pa.array(MOMENTS[1:])]),
    "Arrow table": pa.table({"at": MOMENTS}),
}


@pytest.mark.parametrize("moments", DATETIMES.values(), ids=DATETIMES)
def test_datetimes_are_seconds_since_1970(moments):
    times = check_time(moments, 2)
    assert times.kinds == ("datetime",)
    assert times.values.dtype == np.float64
    assert times.values.tolist() == SECONDS


DAYS = [date(1970, 1, 2), date(2026, 1, 1)]
DATES = {
    "Python": DAYS,
    "beside datetimes": [DAYS[0], datetime(2026, 1, 1)],
    "pandas objects": pd.Series(DAYS),
    "pandas on Arrow": pd.Series(DAYS).astype("date32[pyarrow]"),
    "polars": pl.Series(DAYS),
    "Arrow": pa.array(DAYS),
    "datetime64 of days": np.array(DAYS, "M8[D]"),
    "datetime64 of 12 hours": np.array(DAYS, "M8[12h]"),
}


@pytest.mark.parametrize("days", DATES.values(), ids=DATES)
def test_a_date_is_its_midnight(days):
    times = check_time(days, 2)
    assert times.kinds == ("datetime",)
    assert times.values.tolist() == [86_400, 1_767_225_600]


SPANS = [timedelta(days=2, microseconds=500_000), timedelta(seconds=-1.25)]
TIMEDELTAS = {
    "Python": SPANS,
    "pandas": pd.Series(SPANS, index=[1, 0]),
    "pandas ns": pd.Series(SPANS, dtype="m8[ns]"),
    "pandas objects": pd.Series(SPANS, dtype=object),
    "pandas on Arrow": pd.Series(SPANS).astype("duration[us][pyarrow]"),
    "pandas scalars": [pd.Timedelta(span) for span in SPANS],
    "timedelta64": np.array(SPANS, "m8[ms]"),
    "timedelta64 of 250 ms": np.array([691_202, -5], "m8[250ms]"),
    "timedelta64 in a list": list(np.array(SPANS, "m8[ns]")),
    "timedelta64 and Python": [np.timedelta64(SPANS[0]), SPANS[1]],
    "polars": pl.Series(SPANS),
    "Arrow": pa.array(SPANS),
}


@pytest.mark.parametrize("spans", TIMEDELTAS.values(), ids=TIMEDELTAS)
def test_timedeltas_are_seconds(spans):
    times = check_time(spans, 2)
    assert times.kinds == ("timedelta",)
    assert times.values.tolist() == [172_800.5, -1.25]


# A duration of years or months is one of mean years or months, of 365.2425 days and a twelfth.
UNITS = {"Y": 31_556_952, "M": 2_629_746, "W": 604_800, "D": 86_400, "h": 3600, "m": 60, "s": 1}
UNITS |= {"ms": 1e-3, "us": 1e-6, "ns": 1e-9, "ps": 1e-12, "fs": 1e-15, "as": 1e-18}


@pytest.mark.parametrize("unit", UNITS)
def test_a_duration_in_every_unit(unit):
    spans = np.array([0, 2, -3], f"m8[{unit}]")
    np.testing.assert_allclose(check_time(spans, 3).values, spans.astype(int) * UNITS[unit])


@pytest.mark.parametrize("unit", UNITS)
def test_a_moment_in_every_unit(unit):
    """Attoseconds reach nine seconds around 1970, and years start on the first of January."""
    moments = np.array([0, 2, -3], f"M8[{unit}]")
    expected = moments.astype(int) * UNITS[unit]
    if unit == "Y":
        expected = np.array([0, 730, -1096]) * 86_400
    if unit == "M":
        expected = np.array([0, 59, -92]) * 86_400
    np.testing.assert_allclose(check_time(moments, 3).values, expected)


@given(st.lists(st.datetimes(), min_size=1, max_size=5))
def test_a_moment_is_the_same_from_python_numpy_polars_and_across_zones(moments):
    expected = [np.datetime64(m, "us").astype(np.int64) / 10**6 for m in moments]
    got = check_time(moments, len(moments)).values
    np.testing.assert_allclose(got, expected, rtol=1e-15)
    for same in (
        np.array(moments, "M8[us]"),
        pl.Series(moments),
        [moment.replace(tzinfo=UTC) for moment in moments],
    ):
        assert check_time(same, len(moments)).values.tolist() == got.tolist()


@given(st.lists(st.integers(-(2**63) + 1, 2**63 - 1), min_size=1, max_size=5))
def test_nanoseconds_are_the_same_as_objects_and_are_not_wrapped(ticks):
    for column in (pd.Series(ticks, dtype="M8[ns]"), pd.Series(ticks, dtype="m8[ns]")):
        got = check_time(column, len(ticks)).values
        np.testing.assert_allclose(got, [tick / 10**9 for tick in ticks], rtol=1e-15)
        assert check_time(column.astype(object), len(ticks)).values.tolist() == got.tolist()


@pytest.mark.parametrize("ends", [[datetime.min, datetime.max], [date.min, date.max]])
def test_the_first_and_last_moment_of_python_are_held(ends):
    first = (ends[0] - type(ends[0])(1970, 1, 1)).total_seconds()
    assert check_time(ends, 2).values[0] == first
    with_zone = [datetime.min.replace(tzinfo=BERLIN), datetime.max.replace(tzinfo=UTC)]
    assert check_time(with_zone, 2).values[0] == -62_135_596_800 - 7200


def test_the_longest_timedelta_of_python_is_held():
    assert check_time([timedelta.max], 1).values[0] == timedelta.max.total_seconds()


def test_a_year_that_nanoseconds_cannot_hold_is_not_wrapped():
    far = [np.datetime64("2026-01-01", "ns"), np.datetime64("9999-01-01", "D")]
    assert check_time(far, 2).values.tolist() == [1_767_225_600.0, 253_370_764_800.0]


def test_summer_time_is_told_from_winter_time():
    """On the last Sunday of October, 02:30 comes twice."""
    twice = pd.Series(["2026-10-25 00:30", "2026-10-25 01:30"], dtype="datetime64[us, UTC]")
    berlin = twice.dt.tz_convert("Europe/Berlin")
    for moments in (berlin, berlin.tolist(), [t.to_pydatetime() for t in berlin]):
        first, second = check_time(moments, 2).values
        assert second - first == 3600


# One kind a column

MIXED = {
    "naive and aware": ([MOMENTS[0], AWARE[1]], r"\(without a time zone\) .*\(with a time zone\)"),
    "date and aware": ([DAYS[0], AWARE[1]], r"\(without a time zone\) .*\(with a time zone\)"),
    "datetime64 and aware": ([np.datetime64("2026"), AWARE[0]], r"\(without a .*\(with a"),
    "timestamps": (pd.Series([SERIES[0], ZONED[1]], dtype=object), r"\(without a .*\(with a"),
    "datetime and number": ([MOMENTS[0], 5], r"\(datetime\) and row 1 has 5 \(number\)"),
    "datetime64 and number": ([np.datetime64("2026"), 5], r"\(datetime\) .* \(number\)"),
    "timedelta and number": ([SPANS[0], 5.0], r"\(timedelta\) .* \(number\)"),
    "timedelta64 and number": ([np.timedelta64(1, "s"), 5], r"\(timedelta\) .* \(number\)"),
    "datetime and timedelta": ([MOMENTS[0], SPANS[0]], r"\(datetime\) .* \(timedelta\)"),
    "datetime64 and timedelta64": (
        [np.datetime64(0, "s"), np.timedelta64(1, "s")],
        r"\(datetime\) .* \(timedelta\)",
    ),
}


@pytest.mark.parametrize(("values", "words"), MIXED.values(), ids=MIXED)
def test_a_clock_is_of_one_kind(values, words):
    with pytest.raises(InputError, match=f"^time must be of one kind, but row 0 has .*{words}"):
        check_time(values, 2)

"""Columns of numbers and of times, as double, in the engine that holds them."""

from typing import Any

import narwhals as nw

from tempocal.errors import InputError
from tempocal.inputs import TimeKind

_KINDS = {"number": "numbers", "datetime": "datetimes or dates", "timedelta": "durations"}


def as_number(name: str, dtype: Any, what: str) -> nw.Expr:
    """Return a numeric column as double."""
    if not dtype.is_numeric():
        raise InputError(
            f"{what} names the column {name!r}, which must hold numbers, but its type is {dtype}"
        )
    return nw.col(name).cast(nw.Float64)


def as_seconds(name: str, dtype: Any, kind: TimeKind, engine: nw.Implementation) -> nw.Expr:
    """Return a column of times as numbers; datetimes and durations in seconds.

    A datetime becomes the seconds since 1970-01-01 UTC; one without a time zone is taken as UTC.
    """
    if kind_of(dtype) != kind:
        raise InputError(
            f"time names the column {name!r} of type {dtype}, but the model was fitted to "
            f"{_KINDS[kind]}: pass a column of the same kind"
        )
    if kind == "datetime":
        return _since_epoch(nw.col(name), dtype, engine)
    return as_number(name, dtype, "time") if kind == "number" else _duration(nw.col(name), dtype)


def kind_of(dtype: Any) -> TimeKind | None:
    """Return the kind of a column of times; None for a type that cannot be one."""
    if dtype in (nw.Date, nw.Datetime):
        return "datetime"
    if dtype == nw.Duration:
        return "timedelta"
    return "number" if dtype.is_numeric() else None


def _since_epoch(moment: nw.Expr, dtype: Any, engine: nw.Implementation) -> nw.Expr:
    """Compute seconds from calendar fields, the one way that every engine supports."""
    if dtype == nw.Date:
        return _days(moment).cast(nw.Float64) * 86400.0
    if dtype.time_zone not in (None, "UTC"):
        moment = moment.dt.convert_time_zone("UTC")
    clock = moment.dt.hour().cast(nw.Int64) * 3600 + moment.dt.minute().cast(nw.Int64) * 60
    seconds = _days(moment) * 86400 + clock + moment.dt.second().cast(nw.Int64)
    if engine.is_pyspark() and dtype.time_zone is None:
        return seconds.cast(nw.Float64) + _subsecond_of_text(moment)
    return seconds.cast(nw.Float64) + _subsecond(moment, dtype.time_unit)


def _subsecond_of_text(moment: nw.Expr) -> nw.Expr:
    """Read what follows the point: up to 4.1, Spark counts microseconds only with a time zone."""
    return moment.cast(nw.String).str.replace_all(r"^[^.]*", "0").cast(nw.Float64)


def _subsecond(moment: nw.Expr, unit: str) -> nw.Expr:
    if unit == "ns":
        return moment.dt.nanosecond().cast(nw.Float64) / 1e9
    # Before 1970 Spark returns negative microseconds.
    micros = (moment.dt.microsecond().cast(nw.Int64) + 10**6) % 10**6
    return micros.cast(nw.Float64) / 1e6


def _days(moment: nw.Expr) -> nw.Expr:
    """Count the days since 1970-01-01 in the Gregorian calendar."""
    year = moment.dt.year().cast(nw.Int64) - 1
    leap_days = year // 4 - year // 100 + year // 400
    # 719162 days lie between the first of January of the year 1 and of 1970.
    return year * 365 + leap_days + moment.dt.ordinal_day().cast(nw.Int64) - (719162 + 1)


def _duration(duration: nw.Expr, dtype: Any) -> nw.Expr:
    if dtype.time_unit == "ns":
        return _seconds_of(duration.dt.total_nanoseconds(), 10**9)
    return _seconds_of(duration.dt.total_microseconds(), 10**6)


def _seconds_of(ticks: nw.Expr, per_second: int) -> nw.Expr:
    """Convert ticks to seconds; the subsecond part separately, to keep the digits of a double."""
    remainder = ticks % per_second
    seconds = (ticks - remainder) // per_second
    return seconds.cast(nw.Float64) + remainder.cast(nw.Float64) / float(per_second)

"""Parsing times in JSON: numbers, datetimes as text, timedeltas as seconds."""

import re
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from tempocal.serve.refusals import short_text

_DATETIME = re.compile(
    r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d(:\d\d(\.\d{1,9})?)?([Zz]|[+-]\d\d:\d\d)?", re.ASCII
)

LARGEST_TIME = 2.0**53
"""From here on doubles cannot represent all integers."""

LONGEST_DURATION = 8.6e13
"""Seconds: just under the limit of ``datetime.timedelta``, a thousand million days."""


def time_reader(kinds: tuple[str, ...]) -> Callable[[Any], Any]:
    """Return a function that parses the time of a row for the scorer, or raises `ValueError`.

    Examples
    --------
    >>> time_reader(("datetime",))("2024-05-01T18:30:00Z")
    datetime.datetime(2024, 5, 1, 18, 30, tzinfo=datetime.timezone.utc)
    >>> time_reader(("timedelta",))(90.5)
    datetime.timedelta(seconds=90, microseconds=500000)
    """
    readers = [_READERS[kind] for kind in kinds]
    if len(readers) < 2:
        return readers[0] if readers else _identity

    def read_two(time: Any) -> Any:
        if not isinstance(time, list) or len(time) != 2:
            return time
        return tuple([read(each) for read, each in zip(readers, time, strict=True)])

    return read_two


def _identity(time: Any) -> Any:
    return time


def _number(time: Any) -> Any:
    if time is None:
        return None
    if type(time) not in (int, float):
        raise ValueError(f"time must be a number, but it is {short_text(time)}")
    if abs(time) >= LARGEST_TIME:
        raise ValueError(f"time must lie within 2**53 of zero, but it is {short_text(time)}")
    return time


def _datetime(time: Any) -> Any:
    if time is None:
        return None
    if isinstance(time, str) and _DATETIME.fullmatch(time):
        try:
            return datetime.fromisoformat(time.upper())
        except ValueError as error:
            raise ValueError(f"time is {short_text(time)}, which is no moment: {error}") from error
    raise ValueError(
        f'time must be a date and time such as "2024-05-01T18:30:00Z", but it is {short_text(time)}'
    )


def _timedelta(time: Any) -> Any:
    if time is None:
        return None
    if type(time) not in (int, float):
        raise ValueError(f"time must be a number of seconds, but it is {short_text(time)}")
    if abs(time) > LONGEST_DURATION:
        raise ValueError(f"time must lie within {LONGEST_DURATION:g} seconds, but it is {time:g}")
    return timedelta(seconds=time)


_READERS: dict[str, Callable[[Any], Any]] = {
    "number": _number,
    "datetime": _datetime,
    "timedelta": _timedelta,
}

"""Times as JSON has them, for a model that was fitted to numbers, moments or durations."""

import re
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from tempocal.serve.refusals import shown

_MOMENT = re.compile(
    r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d(:\d\d(\.\d{1,9})?)?([Zz]|[+-]\d\d:\d\d)?", re.ASCII
)

LARGEST_TIME = 2.0**53
"""From here on whole numbers lose digits, and JSON does not tell them from others."""

LONGEST_DURATION = 8.6e13
"""Seconds, which are almost a thousand million days."""


def time_reader(kinds: tuple[str, ...]) -> Callable[[Any], Any]:
    """Return what turns the time of a row into one that the scorer takes, or a `ValueError`.

    Examples
    --------
    >>> time_reader(("datetime",))("2024-05-01T18:30:00Z")
    datetime.datetime(2024, 5, 1, 18, 30, tzinfo=datetime.timezone.utc)
    >>> time_reader(("timedelta",))(90.5)
    datetime.timedelta(seconds=90, microseconds=500000)
    """
    readers = [_READERS[kind] for kind in kinds]
    if len(readers) < 2:
        return readers[0] if readers else _as_it_is

    def read_two(time: Any) -> Any:
        if not isinstance(time, list) or len(time) != 2:
            return time
        return tuple([read(each) for read, each in zip(readers, time, strict=True)])

    return read_two


def _as_it_is(time: Any) -> Any:
    return time


def _number(time: Any) -> Any:
    if time is None:
        return None
    if type(time) not in (int, float):
        raise ValueError(f"time must be a number, but it is {shown(time)}")
    if abs(time) >= LARGEST_TIME:
        raise ValueError(f"time must lie within 2**53 of zero, but it is {shown(time)}")
    return time


def _moment(time: Any) -> Any:
    if time is None:
        return None
    if isinstance(time, str) and _MOMENT.fullmatch(time):
        try:
            return datetime.fromisoformat(time.upper())
        except ValueError as error:
            raise ValueError(f"time is {shown(time)}, which is no moment: {error}") from error
    raise ValueError(
        f'time must be a date and time such as "2024-05-01T18:30:00Z", but it is {shown(time)}'
    )


def _duration(time: Any) -> Any:
    if time is None:
        return None
    if type(time) not in (int, float):
        raise ValueError(f"time must be a number of seconds, but it is {shown(time)}")
    if abs(time) > LONGEST_DURATION:
        raise ValueError(f"time must lie within {LONGEST_DURATION:g} seconds, but it is {time:g}")
    return timedelta(seconds=time)


_READERS: dict[str, Callable[[Any], Any]] = {
    "number": _number,
    "datetime": _moment,
    "timedelta": _duration,
}

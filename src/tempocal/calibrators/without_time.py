"""A sentence in place of a TypeError, where time is passed to a calibrator that has none."""

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

from tempocal.errors import InputError

Method = TypeVar("Method", bound=Callable[..., Any])
_ALONG_TIME = ("time", "sequence", "order")


def without_time(method: Method) -> Method:
    """Refuse arguments of calibration along time, with the way to it."""

    @wraps(method)
    def checked(self: Any, *args: Any, **given: Any) -> Any:
        for name in _ALONG_TIME:
            if name in given:
                raise InputError(_message(type(self).__name__, name))
        return method(self, *args, **given)

    return checked  # type: ignore[return-value]


def _message(calibrator: str, name: str) -> str:
    along_time = "TemporalCalibrator(PlattScaling(), Spline())"
    if name == "time":
        return (
            f"{calibrator} does not change along time: leave out time=, or take a calibrator along "
            f"time, such as {along_time}"
        )
    return (
        f"{calibrator} takes no {name}=: pass groups= to say which rows belong together, or take a "
        f"calibrator along time, such as {along_time}"
    )

"""A column of times of any kind, as float64: numbers stay, datetimes and timedeltas are seconds."""

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from math import copysign
from numbers import Integral, Number
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from tempocal.errors import InputError
from tempocal.inputs.arrays import as_float64, require_finite
from tempocal.kernels.extremes import extremes
from tempocal.links import Array

TimeKind = Literal["number", "datetime", "timedelta"]

# A duration of years or months is one of mean years or months, as NumPy has it.
_SECONDS = {"Y": 31_556_952.0, "M": 2_629_746.0, "W": 604_800.0, "D": 86_400.0}
_SECONDS |= {"h": 3600.0, "m": 60.0, "s": 1.0}
_PARTS = {"ms": 10**3, "us": 10**6, "ns": 10**9, "ps": 10**12, "fs": 10**15, "as": 10**18}
_EPOCH = datetime(1970, 1, 1)
# A double no longer tells whole numbers from here on from the next one.
_LARGEST = 2.0**53


@dataclass(frozen=True)
class Plain:
    """Numbers that need no further look, the least and the greatest."""

    values: NDArray[Any]
    ends: tuple[float, float]


def plain_numbers(array: NDArray[Any], name: str, *, as_they_are: bool) -> Plain | None:
    """Return numbers that one look finds to be good; None where there is more to say.

    They are float64, or int64 if ``as_they_are`` and they were. None of them is beyond 2**53, and
    so each is the same number in either.
    """
    if array.dtype.kind not in "fiu" or array.size == 0:
        return None
    stays = as_they_are and array.dtype == np.int64
    values = np.require(array, requirements="A") if stays else as_float64(array, name)
    low, high = (float(end) for end in extremes(values))
    return Plain(values, (low, high)) if low > -_LARGEST and high < _LARGEST else None


def as_seconds(array: NDArray[Any], name: str) -> tuple[Array, TimeKind]:
    """Return a column without missing values as finite float64, and what kind it was."""
    if array.dtype.kind == "O":
        return _from_objects(array, name)
    if array.dtype.kind in "mM":
        return _from_ticks(array, name), "datetime" if array.dtype.kind == "M" else "timedelta"
    if array.dtype.kind in "fiu":
        return _numbers(array, name), "number"
    raise _not_times(name, f"its type is {array.dtype}")


def from_seconds(seconds: Array, kind: TimeKind) -> NDArray[Any]:
    """Turn seconds back into datetimes or timedeltas, to the microsecond; numbers stay."""
    if kind == "number":
        return seconds
    return np.round(seconds * 1e6).astype("M8[us]" if kind == "datetime" else "m8[us]")


def _numbers(array: NDArray[Any], name: str) -> Array:
    values = as_float64(array, name)
    require_finite(values, name)
    _require_no_digits_lost(values, array, name)
    return values


def _require_no_digits_lost(values: Array, given: NDArray[Any], name: str) -> None:
    """Refuse whole numbers of which several become one; a float is what it is."""
    if given.dtype.kind == "f" or values.size == 0:
        return
    low, high = extremes(values)
    if max(high, -low) < _LARGEST:
        return
    beyond = np.abs(values) >= _LARGEST
    if given.dtype.kind == "O":
        beyond &= [isinstance(value, Integral) for value in given]
    if beyond.any():
        row = int(np.argmax(beyond))
        raise InputError(
            f"{name} has {given[row]} in row {row}, but whole numbers beyond 2**53 lose digits: "
            "subtract the first one"
        )


def _from_ticks(array: NDArray[Any], name: str) -> Array:
    """Seconds of datetime64 or timedelta64, the same from every unit that can tell them."""
    unit, count = np.datetime_data(array.dtype)
    if unit == "generic":
        raise InputError(f"{name} is timedelta64 without a unit: give it one, such as [s]")
    if array.dtype.kind == "M" and unit in ("Y", "M"):
        return _from_ticks(array.astype("M8[D]"), name)
    ticks = array.astype(np.int64)
    if unit in _SECONDS:
        return np.asarray(ticks * (count * _SECONDS[unit]), dtype=np.float64)
    # A double cannot count the nanoseconds of today, but the seconds and those in the last one.
    # Both have the sign of the time, or a nanosecond before zero is lost in a second.
    rest = np.fmod(ticks, _PARTS[unit])
    whole = (ticks - rest) // _PARTS[unit]
    return np.asarray(count * (whole + rest / _PARTS[unit]), dtype=np.float64)


def _from_objects(array: NDArray[Any], name: str) -> tuple[Array, TimeKind]:
    kinds = [_kind_of(value, row, name) for row, value in enumerate(array)]
    _require_one(kinds, array, name)
    kind: TimeKind = kinds[0] if kinds else "number"
    if kind == "number":
        return _numbers(array, name), kind
    zones = ["with a time zone" if _is_aware(value) else "without a time zone" for value in array]
    _require_one(zones, array, name)
    dtypes = {getattr(value, "dtype", None) for value in array}
    if None in dtypes or len(dtypes) > 1:
        return np.array([_seconds_of(value, name) for value in array]), kind
    return _from_ticks(np.array(array.tolist()), name), kind


def _kind_of(value: Any, row: int, name: str) -> TimeKind:
    if isinstance(value, date | np.datetime64):
        return "datetime"
    # Before numbers: NumPy counts its timedelta64 among the integers.
    if isinstance(value, timedelta | np.timedelta64):
        return "timedelta"
    if isinstance(value, Number) and not isinstance(value, bool):
        return "number"
    raise _not_times(name, f"row {row} has {value!r}")


def _not_times(name: str, found: str) -> InputError:
    return InputError(
        f"{name} must be numbers, datetimes or timedeltas, but {found}: "
        "convert it first, text for instance with pandas.to_datetime"
    )


def _is_aware(value: Any) -> bool:
    return isinstance(value, datetime) and value.utcoffset() is not None


def _require_one(kinds: list[Any], array: NDArray[Any], name: str) -> None:
    """Refuse a column in which some times are of one kind and some of another."""
    if len(set(kinds)) > 1:
        row = next(row for row, kind in enumerate(kinds) if kind != kinds[0])
        raise InputError(
            f"{name} must be of one kind, but row 0 has {array[0]!r} ({kinds[0]}) and "
            f"row {row} has {array[row]!r} ({kinds[row]})"
        )


def _seconds_of(value: Any, name: str) -> float:
    """Seconds of one time, for NumPy would wrap the longest timedeltas."""
    if isinstance(value, np.datetime64 | np.timedelta64):
        return float(_from_ticks(np.asarray(value), name))
    if isinstance(value, date):
        value = _since_epoch(value)
    ticks = 10**9 * (86_400 * value.days + value.seconds) + 1000 * value.microseconds
    ticks += getattr(value, "nanoseconds", 0)  # pandas counts them, Python does not
    # Rounded as an array of ticks is, to the bit.
    whole, rest = divmod(abs(ticks), 10**9)
    return copysign(whole + rest / 10**9, ticks)


def _since_epoch(moment: date) -> timedelta:
    if not isinstance(moment, datetime):
        moment = datetime(moment.year, moment.month, moment.day)
    return moment - (_EPOCH.replace(tzinfo=UTC) if _is_aware(moment) else _EPOCH)

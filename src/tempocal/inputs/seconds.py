"""Times of any kind as float64, and back: datetimes and timedeltas are seconds."""

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from math import copysign
from numbers import Integral, Number
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from tempocal.errors import InputError
from tempocal.inputs.arrays import as_float64, require_finite
from tempocal.kernels.min_max import min_max
from tempocal.links import Array

TimeKind = Literal["number", "datetime", "timedelta"]

# Years and months are mean Gregorian ones, as in NumPy.
_SECONDS = {"Y": 31_556_952.0, "M": 2_629_746.0, "W": 604_800.0, "D": 86_400.0}
_SECONDS |= {"h": 3600.0, "m": 60.0, "s": 1.0}
_PARTS = {"ms": 10**3, "us": 10**6, "ns": 10**9, "ps": 10**12, "fs": 10**15, "as": 10**18}
_EPOCH = datetime(1970, 1, 1)
# From here on integers are not all distinct in float64.
_LARGEST = 2.0**53


@dataclass(frozen=True)
class FiniteNumbers:
    """Valid numbers, and their minimum and maximum."""

    values: NDArray[Any]
    time_range: tuple[float, float]


def finite_numbers(array: NDArray[Any], name: str, *, keep_int64: bool) -> FiniteNumbers | None:
    """Return numbers that one pass finds valid; None if they need another check.

    They are float64, or int64 if they were and ``keep_int64``. None is beyond 2**53, so that each
    is the same number in both types.
    """
    if array.dtype.kind not in "fiu" or array.size == 0:
        return None
    is_kept = keep_int64 and array.dtype == np.int64
    values = np.require(array, requirements="A") if is_kept else as_float64(array, name)
    low, high = (float(value) for value in min_max(values))
    return FiniteNumbers(values, (low, high)) if low > -_LARGEST and high < _LARGEST else None


def as_seconds(array: NDArray[Any], name: str) -> tuple[Array, TimeKind]:
    """Convert a column without missing values to finite float64; also return its kind."""
    if array.dtype.kind == "O":
        return _from_objects(array, name)
    if array.dtype.kind in "mM":
        return _from_ticks(array, name), "datetime" if array.dtype.kind == "M" else "timedelta"
    if array.dtype.kind in "fiu":
        return _numbers(array, name), "number"
    raise _not_times(name, f"its type is {array.dtype}")


def from_seconds(seconds: Array, kind: TimeKind) -> NDArray[Any]:
    """Convert seconds back to datetimes or timedeltas, rounded to microseconds."""
    if kind == "number":
        return seconds
    return np.round(seconds * 1e6).astype("M8[us]" if kind == "datetime" else "m8[us]")


def time_text(value: Any) -> str:
    """Format a time for a reader, as short as its precision allows."""
    if isinstance(value, np.datetime64):
        text = str(value.astype("M8[s]")).replace("T", " ")
        return text.removesuffix(" 00:00:00").removesuffix(":00")
    if isinstance(value, np.timedelta64):
        return _duration(float(value / np.timedelta64(1, "s")))
    return f"{float(value):.4g}" if abs(float(value)) < 1e5 else f"{float(value):,.0f}"


def _numbers(array: NDArray[Any], name: str) -> Array:
    values = as_float64(array, name)
    require_finite(values, name)
    _require_no_digits_lost(values, array, name)
    return values


def _require_no_digits_lost(values: Array, given: NDArray[Any], name: str) -> None:
    """Refuse integers so large that several become one float64; floats lose nothing."""
    if given.dtype.kind == "f" or values.size == 0:
        return
    low, high = min_max(values)
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
    """Seconds of datetime64 or timedelta64, independent of the unit."""
    unit, count = np.datetime_data(array.dtype)
    if unit == "generic":
        raise InputError(f"{name} is timedelta64 without a unit: give it one, such as [s]")
    if array.dtype.kind == "M" and unit in ("Y", "M"):
        return _from_ticks(array.astype("M8[D]"), name)
    ticks = array.astype(np.int64)
    if unit in _SECONDS:
        return np.asarray(ticks * (count * _SECONDS[unit]), dtype=np.float64)
    # Nanoseconds since 1970 do not fit float64 exactly: seconds and fraction are converted apart.
    # Both have the sign of the time, so that a nanosecond before zero is not rounded away.
    rest = np.fmod(ticks, _PARTS[unit])
    seconds = (ticks - rest) // _PARTS[unit]
    return np.asarray(count * (seconds + rest / _PARTS[unit]), dtype=np.float64)


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
    # Before numbers: timedelta64 is registered as an integer type.
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
    """Refuse a column that mixes kinds of times."""
    if len(set(kinds)) > 1:
        row = next(row for row, kind in enumerate(kinds) if kind != kinds[0])
        raise InputError(
            f"{name} must be of one kind, but row 0 has {array[0]!r} ({kinds[0]}) and "
            f"row {row} has {array[row]!r} ({kinds[row]})"
        )


def _seconds_of(value: Any, name: str) -> float:
    """Seconds of one time, without the overflow of NumPy for long timedeltas."""
    if isinstance(value, np.datetime64 | np.timedelta64):
        return float(_from_ticks(np.asarray(value), name))
    if isinstance(value, date):
        value = _since_epoch(value)
    ticks = 10**9 * (86_400 * value.days + value.seconds) + 1000 * value.microseconds
    ticks += getattr(value, "nanoseconds", 0)  # pandas counts them, Python does not
    # Rounded exactly as in `_from_ticks`.
    seconds, rest = divmod(abs(ticks), 10**9)
    return copysign(seconds + rest / 10**9, ticks)


def _since_epoch(moment: date) -> timedelta:
    if not isinstance(moment, datetime):
        moment = datetime(moment.year, moment.month, moment.day)
    return moment - (_EPOCH.replace(tzinfo=UTC) if _is_aware(moment) else _EPOCH)


def _duration(seconds: float) -> str:
    for unit, length in (("d", 86_400.0), ("h", 3600.0), ("min", 60.0)):
        if abs(seconds) >= 2.0 * length:
            return f"{seconds / length:.3g} {unit}"
    return f"{seconds:.3g} s"

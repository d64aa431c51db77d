"""Times of any kind on one clock or two, from any container, as numbers and back.

A datetime becomes seconds since 1970-01-01 UTC. One with a time zone is converted to UTC, and one
without is taken as UTC. A timedelta becomes seconds.
"""

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from math import copysign
from numbers import Integral, Number
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from tempocal.errors import InputError
from tempocal.inputs.arguments import (
    as_array,
    as_float64,
    first_missing,
    require_finite,
    require_same_length,
)
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
# Half of what a double holds, so that differences of two times are finite.
LARGEST_TIME = 8e307
_SHAPES = {
    1: "one time for each row, of shape (n,) or (n, 1)",
    2: "an array of shape (n, 2), a table of two columns or a tuple of two arrays (a list is rows)",
}


@dataclass(frozen=True)
class Times:
    """Times of rows, on one clock or two."""

    values: NDArray[Any]  # (n,) for one clock, (n, 2) for two; finite
    kinds: tuple[TimeKind, ...]  # one for each clock
    time_range: tuple[float, float] | None = None  # minimum and maximum, if known


def check_time(
    time: Any, n_rows: int, *, clocks: int = 1, name: str = "time", keep_int64: bool = False
) -> Times:
    """Return times as float64, and their kinds.

    Parameters
    ----------
    time : array-like of shape (n,), (n, 1) or (n, 2)
        Numbers, datetimes or timedeltas, each clock of one kind. A datetime with a time zone is
        converted to UTC, one without is taken as UTC.
        Two clocks are an array of shape (n, 2), a list of n pairs, a table of two columns, or a
        tuple of two arrays of length n. A list is always rows and a tuple always clocks, since a
        list of two lists of two would be ambiguous.
    n_rows : int
        Number of rows of the predictions.
    clocks : {1, 2}
        Number of times of each row.
    name : str
        Name of the argument in error messages.
    keep_int64 : bool
        Whether int64 on one clock may stay int64, to save a copy.
    """
    names = [name] if clocks == 1 else [f"{name} (clock {k + 1})" for k in range(clocks)]
    columns = _columns(time, names, name)
    checked = [
        _check_column(column, label, n_rows, keep_int64=keep_int64 and clocks == 1)
        for column, label in zip(columns, names, strict=True)
    ]
    if clocks == 1:
        return checked[0]
    values = np.stack([one.values for one in checked], axis=1)
    return Times(values, tuple(kind for one in checked for kind in one.kinds))


def require_same_kind(times: Times, kinds: tuple[TimeKind, ...], name: str = "time") -> None:
    """Refuse times of another kind than those of the fit, whose numbers have another meaning."""
    if times.kinds != kinds:
        before, now = " and ".join(kinds), " and ".join(times.kinds)
        raise InputError(
            f"{name} was {before} in the fit and is {now} now: pass the same kind as in the fit, "
            "for datetimes and timedeltas are counted in seconds and numbers are as they come"
        )


def require_moderate(times: Times) -> Times:
    """Refuse times so far apart, or so large, that their distances overflow."""
    if times.values.size == 0:
        return times
    low, high = times.time_range or min_max(times.values)
    largest = float(max(high, -low))
    if largest > LARGEST_TIME:
        raise InputError(f"time must lie within {LARGEST_TIME:g} of zero, but it has {largest:g}")
    return times


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


def _duration(seconds: float) -> str:
    for unit, length in (("d", 86_400.0), ("h", 3600.0), ("min", 60.0)):
        if abs(seconds) >= 2.0 * length:
            return f"{seconds / length:.3g} {unit}"
    return f"{seconds:.3g} s"


def _columns(time: Any, names: list[str], name: str) -> list[NDArray[Any]]:
    """Split times into clocks, each of which may be of its own kind."""
    clocks = len(names)
    parts = list(time) if clocks > 1 and isinstance(time, tuple) else _parts_of_table(time)
    if parts is None:
        array = _read(time, name)
        if array.ndim > 2:
            raise InputError(f"{name} must have one or two axes, but its shape is {array.shape}")
        parts = list(array.T) if array.ndim == 2 else [array]
    if len(parts) != clocks:
        raise InputError(
            f"{name} must be {_SHAPES[clocks]}, but it has {len(parts)} "
            f"column{'s' * (len(parts) != 1)}"
        )
    columns = [_read(part, label) for part, label in zip(parts, names, strict=True)]
    return [a[:, 0] if a.ndim == 2 and a.shape[1] == 1 else a for a in columns]


def _parts_of_table(table: Any) -> list[Any] | None:
    """Columns of a table: as one array, polars would convert datetimes to numbers."""
    if hasattr(table, "iloc") and table.ndim == 2:
        return [table.iloc[:, k] for k in range(table.shape[1])]
    # The names of the same method in polars and in Arrow.
    columns = getattr(table, "iter_columns", None) or getattr(table, "itercolumns", None)
    return None if columns is None else list(columns())


def _read(values: Any, name: str) -> NDArray[Any]:
    """Convert to an array without changing the kind of any entry."""
    dtype: Any = getattr(values, "dtype", None)
    if hasattr(dtype, "tz"):
        # By default pandas converts every datetime with a time zone to an object.
        values = np.asarray(values, dtype=f"M8[{dtype.unit}]")
    array = as_array(values, name)
    if array.dtype.kind not in "mM" or not isinstance(values, list | tuple):
        return array
    # In a list NumPy converts 5 next to a timedelta64 to another timedelta64, and the year 9999
    # next to nanoseconds overflows.
    entries = values if array.ndim == 1 else [list(row) for row in values]
    return np.array(entries, dtype=object)


def _check_column(array: NDArray[Any], name: str, n_rows: int, *, keep_int64: bool) -> Times:
    require_same_length(array, name, n_rows, "the predictions")
    if array.dtype.kind in "fiu" and array.size:
        is_kept = keep_int64 and array.dtype == np.int64
        values = np.require(array, requirements="A") if is_kept else as_float64(array, name)
        low, high = map(float, min_max(values))
        # One pass: no NaN is within these bounds, and each number is the same in both types.
        if low > -_LARGEST and high < _LARGEST:
            return Times(values, ("number",), (low, high))
    row = first_missing(array)
    if row is not None:
        raise InputError(
            f"{name} contains NaN, NaT or None (first at row {row}): no time may be missing"
        )
    values, kind = _as_seconds(array, name)
    return Times(values, (kind,))


def _as_seconds(array: NDArray[Any], name: str) -> tuple[Array, TimeKind]:
    """Convert a column without missing values to finite float64; also return its kind."""
    if array.dtype.kind == "O":
        return _from_objects(array, name)
    if array.dtype.kind in "mM":
        return _from_ticks(array, name), "datetime" if array.dtype.kind == "M" else "timedelta"
    if array.dtype.kind in "fiu":
        return _numbers(array, name), "number"
    raise _not_times(name, f"its type is {array.dtype}")


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

"""Validation of times on one clock or two, from any container.

A datetime becomes seconds since 1970-01-01 UTC. One with a time zone is converted to UTC, and one
without is taken as UTC. A timedelta becomes seconds.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tempocal.errors import InputError
from tempocal.inputs.arrays import as_array, first_missing, require_same_length
from tempocal.inputs.seconds import TimeKind, as_seconds, finite_numbers

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


def _columns(time: Any, names: list[str], name: str) -> list[NDArray[Any]]:
    """Split times into clocks, each of which may be of its own kind."""
    clocks = len(names)
    parts = list(time) if clocks > 1 and isinstance(time, tuple) else _parts_of_table(time)
    if parts is None:
        parts = _parts_of_array(_read(time, name), name)
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


def _parts_of_array(array: NDArray[Any], name: str) -> list[Any]:
    if array.ndim > 2:
        raise InputError(f"{name} must have one or two axes, but its shape is {array.shape}")
    return list(array.T) if array.ndim == 2 else [array]


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
    numbers = finite_numbers(array, name, keep_int64=keep_int64)
    if numbers is not None:
        return Times(numbers.values, ("number",), numbers.time_range)
    row = first_missing(array)
    if row is not None:
        raise InputError(
            f"{name} contains NaN, NaT or None (first at row {row}): no time may be missing"
        )
    values, kind = as_seconds(array, name)
    return Times(values, (kind,))

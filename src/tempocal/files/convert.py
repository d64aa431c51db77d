"""Columns of a file as arrays of numbers or times, or a sentence about the first row that is none.

Text is read as a number or a date where one is needed, as a block of a CSV file has it.
"""

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from tempocal.files.column_problems import ColumnError
from tempocal.files.csv_types import can_cast

_MOMENTS = tuple(pa.timestamp(unit, zone) for zone in (None, "UTC") for unit in ("us", "ns"))
# A double no longer tells whole numbers from here on from the next one.
LARGEST = 2.0**53
_NUMBERS, _TIMES = "numbers", "numbers, or dates such as 2026-05-01 or 2026-05-01T12:30:00"


def as_numbers(column: Any, name: str, first_row: int = 1) -> NDArray[np.float64]:
    """Return numbers as float64; infinity is one of them, a missing value is not."""
    given = column = present(column, name, first_row)
    if is_text(column):
        column = _from_text(column, (pa.float64(),), name, first_row, _NUMBERS)
    if not _is_number(column.type):
        raise wrong(name, _NUMBERS, column, first_row)
    return _floats(column, given, name, first_row)


def as_times(column: Any, name: str, first_row: int = 1) -> NDArray[Any]:
    """Return times: float64, datetime64 or timedelta64."""
    given = column = present(column, name, first_row)
    if is_text(column):
        column = _from_text(column, (pa.float64(), *_MOMENTS), name, first_row, _TIMES)
    kind = column.type
    if pa.types.is_timestamp(kind) or pa.types.is_date(kind) or pa.types.is_duration(kind):
        return np.asarray(column)
    if not _is_number(kind):
        raise wrong(name, _TIMES, column, first_row)
    return _floats(column, given, name, first_row)


def _floats(column: Any, given: Any, name: str, first_row: int) -> NDArray[np.float64]:
    """Return numbers as float64, ``given`` being the column before text was read."""
    numbers = np.asarray(column.cast(pa.float64(), safe=False), dtype=np.float64)
    missing = np.isnan(numbers)
    if missing.any():
        raise not_a_number(name, first_row + int(np.argmax(missing)))
    beyond = np.abs(numbers) >= LARGEST
    if beyond.any() and not pa.types.is_floating(given.type):
        _require_no_digits_lost(beyond, given, name, first_row)
    return numbers


def _require_no_digits_lost(
    beyond: NDArray[np.bool_], given: Any, name: str, first_row: int
) -> None:
    """Refuse whole numbers that a double cannot tell apart; 1e300 in text is what it says."""
    if is_text(given):
        text = pc.utf8_trim_whitespace(given.cast(pa.string()))
        beyond = beyond & np.asarray(pc.match_substring_regex(text, "^[+-]?[0-9]+$"))
    if beyond.any():
        row = int(np.argmax(beyond))
        raise ColumnError(
            name,
            f"column {name!r} has {given[row]} in row {first_row + row}, but whole numbers beyond "
            "2**53 lose digits: subtract the first one",
        )


def not_a_number(name: str, row: int) -> ColumnError:
    """Return the error for NaN in a row."""
    return ColumnError(name, f"column {name!r} holds NaN in row {row}")


def present(column: Any, name: str, first_row: int) -> Any:
    """Return a column without missing values, in a type of its own."""
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if column.null_count:
        row = first_row + pc.index(column.is_null(), True).as_py()
        raise ColumnError(name, f"column {name!r} has no value in row {row}")
    return column


def is_text(column: Any) -> bool:
    """Tell whether a column is text."""
    kind = column.type
    return bool(
        pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
    )


def _is_number(kind: Any) -> bool:
    return bool(
        pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)
    )


def _from_text(column: Any, kinds: tuple[Any, ...], name: str, first_row: int, wanted: str) -> Any:
    """Read text as the first of some types that all of it has."""
    text = pc.utf8_trim_whitespace(column.cast(pa.string()))
    for kind in kinds:
        if can_cast(text, kind):
            return text.cast(kind)
    raise wrong(name, wanted, text, first_row, kinds)


def _mixed(name: str, column: Any, first_row: int, kinds: tuple[Any, ...]) -> ColumnError:
    """Return the error for a column whose rows are of more than one of the kinds wanted."""
    one = [kind for kind in kinds if can_cast(column.slice(0, 1), kind)]
    other = next(
        row for row in _rows(column) if not all(can_cast(column.slice(row, 1), k) for k in one)
    )
    return ColumnError(
        name,
        f"column {name!r} must be all numbers, all dates with a time zone or all dates without, "
        f"but row {first_row} has {column[0].as_py()!r} and row {first_row + other} "
        f"{column[other].as_py()!r}",
    )


def wrong(
    name: str, wanted: str, column: Any, first_row: int, kinds: tuple[Any, ...] = ()
) -> ColumnError:
    """Return the error that names the first row that is not what is wanted."""
    fits = (any(can_cast(column.slice(row, 1), kind) for kind in kinds) for row in _rows(column))
    row = next((row for row, good in enumerate(fits) if not good), None)
    if row is None:
        return _mixed(name, column, first_row, kinds)
    found = repr(column[row].as_py())[:60]
    return ColumnError(
        name, f"column {name!r} must be {wanted}, but row {first_row + row} has {found}"
    )


def _rows(column: Any) -> range:
    return range(len(column))

"""Columns of a file as arrays of numbers or times; errors name the first invalid row.

Text, as in a block of a CSV file, is parsed as numbers or dates.
"""

from re import fullmatch
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from tempocal.files.column_problems import ColumnError
from tempocal.files.csv_types import can_cast
from tempocal.inputs.text_files import COMMA_HINT, DECIMAL_COMMA

_DATETIMES = tuple(pa.timestamp(unit, zone) for zone in (None, "UTC") for unit in ("us", "ns"))
# From here on doubles cannot represent all integers.
LARGEST_EXACT = 2.0**53
_NUMBERS, _TIMES = "numbers", "numbers, or dates such as 2026-05-01 or 2026-05-01T12:30:00"


def as_numbers(column: Any, name: str, first_row: int = 1) -> NDArray[np.float64]:
    """Return numbers as float64; infinity is valid, a missing value is not."""
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
        column = _from_text(column, (pa.float64(), *_DATETIMES), name, first_row, _TIMES)
    kind = column.type
    if pa.types.is_timestamp(kind) or pa.types.is_date(kind) or pa.types.is_duration(kind):
        return np.asarray(column)
    if not _is_number(kind):
        raise wrong(name, _TIMES, column, first_row)
    return _floats(column, given, name, first_row)


def _floats(column: Any, given: Any, name: str, first_row: int) -> NDArray[np.float64]:
    """Return numbers as float64; ``given`` is the column before text was parsed."""
    numbers = np.asarray(column.cast(pa.float64(), safe=False), dtype=np.float64)
    missing = np.isnan(numbers)
    if missing.any():
        raise not_a_number(name, first_row + int(np.argmax(missing)))
    too_large = np.abs(numbers) >= LARGEST_EXACT
    if too_large.any() and not pa.types.is_floating(given.type):
        _require_exact(too_large, given, name, first_row)
    return numbers


def _require_exact(too_large: NDArray[np.bool_], given: Any, name: str, first_row: int) -> None:
    """Refuse integers that lose digits as a double; text such as 1e300 is a float, and valid."""
    if is_text(given):
        text = pc.utf8_trim_whitespace(given.cast(pa.string()))
        too_large = too_large & np.asarray(pc.match_substring_regex(text, "^[+-]?[0-9]+$"))
    if too_large.any():
        row = int(np.argmax(too_large))
        raise ColumnError(
            name,
            f"column {name!r} has {given[row]} in row {first_row + row}, but whole numbers beyond "
            "2**53 lose digits: subtract the first one",
        )


def not_a_number(name: str, row: int) -> ColumnError:
    """Return the error for NaN in a row."""
    return ColumnError(name, f"column {name!r} holds NaN in row {row}")


def present(column: Any, name: str, first_row: int) -> Any:
    """Return a column decoded from a dictionary; refuse missing values."""
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if column.null_count:
        row = first_row + pc.index(column.is_null(), True).as_py()
        raise ColumnError(name, f"column {name!r} has no value in row {row}")
    # Nothing is left of a column without any value.
    return column.cast(pa.float64()) if pa.types.is_null(column.type) else column


def is_text(column: Any) -> bool:
    """Return whether a column is text."""
    kind = column.type
    return bool(
        pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
    )


def _is_number(kind: Any) -> bool:
    return bool(
        pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)
    )


def _from_text(column: Any, kinds: tuple[Any, ...], name: str, first_row: int, wanted: str) -> Any:
    """Parse text as the first of some types that fits every row."""
    text = pc.utf8_trim_whitespace(column.cast(pa.string()))
    for kind in kinds:
        if can_cast(text, kind):
            return text.cast(kind)
    raise wrong(name, wanted, text, first_row, kinds)


def _mixed(name: str, column: Any, first_row: int, kinds: tuple[Any, ...]) -> ColumnError:
    """Return the error for a column that mixes several of the expected types."""
    first = [kind for kind in kinds if can_cast(column.slice(0, 1), kind)]
    other = next(
        row for row in _rows(column) if not all(can_cast(column.slice(row, 1), k) for k in first)
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
    """Return the error that names the first row of another type than expected."""
    valid = (any(can_cast(column.slice(row, 1), kind) for kind in kinds) for row in _rows(column))
    row = next((row for row, is_valid in enumerate(valid) if not is_valid), None)
    if row is None:
        return _mixed(name, column, first_row, kinds)
    value = column[row].as_py()
    hint = COMMA_HINT if fullmatch(DECIMAL_COMMA, str(value)) else ""
    return ColumnError(
        name,
        f"column {name!r} must be {wanted}, but row {first_row + row} has {value!r:.60}{hint}",
    )


def _rows(column: Any) -> range:
    return range(len(column))

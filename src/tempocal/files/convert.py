"""Columns of a file as arrays: numbers, times, labels and ids, or a sentence about the first row.

Text is read as a number or a date where one is needed, as a block of a CSV file has it.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from tempocal.files.csv_types import can_cast
from tempocal.files.problems import ColumnError

_MOMENTS = tuple(pa.timestamp(unit, zone) for zone in (None, "UTC") for unit in ("us", "ns"))
_NUMBERS, _TIMES = "numbers", "numbers, or dates such as 2026-05-01 or 2026-05-01T12:30:00"


@dataclass(frozen=True)
class Ids:
    """Which of some values each row has: codes in the sorted order of the values."""

    codes: NDArray[np.int64]
    values: NDArray[Any]

    def ids(self) -> NDArray[Any]:
        """Return the id of each row."""
        return np.asarray(self.values[self.codes])


def as_numbers(column: Any, name: str, first_row: int = 1) -> NDArray[np.float64]:
    """Return numbers as float64; infinity is one of them, a missing value is not."""
    column = _present(column, name, first_row)
    if _is_text(column):
        column = _from_text(column, (pa.float64(),), name, first_row, _NUMBERS)
    if not _is_number(column.type):
        raise _wrong(name, _NUMBERS, column, first_row)
    numbers = np.asarray(column.cast(pa.float64(), safe=False).to_numpy(), dtype=np.float64)
    missing = np.isnan(numbers)
    if missing.any():
        raise ColumnError(
            name, f"column {name!r} holds NaN in row {first_row + int(np.argmax(missing))}"
        )
    return numbers


def as_times(column: Any, name: str, first_row: int = 1) -> NDArray[Any]:
    """Return times: float64, datetime64 or timedelta64."""
    column = _present(column, name, first_row)
    if _is_text(column):
        column = _from_text(column, (pa.float64(), *_MOMENTS), name, first_row, _TIMES)
    kind = column.type
    if pa.types.is_timestamp(kind) or pa.types.is_date(kind) or pa.types.is_duration(kind):
        return np.asarray(column.to_numpy())
    if not _is_number(kind):
        raise _wrong(name, _TIMES, column, first_row)
    return as_numbers(column, name, first_row)


def as_labels(column: Any, name: str) -> NDArray[Any]:
    """Return labels: integers, whole floats, booleans or text."""
    column = _present(column, name, 1)
    if _is_text(column):
        return as_ids(column, name).ids()
    if pa.types.is_boolean(column.type) or pa.types.is_integer(column.type):
        return np.asarray(column.to_numpy())
    if pa.types.is_floating(column.type):
        return as_numbers(column, name)
    raise _wrong(name, "class labels: whole numbers, text or booleans", column, 1)


def as_ids(column: Any, name: str) -> Ids:
    """Return ids of any kind, as codes."""
    column = _present(column, name, 1)
    encoded = column.combine_chunks().dictionary_encode()
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.combine_chunks()
    values = np.array(encoded.dictionary.to_pylist())
    order = np.argsort(values, kind="stable")
    rank = np.empty(len(values), dtype=np.int64)
    rank[order] = np.arange(len(values))
    return Ids(rank[encoded.indices.to_numpy()], values[order])


def _present(column: Any, name: str, first_row: int) -> Any:
    """Return a column without missing values, in a type of its own."""
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if column.null_count:
        row = first_row + pc.index(column.is_null(), True).as_py()
        raise ColumnError(name, f"column {name!r} has no value in row {row}")
    return column


def _is_text(column: Any) -> bool:
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
    raise _wrong(name, wanted, text, first_row, kinds)


def _wrong(
    name: str, wanted: str, column: Any, first_row: int, kinds: tuple[Any, ...] = ()
) -> ColumnError:
    """Return the error that names the first row that is not what is wanted."""
    fits = (any(can_cast(column.slice(row, 1), kind) for kind in kinds) for row in _rows(column))
    row = next((row for row, good in enumerate(fits) if not good), 0)
    found = repr(column[row].as_py())[:60]
    return ColumnError(
        name, f"column {name!r} must be {wanted}, but row {first_row + row} has {found}"
    )


def _rows(column: Any) -> range:
    return range(len(column))

"""Formatting rows as CSV and JSON lines, with all digits of numbers."""

import json
from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from tempocal.files.column_problems import ColumnError

_SPECIAL = '[",\r\n]'


def csv_header(names: Sequence[str]) -> str:
    """Return the header line."""
    return _join_fields([pa.array([name]) for name in names])


def csv_text(table: Any) -> str:
    """Return the lines of some rows, quoted only where needed."""
    columns = [
        _as_text(column.combine_chunks(), name)
        for name, column in zip(table.schema.names, table.columns, strict=True)
    ]
    return _join_fields(columns)


def json_text(table: Any) -> str:
    """Return a line for each row; numbers that are not finite become null."""
    columns = [_for_json(column) for column in table.columns]
    writable = pa.table(columns, names=table.schema.names)
    try:
        return "".join(
            json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n"
            for row in writable.to_pylist()
        )
    except (TypeError, ValueError) as error:
        name = _unwritable(writable)
        raise ColumnError(
            name, f"column {name!r} cannot be written as JSON lines: {error}; write .parquet"
        ) from error


def _join_fields(columns: list[Any]) -> str:
    joined = pc.binary_join_element_wise(
        *map(_quoted, columns), ",", null_handling="replace", null_replacement=""
    )
    return "\n".join(joined.to_pylist()) + "\n"


def _quoted(column: Any) -> Any:
    """Quote text with special characters, and empty text, which differs from a missing value."""
    special = pc.or_(pc.match_substring_regex(column, _SPECIAL), pc.equal(column, ""))
    if not pc.any(special).as_py():
        return column
    doubled = pc.replace_substring(column, '"', '""')
    return pc.if_else(special, pc.binary_join_element_wise('"', doubled, '"', ""), column)


def _as_text(column: Any, name: str) -> Any:
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    try:
        return column.cast(pa.string())
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid) as error:
        raise ColumnError(
            name, f"column {name!r} ({column.type}) cannot be written as CSV: write .parquet"
        ) from error


def _for_json(column: Any) -> Any:
    kind = column.type
    if pa.types.is_floating(kind):
        return pc.if_else(pc.is_finite(column), column, None)
    if pa.types.is_temporal(kind):
        return column.cast(pa.string())
    return column.cast(pa.float64()) if pa.types.is_decimal(kind) else column


def _unwritable(table: Any) -> str:
    """Return the name of the first column that JSON cannot represent."""
    for name, column in zip(table.schema.names, table.columns, strict=True):
        try:
            json.dumps(column.to_pylist(), allow_nan=False)
        except (TypeError, ValueError):
            return str(name)
    return "?"

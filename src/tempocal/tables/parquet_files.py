"""Parquet files as a relation of DuckDB, all parts of the same types.

DuckDB takes the types of the first part and casts the others to them: where logits are whole
numbers in the first part, those of the others would be rounded.
"""

from collections.abc import Iterable
from typing import Any

from tempocal.errors import InputError

_TYPES = """
SELECT name, min(kind), arg_min(file_name, kind), max(kind), arg_max(file_name, kind)
FROM (
    SELECT file_name, name, concat_ws(' ', type, converted_type, logical_type, scale) AS kind
    FROM parquet_schema(?) WHERE type IS NOT NULL
)
GROUP BY name HAVING min(kind) <> max(kind) ORDER BY name
"""


def open_parquet(connection: Any, pattern: str, only: Iterable[str] | None) -> Any:
    """Return a relation of the files that a pattern names.

    Parameters
    ----------
    connection : duckdb.DuckDBPyConnection
        Where to open them.
    pattern : str
        A file or a pattern of files.
    only : iterable of str, optional
        The columns that will be used; None means all.
    """
    relation = connection.read_parquet(pattern)
    wanted = None if only is None else set(only)
    for name, kind, where, other, elsewhere in connection.execute(_TYPES, [pattern]).fetchall():
        if wanted is None or name in wanted:
            raise InputError(
                f"column {name!r} is {kind} in {where} and {other} in {elsewhere}: all files of a "
                "table must have the same types, or numbers would be rounded"
            )
    return relation

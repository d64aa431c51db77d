"""Parquet files as a DuckDB relation; all files must have the same types.

DuckDB takes the types of the first file and casts the others to them: if logits are integers in the
first file, those of the others would be rounded. Integers of different widths may be mixed: DuckDB
casts them without loss or raises.
"""

from collections.abc import Iterable
from glob import escape
from typing import Any

from tempocal.errors import InputError

_INTEGER_TYPES = {
    f"{sign}{size}INT" for sign in ("", "U") for size in ("TINY", "SMALL", "BIG", "HUGE")
}
_INTEGER_TYPES |= {"INTEGER", "UINTEGER"}


def _require_distinct(connection: Any, file: str, wanted: Iterable[str]) -> None:
    """Refuse several columns of one name, of which DuckDB would take the first."""
    query = "SELECT name, num_children FROM parquet_schema(?)"
    parts = iter(connection.execute(query, [escape(file)]).fetchall()[1:])
    names: list[str] = []
    inside = 0  # parts of a nested column that are still to come
    for name, children in parts:
        if inside:
            inside -= 1
        else:
            names.append(name)
        inside += children or 0
    several = next((name for name in wanted if names.count(name) > 1), None)
    if several is not None:
        raise InputError(f"{file} has several columns {several!r}: rename all but one")


def open_parquet(connection: Any, pattern: str, only: Iterable[str] | None) -> Any:
    """Return a relation over the files that match a pattern.

    Parameters
    ----------
    connection : duckdb.DuckDBPyConnection
        Connection to open them in.
    pattern : str
        A file or a pattern of files.
    only : iterable of str, optional
        Columns that will be used; None means all.
    """
    relation = connection.read_parquet(pattern)
    wanted = set(relation.columns if only is None else only)
    files = [row[0] for row in connection.execute("SELECT file FROM glob(?)", [pattern]).fetchall()]
    for file in files:
        _require_distinct(connection, file, wanted)
    first: dict[str, str] = {}
    for file in files if len(files) > 1 else []:
        part = connection.read_parquet(escape(file))
        kinds = dict(zip(part.columns, map(str, part.types), strict=True))
        first = first or kinds
        for name in wanted & set(kinds) & set(first):
            expected, actual = first[name], kinds[name]
            if expected != actual and not {expected, actual} <= _INTEGER_TYPES:
                raise InputError(
                    f"column {name!r} is {expected} in {files[0]} and {actual} in {file}: all "
                    "files of a table must have the same types, or numbers would be rounded"
                )
    return relation

"""Parquet files as a relation of DuckDB, all files of the same types.

DuckDB takes the types of the first file and casts the others to them: where logits are whole
numbers in the first file, those of the others would be rounded. Whole numbers of different widths
are cast without loss, or not at all.
"""

from collections.abc import Iterable
from glob import escape
from typing import Any

from tempocal.errors import InputError

_WHOLE = {f"{sign}{size}INT" for sign in ("", "U") for size in ("TINY", "SMALL", "BIG", "HUGE")}
_WHOLE |= {"INTEGER", "UINTEGER"}


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
    wanted = set(relation.columns if only is None else only)
    files = [row[0] for row in connection.execute("SELECT file FROM glob(?)", [pattern]).fetchall()]
    first: dict[str, str] = {}
    for file in files if len(files) > 1 else []:
        part = connection.read_parquet(escape(file))
        kinds = dict(zip(part.columns, map(str, part.types), strict=True))
        first = first or kinds
        for name in wanted & set(kinds) & set(first):
            before, now = first[name], kinds[name]
            if before != now and not {before, now} <= _WHOLE:
                raise InputError(
                    f"column {name!r} is {before} in {files[0]} and {now} in {file}: all files of "
                    "a table must have the same types, or numbers would be rounded"
                )
    return relation

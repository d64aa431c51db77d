"""Tables of any kind, as narwhals frames; files are opened with DuckDB."""

from collections.abc import Iterable
from contextlib import suppress
from glob import escape, has_magic
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import narwhals as nw

from tempocal.errors import InputError, TableError

Frame = nw.DataFrame[Any] | nw.LazyFrame[Any]

_READERS = {".parquet": "read_parquet", ".csv": "read_csv", ".tsv": "read_csv"}
_PACKED = (".gz", ".zst")


def open_table(
    table: Any,
    *,
    deep: bool = True,
    numbers: Iterable[str] = (),
    times: Iterable[str] = (),
    only: Iterable[str] | None = None,
) -> Frame:
    """Return a frame of narwhals around a table, or around a file or a pattern of files.

    Parameters
    ----------
    table : table or path
        What a user passes.
    deep : bool
        Whether formulas on it will be deep; others are somewhat faster without that.
    numbers, times : iterable of str
        Columns of a file that must hold numbers, and times.
    only : iterable of str, optional
        The columns that will be used; None means all.
    """
    if isinstance(table, str | PathLike):
        native = _relation(fspath(table), deep, tuple(numbers), tuple(times), only)
    else:
        native = table
    try:
        return wrap(native)
    except TypeError as error:
        raise InputError(
            f"table is a {type(table).__name__}, but it must be a table of pandas, Polars, "
            "pyarrow, DuckDB, Spark or Ibis, or the path of Parquet or CSV files"
        ) from error
    except nw.exceptions.DuplicateError as error:
        raise InputError(f"table has several columns of one name: {error}") from error


def wrap(native: Any) -> Frame:
    """Return a frame around a native table."""
    frame: Frame = nw.from_native(native)
    return frame


def _relation(
    path: str | bytes,
    deep: bool,
    numbers: tuple[str, ...],
    times: tuple[str, ...],
    only: Iterable[str] | None,
) -> Any:
    pattern = _pattern(path)
    duckdb = _duckdb()
    connection = duckdb.connect()
    if deep:
        # Written into each other, the steps of a formula take minutes to plan above a join.
        with suppress(duckdb.Error):
            connection.execute("SET disabled_optimizers = 'cte_inlining'")
    # Imported here, for they need DuckDB.
    from tempocal.tables.csv_files import open_csv  # noqa: PLC0415
    from tempocal.tables.parquet_files import open_parquet  # noqa: PLC0415

    try:
        if _reader(pattern) == "read_parquet":
            return open_parquet(connection, pattern, only)
        return open_csv(connection, pattern, numbers, times, only)
    except duckdb.Error as error:
        said = str(error).strip().split("\n", maxsplit=1)[0]
        raise TableError(f"table is {path!r}, which cannot be read: {said}") from error


def _pattern(path: str | bytes) -> str:
    """Return a path, checked, as a pattern of DuckDB; a name that is one of a file is that file."""
    if isinstance(path, bytes) or "\0" in path:
        raise InputError(f"table is {path!r}, which is not the path of a file: it must be text")
    if _reader(path) is None and Path(path).is_dir():
        raise InputError(f"table is {path!r}, a folder: name its files, as in '{path}/*.parquet'")
    if _reader(path) is None:
        raise InputError(
            f"table is {path!r}, but only files that end in {', '.join(_READERS)} can be read"
        )
    if "://" in path:
        return path
    if Path(path).is_dir():
        # As Spark writes them.
        return f"{escape(path)}/*{Path(path).suffix}"
    if Path(path).exists():
        return escape(path)
    if not has_magic(path):
        raise InputError(f"table is {path!r}, but there is no such file")
    return path


def _reader(path: str) -> str | None:
    """Return what reads a file, by the ending before the one of a packed file."""
    bare = Path(path.lower())
    return _READERS.get((bare.with_suffix("") if bare.suffix in _PACKED else bare).suffix)


def _duckdb() -> Any:
    try:
        import duckdb  # noqa: PLC0415
    except ImportError as error:
        raise ImportError(
            'files are read with DuckDB, which is not installed: pip install "tempocal[tables]"'
        ) from error
    return duckdb

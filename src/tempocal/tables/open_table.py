"""Tables of any engine as narwhals frames; files are opened with DuckDB."""

from contextlib import suppress
from glob import escape, has_magic
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import narwhals as nw

from tempocal.errors import InputError, TableError
from tempocal.tables.column_names import FileColumns
from tempocal.tables.engine_errors import short_message

Frame = nw.DataFrame[Any] | nw.LazyFrame[Any]

ALL_COLUMNS = FileColumns()
_READERS = {".parquet": "read_parquet", ".csv": "read_csv", ".tsv": "read_csv"}
_COMPRESSED = (".gz", ".zst")


def open_table(
    table: Any, *, nested_formulas: bool = True, columns: FileColumns = ALL_COLUMNS
) -> Frame:
    """Return a narwhals frame of a table, a file or a pattern of files.

    Parameters
    ----------
    table : table or path
        As passed by the user.
    nested_formulas : bool
        Whether deeply nested formulas will be evaluated; simple ones are faster without it.
    columns : FileColumns
        Roles of the columns, for a file.
    """
    is_path = isinstance(table, str | PathLike)
    native = (
        _relation(fspath(table), columns, nested_formulas=nested_formulas) if is_path else table
    )
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


def _relation(path: str | bytes, columns: FileColumns, *, nested_formulas: bool) -> Any:
    pattern = _pattern(path)
    duckdb = _duckdb()
    connection = duckdb.connect()
    if nested_formulas:
        # Inlined into one another, the steps of a formula take minutes to plan above a join.
        with suppress(duckdb.Error):
            connection.execute("SET disabled_optimizers = 'cte_inlining'")
    # Imported here because they need DuckDB.
    from tempocal.tables.csv_files import open_csv  # noqa: PLC0415
    from tempocal.tables.parquet_files import open_parquet  # noqa: PLC0415

    try:
        if _reader(pattern) == "read_parquet":
            return open_parquet(connection, pattern, columns.only)
        return open_csv(connection, pattern, columns)
    except duckdb.Error as error:
        raise TableError(
            f"table is {path!r}, which cannot be read: {short_message(error)}"
        ) from error


def _pattern(path: str | bytes) -> str:
    """Check a path and return it as a DuckDB pattern; the name of an existing file is literal."""
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
        return _files_in(Path(path))
    if Path(path).exists():
        return escape(path)
    if not has_magic(path):
        raise InputError(f"table is {path!r}, but there is no such file")
    return path


def _files_in(folder: Path) -> str:
    """Return the pattern of the files in a folder written by Spark."""
    parts = [one for one in folder.iterdir() if not one.name.startswith((".", "_"))]
    inner = next((one.name for one in parts if one.is_dir()), None)
    if inner is not None:
        raise InputError(
            f"table is {str(folder)!r}, a folder with a folder {inner!r} in it: name its files, as "
            f"in '{folder}/**/*{folder.suffix}'"
        )
    endings = [f"{folder.suffix}{compressed}" for compressed in ("", *_COMPRESSED)]
    found = [one for one in endings if any(part.name.endswith(one) for part in parts)]
    return f"{escape(str(folder))}/*{found[0] if found else folder.suffix}"


def _reader(path: str) -> str | None:
    """Return the reader of a file by its suffix, without that of the compression."""
    name = Path(path.lower())
    return _READERS.get((name.with_suffix("") if name.suffix in _COMPRESSED else name).suffix)


def _duckdb() -> Any:
    try:
        import duckdb  # noqa: PLC0415
    except ImportError as error:
        raise ImportError(
            'files are read with DuckDB, which is not installed: pip install "tempocal[tables]"'
        ) from error
    return duckdb

"""Tables of any kind, as narwhals frames; files are opened with DuckDB."""

from collections.abc import Iterable
from contextlib import suppress
from glob import has_magic
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import narwhals as nw

from tempocal.errors import InputError

Frame = nw.DataFrame[Any] | nw.LazyFrame[Any]

_READERS = {".parquet": "read_parquet", ".csv": "read_csv", ".tsv": "read_csv"}
_PACKED = (".gz", ".zst")


def open_table(table: Any, *, deep: bool = True) -> Frame:
    """Return a frame of narwhals around a table, or around a file or a pattern of files.

    Files are read somewhat faster if formulas on them will not be ``deep``.
    """
    native = _relation(fspath(table), deep=deep) if isinstance(table, str | PathLike) else table
    try:
        frame: Frame = nw.from_native(native)
    except TypeError as error:
        raise InputError(
            f"table is a {type(table).__name__}, but it must be a table of pandas, Polars, "
            "pyarrow, DuckDB, Spark or Ibis, or the path of Parquet or CSV files"
        ) from error
    return frame


def with_plain_ids(frame: Frame, names: Iterable[str | None]) -> Frame:
    """Let labels and ids in a pandas table be what they hold, where their type does not say it."""
    if not frame.implementation.is_pandas():
        return frame
    native = frame.to_native()
    plain = {}
    for name in filter(None, names):
        column = native[name]
        if column.dtype == object:
            plain[name] = column.infer_objects()
        elif hasattr(column.dtype, "categories"):
            plain[name] = column.astype(column.dtype.categories.dtype)
    return _wrap(native.assign(**plain)) if plain else frame


def _wrap(native: Any) -> Frame:
    frame: Frame = nw.from_native(native)
    return frame


def _relation(path: str, *, deep: bool) -> Any:
    reader = _READERS.get(_suffix(path))
    if reader is None and Path(path).is_dir():
        raise InputError(f"table is {path!r}, a folder: name its files, as in '{path}/*.parquet'")
    if reader is None:
        raise InputError(
            f"table is {path!r}, but only files that end in {', '.join(_READERS)} can be read"
        )
    if not has_magic(path) and "://" not in path and not Path(path).exists():
        raise InputError(f"table is {path!r}, but there is no such file")
    duckdb = _duckdb()
    connection = duckdb.connect()
    if deep:
        # Written into each other, the steps of a formula take minutes to plan above a join.
        with suppress(duckdb.Error):
            connection.execute("SET disabled_optimizers = 'cte_inlining'")
    try:
        return getattr(connection, reader)(path)
    except duckdb.Error as error:
        raise InputError(f"table is {path!r}, which cannot be read: {error}") from error


def _suffix(path: str) -> str:
    """Return the ending that says the format, before the one of a packed file."""
    bare = Path(path.lower())
    return (bare.with_suffix("") if bare.suffix in _PACKED else bare).suffix


def _duckdb() -> Any:
    try:
        import duckdb  # noqa: PLC0415
    except ImportError as error:
        raise ImportError(
            'files are read with DuckDB, which is not installed: pip install "tempocal[tables]"'
        ) from error
    return duckdb

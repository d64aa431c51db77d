"""Reading columns of Parquet, CSV and SQLite files, without validation."""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from tempocal.errors import DatasetError

# Bytes that are read at once; also the maximum length of a row.
_BLOCK_BYTES = 2**24


@dataclass(frozen=True)
class DatasetColumns:
    """Columns of a file: arrays of numbers or dates, and lists of anything else."""

    file: str  # its name, for error messages
    values: dict[str, Any]

    def __len__(self) -> int:
        return len(next(iter(self.values.values())))


def read_parquet(path: Path, needed: Sequence[str], extra: Sequence[str] = ()) -> DatasetColumns:
    """Read columns of a Parquet file; extra ones may be missing."""
    parquet = import_optional("pyarrow.parquet")
    with _reading(path, "Parquet"), parquet.ParquetFile(path) as file:
        names = _select(path, file.schema_arrow.names, needed, extra)
        table = file.read(columns=names)
        values = {name: _values(table.column(name)) for name in names}
    return _require_rows(path, values)


def read_csv(path: Path, needed: Sequence[str], extra: Sequence[str] = ()) -> DatasetColumns:
    """Read columns of a CSV file as text; an empty field is a missing value."""
    csv, text = import_optional("pyarrow.csv"), import_optional("pyarrow").string()
    blocks = csv.ReadOptions(block_size=_BLOCK_BYTES)
    parsing = csv.ParseOptions(newlines_in_values=True)
    with _reading(path, "CSV"):
        with csv.open_csv(path, read_options=blocks, parse_options=parsing) as opened:
            names = _select(path, opened.schema.names, needed, extra)
        # Arrow would infer types from the first block alone.
        convert = csv.ConvertOptions(
            column_types=dict.fromkeys(names, text),
            include_columns=names,
            null_values=[""],
            strings_can_be_null=True,
        )
        table = csv.read_csv(
            path, read_options=blocks, parse_options=parsing, convert_options=convert
        )
        values = {name: table.column(name).to_pylist() for name in names}
    return _require_rows(path, values)


def read_sqlite(path: Path, table: str, needed: Sequence[str]) -> DatasetColumns:
    """Read columns of a table of an SQLite database."""
    address = f"{path.resolve().as_uri()}?mode=ro"
    with _reading(path, "SQLite"), closing(sqlite3.connect(address, uri=True)) as database:
        found = database.execute("SELECT name FROM pragma_table_info(?)", [table]).fetchall()
        if not found:
            raise DatasetError(f"{path.name} has no table {table}")
        names = _select(path, [name for (name,) in found], needed, ())
        listed = ", ".join(f'"{name}"' for name in names)
        rows = database.execute(f'SELECT {listed} FROM "{table}"').fetchall()
    return _require_rows(path, {name: [row[k] for row in rows] for k, name in enumerate(names)})


def import_optional(module: str) -> Any:
    """Import a module of a package that only the loaders need."""
    package = module.partition(".")[0]
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != package:
            raise
        raise ImportError(
            f"this dataset is read with {package}, which is not installed: "
            'pip install "tempocal[datasets]"'
        ) from error


def _select(
    path: Path, names: Sequence[str], needed: Sequence[str], extra: Sequence[str]
) -> list[str]:
    chosen = [*needed, *(name for name in extra if name in names)]
    for name in chosen:
        if name not in names:
            raise DatasetError(
                f"{path.name} has no column {name!r}: its columns are {', '.join(names)}"
            )
        if list(names).count(name) > 1:
            raise DatasetError(f"{path.name} has more than one column {name!r}")
    return chosen


def _values(column: Any) -> Any:
    """Convert a column of Arrow to an array of numbers or dates, or else to a list."""
    pa = import_optional("pyarrow")
    kind = column.type
    if pa.types.is_timestamp(kind) or pa.types.is_date(kind):
        # The values of Arrow are UTC, with the time zone in the type.
        return column.cast(pa.timestamp("s", getattr(kind, "tz", None)), safe=False).to_numpy()
    numbers = pa.types.is_integer(kind) or pa.types.is_floating(kind)
    return column.to_numpy() if numbers and not column.null_count else column.to_pylist()


def _require_rows(path: Path, values: dict[str, Any]) -> DatasetColumns:
    columns = DatasetColumns(path.name, values)
    if not len(columns):
        raise DatasetError(f"{path.name} has no rows")
    return columns


@contextmanager
def _reading(path: Path, what: str) -> Iterator[None]:
    """Turn errors of a reader into a `DatasetError` of one line that names the file."""
    if path.stat().st_size == 0:
        raise DatasetError(f"{path.name} is empty: it has no bytes")
    try:
        yield
    except DatasetError:
        raise
    # Errors of Arrow are ValueError or OSError; those of the disk have an errno.
    except (sqlite3.Error, ValueError, EOFError, OSError, NotImplementedError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        first = str(error).strip().split("\n", maxsplit=1)[0]
        raise DatasetError(f"{path.name} cannot be read as {what}: {first[:200]}") from error

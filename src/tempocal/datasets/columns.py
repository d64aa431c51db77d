"""Columns of Parquet, CSV and SQLite files, as they stand."""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tempocal.datasets.optional import optional
from tempocal.errors import DatasetError

# Bytes that are read at once, and the most that a row may have.
_BLOCK_BYTES = 2**24


@dataclass(frozen=True)
class Columns:
    """Columns of a file: arrays of numbers or dates, and lists of anything else."""

    file: str  # its name, for what has to be said about it
    values: dict[str, Any]

    def __len__(self) -> int:
        return len(next(iter(self.values.values())))


def read_parquet(path: Path, needed: Sequence[str], extra: Sequence[str] = ()) -> Columns:
    """Read columns of a Parquet file, the extra ones where they are there."""
    parquet = optional("pyarrow.parquet")
    with _reading(path, "Parquet"), parquet.ParquetFile(path) as file:
        names = _choose(path, file.schema_arrow.names, needed, extra)
        table = file.read(columns=names)
        values = {name: _values(table.column(name)) for name in names}
    return _with_rows(path, values)


def read_csv(path: Path, needed: Sequence[str], extra: Sequence[str] = ()) -> Columns:
    """Read columns of a CSV file as text; an empty field is a missing value."""
    csv, text = optional("pyarrow.csv"), optional("pyarrow").string()
    blocks = csv.ReadOptions(block_size=_BLOCK_BYTES)
    parsing = csv.ParseOptions(newlines_in_values=True)
    with _reading(path, "CSV"):
        with csv.open_csv(path, read_options=blocks, parse_options=parsing) as opened:
            names = _choose(path, opened.schema.names, needed, extra)
        # Arrow would guess types, by the first block alone.
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
    return _with_rows(path, values)


def read_sqlite(path: Path, table: str, needed: Sequence[str]) -> Columns:
    """Read columns of a table of an SQLite database."""
    address = f"{path.resolve().as_uri()}?mode=ro"
    with _reading(path, "SQLite"), closing(sqlite3.connect(address, uri=True)) as database:
        found = database.execute("SELECT name FROM pragma_table_info(?)", [table]).fetchall()
        if not found:
            raise DatasetError(f"{path.name} has no table {table}")
        names = _choose(path, [name for (name,) in found], needed, ())
        listed = ", ".join(f'"{name}"' for name in names)
        rows = database.execute(f'SELECT {listed} FROM "{table}"').fetchall()
    return _with_rows(path, {name: [row[at] for row in rows] for at, name in enumerate(names)})


def _choose(
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
    """Turn a column of Arrow into an array where NumPy has such values, else into a list."""
    pa = optional("pyarrow")
    kind = column.type
    if pa.types.is_timestamp(kind) or pa.types.is_date(kind):
        # Arrow keeps time zones beside the numbers, which are UTC.
        return column.cast(pa.timestamp("s", getattr(kind, "tz", None)), safe=False).to_numpy()
    numbers = pa.types.is_integer(kind) or pa.types.is_floating(kind)
    return column.to_numpy() if numbers and not column.null_count else column.to_pylist()


def _with_rows(path: Path, values: dict[str, Any]) -> Columns:
    columns = Columns(path.name, values)
    if not len(columns):
        raise DatasetError(f"{path.name} has no rows")
    return columns


@contextmanager
def _reading(path: Path, what: str) -> Iterator[None]:
    """Say which file could not be read, in one line of what its reader has to say about it."""
    if path.stat().st_size == 0:
        raise DatasetError(f"{path.name} is empty: it has no bytes")
    try:
        yield
    except DatasetError:
        raise
    # Arrow's errors are ValueErrors or OSErrors; those of the disk have a number.
    except (sqlite3.Error, ValueError, EOFError, OSError, NotImplementedError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        first = str(error).strip().split("\n", maxsplit=1)[0]
        raise DatasetError(f"{path.name} cannot be read as {what}: {first[:200]}") from error

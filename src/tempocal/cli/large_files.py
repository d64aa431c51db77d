"""Columns of a large file as a DuckDB table, from the Parquet file itself or from a copy.

CSV and JSON lines are copied to a temporary Parquet file, block by block: numbers and times are
parsed, ids and labels stay text.
"""

from collections.abc import Callable
from dataclasses import dataclass
from glob import escape
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import parquet

from tempocal.cli.options import ColumnOptions
from tempocal.cli.read_predictions import flags_of, prefix_column_errors, split_names
from tempocal.errors import InputError
from tempocal.files import (
    ColumnError,
    InputFile,
    as_numbers,
    as_times,
    column_names,
    require_columns,
    stream,
)
from tempocal.files.convert import not_a_number, present
from tempocal.files.csv_types import can_cast, with_exact_type
from tempocal.tables.normalize_columns import with_utc
from tempocal.tables.open_table import Frame
from tempocal.tables.passes import Passes

MAX_LABELS = 10_000
_CASTS = {pa.int64(): nw.Int64, pa.float64(): nw.Float64, pa.bool_(): nw.Boolean}


@dataclass(frozen=True)
class LargeRows:
    """A DuckDB table of a file, and the names of its columns."""

    name: str
    table: Any
    columns: list[str]  # of predictions
    label: str
    soft: list[str]  # columns of soft labels; none if labels are classes

    @property
    def frame(self) -> Frame:
        """The table, as a frame of narwhals."""
        frame: Frame = nw.from_native(self.table)
        return frame

    def labels(self, progress: Callable[[str], None]) -> tuple[NDArray[Any], int]:
        """Return the distinct labels, and the number of rows."""
        frame = self.frame.select(label=nw.col(self.label), one=nw.lit(1))
        counted = frame.group_by("label").agg(nw.col("one").sum()).head(MAX_LABELS)
        found = Passes(progress=progress).collect(counted, "looking for labels")
        if len(found["one"]) == 0:
            raise InputError(f"{self.name} has no rows: there is nothing to do")
        labels = found["label"]
        if labels.dtype.kind == "O":
            count = int(found["one"][[one is None for one in labels]].sum())
            raise ColumnError(self.label, f"column {self.label!r} has no value in {count} rows")
        return labels, int(found["one"].sum())

    def count(self, progress: Callable[[str], None]) -> int:
        """Count the rows."""
        counted = self.frame.select(count=nw.len())
        n_rows = int(Passes(progress=progress).collect(counted, "counting rows")["count"][0])
        if n_rows == 0:
            raise InputError(f"{self.name} has no rows: there is nothing to do")
        return n_rows

    def distinct(self, name: str, progress: Callable[[str], None]) -> int:
        """Count the distinct values of a column."""
        counted = self.frame.select(count=nw.col(name).n_unique())
        return int(Passes(progress=progress).collect(counted, "counting groups")["count"][0])


def open_rows(
    options: ColumnOptions, source: InputFile, folder: str, progress: Callable[[str], None]
) -> LargeRows:
    """Open the columns of the options as a table."""
    names = column_names(source)
    columns = split_names(options.logits or options.proba, names)
    soft = split_names((str(options.label),), names) if options.soft_label else []
    flags = flags_of(options, columns, soft)
    numbers = [*columns, *soft, *filter(None, [options.weight])]
    times = list(filter(None, [options.time, options.order]))
    with prefix_column_errors(flags):
        require_columns(flags, names, source.name)
        if _is_typed(source, numbers, times):
            table = _relation(source.path).select(*flags)
            table = with_utc(table, {name: name for name in times})
        else:
            copy = Path(folder) / "columns.parquet"
            kinds = _ParquetCopy(list(flags), numbers, times, progress).write(source, copy)
            casts = {name: nw.col(name).cast(kind) for name, kind in kinds.items()}
            table = _relation(str(copy))
            table = table.with_columns(**casts) if casts else table
    return LargeRows(source.name, table.to_native(), columns, str(options.label), soft)


def _is_typed(source: InputFile, numbers: list[str], times: list[str]) -> bool:
    """Return whether a file is Parquet with numeric predictions, and numeric or temporal times."""
    if source.format != "parquet":
        return False
    schema = parquet.read_schema(source.path)
    kinds = [schema.field(name).type for name in numbers]
    clocks = [schema.field(name).type for name in times]
    return all(map(_is_number, kinds)) and all(_is_number(one) or _is_time(one) for one in clocks)


def _is_number(kind: Any) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))


def _is_time(kind: Any) -> bool:
    is_time = pa.types.is_timestamp(kind) or pa.types.is_date(kind) or pa.types.is_duration(kind)
    return bool(is_time)


def _relation(path: str) -> Frame:
    try:
        import duckdb
    except ImportError as error:
        raise ImportError(
            "so large a file is measured with DuckDB, which is not installed: pip install "
            '"tempocal[tables]"'
        ) from error
    frame: Frame = nw.from_native(duckdb.connect().read_parquet(escape(path)))
    return frame


def _first_nan(column: Any, first_row: int, before: int | None) -> int | None:
    """Return the row of the first NaN so far, 0 for none; None if some text is not a number."""
    if before is None or not can_cast(column, pa.float64()):
        return None
    missing = np.isnan(column.cast(pa.float64()).to_numpy())
    return before or (first_row + int(np.argmax(missing)) if missing.any() else 0)


@dataclass(frozen=True)
class _ParquetCopy:
    """The columns to copy; ``names`` other than ``numbers`` and ``times`` are ids and labels."""

    names: list[str]
    numbers: list[str]
    times: list[str]
    progress: Callable[[str], None]

    def write(self, source: InputFile, path: Path) -> dict[str, Any]:
        """Copy block by block; return the exact types of ids and labels that are not text."""
        kinds: dict[str, set[Any]] = {}
        nans: dict[str, int | None] = {}  # row of the first NaN; None if not all are numbers
        writer, first_row = None, 1
        try:
            for block in stream(source, typed=False).blocks:
                table = pa.table([self._read(block, n, first_row) for n in self.names], self.names)
                for name in self._text_columns(table):
                    kinds.setdefault(name, set()).add(with_exact_type(table.column(name)).type)
                    nans[name] = _first_nan(table.column(name), first_row, nans.get(name, 0))
                writer = writer or parquet.ParquetWriter(path, table.schema, compression="zstd")
                self._require_same(table.schema, writer.schema, first_row)
                writer.write_table(table)
                first_row += len(table)
                self.progress(f"{first_row - 1:,} rows")
        finally:
            if writer is not None:
                writer.close()
        for name, row in nans.items():
            if row:
                raise not_a_number(name, row)
        common = {name: next(iter(found)) for name, found in kinds.items() if len(found) == 1}
        return {name: _CASTS[kind] for name, kind in common.items() if kind in _CASTS}

    def _read(self, block: Any, name: str, first_row: int) -> Any:
        column = block.column(name)
        if name in self.numbers:
            return pa.array(as_numbers(column, name, first_row))
        if name not in self.times:
            return present(column, name, first_row)
        times = as_times(column, name, first_row)
        unit = {"M": "M8[us]", "m": "m8[us]"}.get(times.dtype.kind, "f8")
        return pa.array(times.astype(unit))

    def _text_columns(self, table: Any) -> list[str]:
        names = [name for name in self.names if name not in (*self.numbers, *self.times)]
        return [name for name in names if pa.types.is_string(table.schema.field(name).type)]

    def _require_same(self, schema: Any, before: Any, first_row: int) -> None:
        """Refuse a block with another type of times; the types of other columns are fixed."""
        if not schema.equals(before):
            name = next(n for n in self.names if schema.field(n).type != before.field(n).type)
            raise ColumnError(
                name,
                f"column {name!r} changes from {before.field(name).type} to "
                f"{schema.field(name).type} at row {first_row}: it must be of one kind",
            )

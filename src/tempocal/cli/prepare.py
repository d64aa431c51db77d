"""The rows of a file that a command is to take, with the clock that it asks for.

Rows are chosen, and times since the start of a sequence are computed, block by block, into a
temporary file of the same columns, which is then read as any other file.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tempocal.cli.elapsed import Elapsed
from tempocal.cli.misread_names import require_columns_to_compare, require_one_clock
from tempocal.cli.options import ColumnOptions
from tempocal.cli.read_predictions import prefix_column_errors, split_names
from tempocal.cli.row_options import elapsed_name
from tempocal.cli.terminal import echo, show_progress
from tempocal.cli.where import RowCondition
from tempocal.cli.wildcards import expand_columns
from tempocal.errors import InputError
from tempocal.files import (
    Format,
    InputFile,
    column_names,
    open_input,
    open_output,
    require_columns,
    stream,
)


@contextmanager
def open_rows(
    options: ColumnOptions, classes: Sequence[Any] | None = None
) -> Iterator[tuple[ColumnOptions, InputFile]]:
    """Open the file of the options; return options without patterns, and the rows to take."""
    with open_input(options.file, options.format) as source:
        names = column_names(source)
        require_one_clock(options, names)
        require_columns_to_compare(options, names)
        options = expand_columns(options, names, classes)
        if options.where is None and options.elapsed is None and options.unlabelled == "error":
            yield options, source
            return
        with TemporaryDirectory(prefix="tempocal-") as folder:
            with show_progress(f"Reading {options.file}"):
                prepared = _prepare(options, source, names, folder)
            yield options, prepared


def _prepare(options: ColumnOptions, source: InputFile, names: list[str], folder: str) -> InputFile:
    rows = _Rows.of(options, source, names)
    kind: Format = "csv" if source.format == "csv" else "parquet"
    path = os.path.join(folder, f"rows.{kind}")
    flags = {str(options.elapsed): "--elapsed", str(options.sequence): "--sequence"}
    with prefix_column_errors(flags):
        n_read, n_kept, n_unlabelled = rows.copy(source, path, kind)
    if n_kept == 0:
        what = f"--where {options.where!r}" if options.where else "--unlabelled drop"
        raise InputError(f"{source.name}: {what} leaves none of its {n_read:,} rows")
    if rows.where is not None:
        echo(f"{n_kept + n_unlabelled:,} of {n_read:,} rows are as --where says", err=True)
    if n_unlabelled:
        echo(f"left out {n_unlabelled:,} rows without a label", err=True)
    return replace(source, path=path, format=kind, gzip=False)


@dataclass(frozen=True)
class _Rows:
    """Which rows to take, and the clock to add."""

    where: RowCondition | None
    labels: list[str]  # columns that must have a value
    clock: Elapsed | None

    @classmethod
    def of(cls, options: ColumnOptions, source: InputFile, names: list[str]) -> "_Rows":
        where = None if options.where is None else RowCondition(options.where)
        labels = _labels(options, names) if options.unlabelled == "drop" else []
        flags = dict.fromkeys(where.columns if where else [], "--where")
        flags |= dict.fromkeys(labels, "--label")
        if options.elapsed is not None:
            flags |= {options.elapsed: "--elapsed", str(options.sequence): "--sequence"}
        with prefix_column_errors(flags):
            require_columns(flags, names, source.name)
            return cls(where, labels, _clock(options, source, names))

    def copy(self, source: InputFile, path: str, kind: Format) -> tuple[int, int, int]:
        """Write the rows; return the number of those read, kept, and without a label."""
        counts = np.zeros(3, dtype=np.int64)
        schema = stream(source, typed=False).schema
        if self.clock is not None:
            name = elapsed_name(self.clock.column)
            schema = schema.append(pa.field(name, self.clock.type(kind)))
        with open_output(path, schema, kind) as write:
            for block in _blocks(source):
                chosen = self._with_clock(block, schema, int(counts[0]) + 1)
                if self.where is not None:
                    chosen = chosen.filter(self.where.mask(chosen))
                labeled = chosen
                for name in self.labels:
                    labeled = labeled.filter(_has_label(labeled.column(name)))
                missing = chosen.num_rows - labeled.num_rows
                counts += [block.num_rows, labeled.num_rows, missing]
                if labeled.num_rows:
                    write(labeled)
        n_read, n_kept, n_unlabelled = counts.tolist()
        return n_read, n_kept, n_unlabelled

    def _with_clock(self, block: Any, schema: Any, first_row: int) -> Any:
        if self.clock is None:
            return block
        times = self.clock.times(block, first_row)
        return block.append_column(schema.field(-1), times.cast(schema.field(-1).type))


def _labels(options: ColumnOptions, names: list[str]) -> list[str]:
    given = (str(options.label),)
    return split_names(given, names) if options.soft_label else list(given)


def _clock(options: ColumnOptions, source: InputFile, names: list[str]) -> Elapsed | None:
    if options.elapsed is None:
        return None
    if elapsed_name(options.elapsed) in names:
        raise InputError(
            f"{source.name} has a column {elapsed_name(options.elapsed)!r} already: name it with "
            "--time in place of --elapsed"
        )
    return Elapsed.of(options.elapsed, str(options.sequence), _blocks(source))


def _blocks(source: InputFile) -> Iterator[Any]:
    return stream(source, typed=False).blocks


def _has_label(column: Any) -> Any:
    missing = pc.is_null(column, nan_is_null=pa.types.is_floating(column.type))
    return pc.invert(missing)

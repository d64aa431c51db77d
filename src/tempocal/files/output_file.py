"""Writing rows to a file, atomically, or to standard output."""

import gzip
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO

from pyarrow import parquet

from tempocal.errors import InputError
from tempocal.files.formats import STANDARD, Format, format_of, is_gzip
from tempocal.files.row_text import csv_header, csv_text, json_text
from tempocal.modelfile.atomic_write import replacing

Write = Callable[[Any], None]


@contextmanager
def open_output(path: str, schema: Any, given: Format | None = None) -> Iterator[Write]:
    """Yield a function that writes tables of rows, one after the other.

    The file is created or replaced when all of it is on the disk; after a failure the old one is
    still there. Output to standard output cannot be undone.

    Parameters
    ----------
    path : str
        The file, or ``-`` for standard output.
    schema : pyarrow.Schema
        The columns of every table.
    given : {"csv", "jsonl", "parquet"}, optional
        The format, for names without a known suffix.
    """
    found = format_of(path, given)
    if path == STANDARD:
        _require_output()
        with _writer(sys.stdout.buffer, schema, found) as write:
            yield write
        sys.stdout.buffer.flush()
        return
    with (
        replacing(path, "the rows") as file,
        _compressed(file, path) as inner,
        _writer(inner, schema, found) as write,
    ):
        yield write


def _require_output() -> None:
    if sys.stdout is None:
        raise InputError("standard output is closed: write to a file, or open it again")


@contextmanager
def _compressed(file: BinaryIO, path: str) -> Iterator[Any]:
    if not is_gzip(path):
        yield file
        return
    # Without a timestamp, so that the same rows give the same bytes.
    with gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0) as inner:
        yield inner


@contextmanager
def _writer(file: Any, schema: Any, found: Format) -> Iterator[Write]:
    if found == "parquet":
        with parquet.ParquetWriter(file, schema) as writer:
            yield writer.write_table
    elif found == "jsonl":
        yield lambda table: _write(file, json_text(table))
    else:
        _write(file, csv_header(schema.names))
        yield lambda table: _write(file, csv_text(table))


def _write(file: Any, text: str) -> None:
    file.write(text.encode())

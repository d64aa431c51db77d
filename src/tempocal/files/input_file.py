"""Opening a file of rows, or standard input, for reading more than once."""

import gzip
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, BinaryIO, cast

import pyarrow as pa

from tempocal.errors import InputError
from tempocal.files.column_problems import no_rows
from tempocal.files.formats import STANDARD, Format, format_of

_PARQUET, _GZIP = b"PAR1", b"\x1f\x8b"


@dataclass(frozen=True)
class InputFile:
    """A file of rows that can be read more than once."""

    name: str  # for messages
    path: str
    format: Format
    gzip: bool

    def open(self) -> Any:
        """Open it as an Arrow stream, decompressed."""
        return pa.input_stream(self.path, compression="gzip" if self.gzip else None)

    def open_lines(self) -> BinaryIO:
        """Open it as a Python file, decompressed."""
        return cast(BinaryIO, gzip.open(self.path)) if self.gzip else open(self.path, "rb")


@contextmanager
def open_input(path: str, given: Format | None = None) -> Iterator[InputFile]:
    """Detect the format of a file; standard input is copied to a temporary file.

    Parameters
    ----------
    path : str
        A path, or ``-`` for standard input.
    given : {"csv", "jsonl", "parquet"}, optional
        The format, for names without a known suffix.
    """
    if path != STANDARD:
        yield _input_file(path, path, given)
        return
    if sys.stdin is None:
        raise InputError("standard input is closed: name a file instead of -, or pipe one in")
    with tempfile.TemporaryDirectory(prefix="tempocal-") as folder:
        copy = os.path.join(folder, "input")
        with open(copy, "wb") as file:
            shutil.copyfileobj(sys.stdin.buffer, file)
        yield _input_file("standard input", copy, given or "csv")


def _input_file(name: str, path: str, given: Format | None) -> InputFile:
    if os.path.isdir(path):
        raise InputError(f"{name} is a folder: name a file in it")
    if not path.isascii() and path != path.encode(errors="replace").decode():
        raise InputError(f"the name {name} is not UTF-8: rename the file, or pipe it in as -")
    with open(path, "rb") as file:
        start = file.read(4)
    if not start:
        raise no_rows(name)
    # The first bytes of Parquet decide, whatever the name is.
    found = "parquet" if start == _PARQUET else given if name != path else format_of(path, given)
    assert found is not None
    if found == "parquet" and start != _PARQUET:
        raise InputError(f"{name} is not a Parquet file, though its name says so")
    return InputFile(name, path, found, start.startswith(_GZIP))

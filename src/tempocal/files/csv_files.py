"""CSV files: some columns with all rows, or all columns as text in blocks."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import TextIOWrapper
from typing import Any

import pyarrow as pa
from pyarrow import csv

from tempocal.errors import InputError
from tempocal.files.column_problems import no_rows, reading
from tempocal.files.csv_types import with_exact_type
from tempocal.files.encoding import find_other_encoding
from tempocal.files.input_file import InputFile
from tempocal.inputs.text_files import ragged_line, require_no_other_encoding

# Bytes that are read at once; also the maximum length of a row.
BLOCK_BYTES = 2**22
# An empty field is a missing value; NA is text, and an error where a number is needed.
_MISSING = {
    "null_values": [""],
    "strings_can_be_null": True,
    "quoted_strings_can_be_null": False,
}


def csv_names(source: InputFile) -> list[str]:
    """Return the names of the columns."""
    with _reading(source), source.open() as file:
        require_no_other_encoding(_first_bytes(source), source.name)
        opened = csv.open_csv(file, read_options=_blocks(), parse_options=_parsing())
        names: list[str] = opened.schema.names
    return names


def read_csv(source: InputFile, names: Sequence[str]) -> Any:
    """Return some columns as a table: typed where that is lossless, otherwise text."""
    convert = _as_text(names, include_columns=list(names))
    with _reading(source), source.open() as file:
        table = csv.read_csv(
            file, read_options=_blocks(), parse_options=_parsing(), convert_options=convert
        )
    return pa.table([with_exact_type(column) for column in table.columns], names=table.schema.names)


def csv_blocks(source: InputFile, block_bytes: int) -> Iterator[Any]:
    """Yield all columns as text, block by block."""
    convert = _as_text(csv_names(source))
    with _reading(source), source.open() as file:
        yield from csv.open_csv(
            file,
            read_options=_blocks(block_bytes),
            parse_options=_parsing(),
            convert_options=convert,
        )


def _first_bytes(source: InputFile) -> bytes:
    with source.open_lines() as file:
        return file.read(4)


@contextmanager
def _reading(source: InputFile) -> Iterator[None]:
    """Turn errors of Arrow into `InputError`; name the line of text that is not UTF-8."""
    try:
        with reading(source.name, "CSV"):
            yield
    except InputError as error:
        if isinstance(error.__cause__, UnicodeDecodeError) or "UTF8" in str(error):
            raise find_other_encoding(source) or error from error
        if "Empty CSV file" in str(error):
            raise no_rows(source.name) from error
        if "Expected" in str(error):
            raise _find_ragged_line(source) or error from error
        raise


def _find_ragged_line(source: InputFile) -> InputError | None:
    """Return the error for the first line with another number of fields than the header."""
    with (
        source.open_lines() as file,
        TextIOWrapper(file, "utf-8-sig", "replace", newline="") as text,
    ):
        return ragged_line(text, source.name)


def _as_text(names: Sequence[str], **options: Any) -> Any:
    # Arrow would infer types, and 1 and 01 would become the same number.
    types = {name: pa.string() for name in names}
    return csv.ConvertOptions(column_types=types, **_MISSING, **options)


def _blocks(block_bytes: int = BLOCK_BYTES) -> Any:
    return csv.ReadOptions(block_size=block_bytes)


def _parsing() -> Any:
    return csv.ParseOptions(newlines_in_values=True)

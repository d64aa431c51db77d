"""JSON lines: an object per line; the type of a field is one that fits all lines."""

import re
from collections.abc import Iterator, Sequence
from typing import Any, BinaryIO

import pyarrow as pa
from pyarrow import json

from tempocal.errors import InputError
from tempocal.files.column_problems import no_rows, reading
from tempocal.files.encoding import require_utf8
from tempocal.files.input_file import InputFile
from tempocal.inputs.text_files import require_no_other_encoding

BLOCK_BYTES = 2**24
_UTF8_MARK = b"\xef\xbb\xbf"
_NOT_AN_OBJECT = re.compile(rb"^[ \t\r]*([^ \t\r\n{].{0,39})", re.MULTILINE)


def json_schema(source: InputFile, block_bytes: int = BLOCK_BYTES) -> Any:
    """Return the names and types of all fields, in order of first occurrence."""
    found: Any = None
    for text in _line_blocks(source, block_bytes):
        with reading(source.name, "JSON lines"):
            schema = _without_dates(_parse(text).schema)
        found = schema if found is None else _unify(found, schema, source.name)
    if found is None:
        raise no_rows(source.name)
    return found


def read_json(source: InputFile, names: Sequence[str]) -> Any:
    """Return some fields as a table."""
    schema = json_schema(source)
    wanted = pa.schema([schema.field(name) for name in names])
    with reading(source.name, "JSON lines"):
        return pa.concat_tables(
            [_parse(text, wanted) for text in _line_blocks(source, BLOCK_BYTES)]
        )


def json_blocks(source: InputFile, schema: Any, block_bytes: int) -> Iterator[Any]:
    """Yield all fields, block by block."""
    for text in _line_blocks(source, block_bytes):
        with reading(source.name, "JSON lines"):
            table = _parse(text, schema)
        yield from table.to_batches()


def _line_blocks(source: InputFile, block_bytes: int) -> Iterator[bytes]:
    """Yield complete lines of about ``block_bytes`` at a time, without blank blocks."""
    line = 1
    with source.open_lines() as file:
        while text := _read_lines(file, block_bytes, source.name):
            if line == 1:
                require_no_other_encoding(text[:4], source.name)
                text = text.removeprefix(_UTF8_MARK)
            require_utf8(text, line, source.name)
            _require_objects(text, line, source.name)
            line += text.count(b"\n")
            if text.strip():
                yield text


def _read_lines(file: BinaryIO, block_bytes: int, name: str) -> bytes:
    with reading(name, "JSON lines"):
        return file.read(block_bytes) + file.readline()


def _require_objects(text: bytes, first_line: int, name: str) -> None:
    """Refuse a line that is not an object: null would crash Arrow."""
    found = _NOT_AN_OBJECT.search(text)
    if found:
        line = first_line + text.count(b"\n", 0, found.start(1))
        has = repr(found[1].decode(errors="replace").rstrip())
        raise InputError(
            f"{name} cannot be read as JSON lines: each line must be an object, such as "
            f'{{"z": 0.5}}, but line {line} begins with {has}'
        )


def _parse(text: bytes, schema: Any = None) -> Any:
    size = json.ReadOptions(block_size=len(text) + 1)
    known = json.ParseOptions(
        explicit_schema=schema,
        unexpected_field_behavior="infer" if schema is None else "ignore",
    )
    return json.read_json(pa.BufferReader(text), read_options=size, parse_options=known)


def _without_dates(schema: Any) -> Any:
    """Keep dates as text, so that they are written as they were read."""
    kinds = [pa.string() if pa.types.is_timestamp(field.type) else field.type for field in schema]
    return pa.schema(list(zip(schema.names, kinds, strict=True)))


def _unify(one: Any, other: Any, name: str) -> Any:
    try:
        return pa.unify_schemas([one, other], promote_options="permissive")
    except pa.ArrowException as error:
        raise InputError(
            f"{name} has entries of one name that are of several kinds: {error}"
        ) from error

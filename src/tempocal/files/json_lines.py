"""JSON lines: an object a line, the types of its entries being what all lines agree on."""

import re
from collections.abc import Iterator, Sequence
from typing import Any, BinaryIO

import pyarrow as pa
from pyarrow import json

from tempocal.errors import InputError
from tempocal.files.column_problems import no_rows, reading
from tempocal.files.encoding import require_no_other_encoding, require_utf8
from tempocal.files.source import Source

BLOCK_BYTES = 2**24
_MARK = b"\xef\xbb\xbf"  # what some programs begin UTF-8 with
_NO_OBJECT = re.compile(rb"^[ \t\r]*([^ \t\r\n{].{0,39})", re.MULTILINE)


def json_schema(source: Source, block_bytes: int = BLOCK_BYTES) -> Any:
    """Return the names and types of all entries, in the order in which they first occur."""
    found: Any = None
    for text in _texts(source, block_bytes):
        with reading(source.name, "JSON lines"):
            schema = _without_dates(_parse(text).schema)
        found = schema if found is None else _unified(found, schema, source.name)
    if found is None:
        raise no_rows(source.name)
    return found


def read_json(source: Source, names: Sequence[str]) -> Any:
    """Return some entries as a table."""
    schema = json_schema(source)
    wanted = pa.schema([schema.field(name) for name in names])
    with reading(source.name, "JSON lines"):
        return pa.concat_tables([_parse(text, wanted) for text in _texts(source, BLOCK_BYTES)])


def json_blocks(source: Source, schema: Any, block_bytes: int) -> Iterator[Any]:
    """Yield all entries, block by block."""
    for text in _texts(source, block_bytes):
        with reading(source.name, "JSON lines"):
            table = _parse(text, schema)
        yield from table.to_batches()


def _texts(source: Source, block_bytes: int) -> Iterator[bytes]:
    """Whole lines of about so many bytes; blocks of nothing but blank ones are left out."""
    line = 1
    with source.open_lines() as file:
        while text := _lines(file, block_bytes, source.name):
            if line == 1:
                require_no_other_encoding(text[:4], source.name)
                text = text.removeprefix(_MARK)
            require_utf8(text, line, source.name)
            _require_objects(text, line, source.name)
            line += text.count(b"\n")
            if text.strip():
                yield text


def _lines(file: BinaryIO, block_bytes: int, name: str) -> bytes:
    with reading(name, "JSON lines"):
        return file.read(block_bytes) + file.readline()


def _require_objects(text: bytes, first_line: int, name: str) -> None:
    """Refuse a line that is no object: of one that is null, Arrow makes a crash."""
    found = _NO_OBJECT.search(text)
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
    """Leave text that looks like a date the text that it is: so it is written again."""
    kinds = [pa.string() if pa.types.is_timestamp(field.type) else field.type for field in schema]
    return pa.schema(list(zip(schema.names, kinds, strict=True)))


def _unified(one: Any, other: Any, name: str) -> Any:
    try:
        return pa.unify_schemas([one, other], promote_options="permissive")
    except pa.ArrowException as error:
        raise InputError(
            f"{name} has entries of one name that are of several kinds: {error}"
        ) from error

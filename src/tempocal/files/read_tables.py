"""Reading files of any format: some columns with all rows, or all columns in blocks."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from pyarrow import parquet

from tempocal.errors import InputError
from tempocal.files.column_problems import MissingColumnError, no_rows, reading
from tempocal.files.csv_files import BLOCK_BYTES, csv_blocks, csv_names, read_csv
from tempocal.files.csv_types import narrowest_types
from tempocal.files.input_file import InputFile
from tempocal.files.json_lines import json_blocks, json_schema, read_json

BLOCK_ROWS = 2**16


@dataclass(frozen=True)
class Stream:
    """All rows of a file in blocks with the same columns."""

    schema: Any
    blocks: Iterator[Any]  # tables


def column_names(source: InputFile) -> list[str]:
    """Return the names of all columns."""
    if source.format == "csv":
        return csv_names(source)
    if source.format == "jsonl":
        return list(json_schema(source).names)
    with reading(source.name, "Parquet"), parquet.ParquetFile(source.path) as file:
        return list(file.schema_arrow.names)


def require_columns(wanted: Iterable[str], names: Sequence[str], where: str) -> None:
    """Refuse names of columns that are missing or occur twice."""
    for name in wanted:
        if name not in names:
            raise MissingColumnError(name, names, where)
        if list(names).count(name) > 1:
            raise InputError(f"{where} has several columns {name!r}: rename all but one")


def read_columns(source: InputFile, wanted: Sequence[str]) -> dict[str, Any]:
    """Return some columns with all rows; the others are not kept in memory."""
    wanted = list(dict.fromkeys(wanted))
    require_columns(wanted, column_names(source), source.name)
    table = _read(source, wanted)
    if table.num_rows == 0:
        raise no_rows(source.name)
    return {name: table.column(name) for name in wanted}


def stream(
    source: InputFile,
    *,
    typed: bool = True,
    block_bytes: int = BLOCK_BYTES,
    block_rows: int = BLOCK_ROWS,
) -> Stream:
    """Return all columns in blocks of ``block_rows`` rows, independent of the blocks of the file.

    Parameters
    ----------
    source : InputFile
        The file.
    typed : bool
        Whether to infer the types of a CSV file, which takes another pass; otherwise columns are
        text.
    block_bytes, block_rows : int
        Bytes read at once, and rows of a block.
    """
    schema, batches = _batches(source, typed, block_bytes, block_rows)
    require_columns(schema.names, schema.names, source.name)
    return Stream(schema, _reblock(batches, schema, block_rows, source.name))


def _read(source: InputFile, wanted: list[str]) -> Any:
    if source.format == "csv":
        return read_csv(source, wanted)
    if source.format == "jsonl":
        return read_json(source, wanted)
    with reading(source.name, "Parquet"):
        table = parquet.read_table(source.path, columns=wanted, partitioning=None)
        return table.cast(pa.schema([_without_view_type(field) for field in table.schema]))


def _without_view_type(field: Any) -> Any:
    """Return text and bytes in types that all functions of Arrow support."""
    if pa.types.is_string_view(field.type):
        return field.with_type(pa.large_string())
    return field.with_type(pa.large_binary()) if pa.types.is_binary_view(field.type) else field


def _batches(
    source: InputFile, typed: bool, block_bytes: int, block_rows: int
) -> tuple[Any, Iterator[Any]]:
    if source.format == "jsonl":
        schema = json_schema(source, block_bytes)
        return schema, json_blocks(source, schema, block_bytes)
    if source.format == "parquet":
        return _parquet_batches(source, block_rows)
    if not typed:
        schema = pa.schema([(name, pa.string()) for name in csv_names(source)])
        return schema, csv_blocks(source, block_bytes)
    types = narrowest_types(csv_blocks(source, block_bytes))
    if not types:
        raise no_rows(source.name)
    schema = pa.schema(list(types.items()))
    return schema, (block.cast(schema) for block in csv_blocks(source, block_bytes))


def _parquet_batches(source: InputFile, block_rows: int) -> tuple[Any, Iterator[Any]]:
    with reading(source.name, "Parquet"), parquet.ParquetFile(source.path) as file:
        schema = file.schema_arrow

    def batches() -> Iterator[Any]:
        with reading(source.name, "Parquet"), parquet.ParquetFile(source.path) as file:
            yield from file.iter_batches(block_rows)

    return schema, batches()


def _reblock(batches: Iterator[Any], schema: Any, rows: int, name: str) -> Iterator[Any]:
    """Cut batches of any length into tables of ``rows`` rows, the last one shorter."""
    pending: list[Any] = []
    count = total = 0
    for batch in batches:
        pending.append(batch)
        count, total = count + batch.num_rows, total + batch.num_rows
        if count < rows:
            continue
        table = pa.Table.from_batches(pending, schema)
        complete = count - count % rows
        yield from (table.slice(start, rows) for start in range(0, complete, rows))
        pending, count = table.slice(complete).to_batches(), count - complete
    if total == 0:
        raise no_rows(name)
    if count:
        yield pa.Table.from_batches(pending, schema)

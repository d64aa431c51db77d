"""Text in other encodings and compressed files that are cut: the file and the line are named."""

import gzip

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from tempocal.errors import InputError
from tempocal.files import (
    as_ids,
    as_labels,
    as_numbers,
    as_times,
    open_input,
    read_columns,
    stream,
)

CSV = "z,match\n" + "".join(f"{k}.5,mätch {k}\n" for k in range(20))
LINES = "".join(f'{{"z": {k}.5, "match": "mätch {k}"}}\n' for k in range(20))
TEXTS = {"csv": CSV, "jsonl": LINES}


def ids_of(path):
    with open_input(str(path)) as source:
        return as_ids(read_columns(source, ["match"])["match"], "match").ids().tolist()


def blocks_of(path):
    with open_input(str(path)) as source:
        return list(stream(source).blocks)


@pytest.mark.parametrize("read", [ids_of, blocks_of])
@pytest.mark.parametrize("ending", ["csv", "jsonl", "csv.gz", "jsonl.gz"])
@pytest.mark.parametrize(
    ("encoding", "said"),
    [
        ("utf-16", "is UTF-16, and text must be UTF-8: convert it, such as with iconv"),
        ("utf-16-le", "is UTF-16LE, and text"),
        ("utf-16-be", "is UTF-16BE, and text"),
        ("utf-32", "is UTF-32, and text"),
        ("latin-1", "is not UTF-8: line [12] has the byte 0xe4"),
    ],
)
def test_another_encoding(tmp_path, read, ending, encoding, said):
    data = TEXTS[ending.removesuffix(".gz")].encode(encoding)
    path = tmp_path / f"rows.{ending}"
    path.write_bytes(gzip.compress(data) if ending.endswith("gz") else data)
    with pytest.raises(InputError, match=rf"rows.{ending} {said}"):
        read(path)


@pytest.mark.parametrize("read", [ids_of, blocks_of])
@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_one_line_in_another_encoding(tmp_path, read, ending):
    lines = TEXTS[ending].encode().split(b"\n")
    lines[11] = lines[11].decode().encode("latin-1")
    (tmp_path / f"rows.{ending}").write_bytes(b"\n".join(lines))
    with pytest.raises(InputError, match="is not UTF-8: line 12 has the byte 0xe4, as in Latin-1"):
        read(tmp_path / f"rows.{ending}")


@pytest.mark.parametrize("ending", ["csv", "jsonl"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
def test_utf8_with_or_without_a_mark(tmp_path, ending, encoding):
    (tmp_path / f"rows.{ending}").write_bytes(TEXTS[ending].encode(encoding))
    assert ids_of(tmp_path / f"rows.{ending}") == [f"mätch {k}" for k in range(20)]


@pytest.mark.parametrize("read", [ids_of, blocks_of])
@pytest.mark.parametrize("ending", ["csv", "jsonl"])
@pytest.mark.parametrize("damage", [lambda data: data[:-20], lambda data: data[:-8] + b"\0" * 8])
def test_compressed_text_that_is_damaged(tmp_path, read, ending, damage):
    path = tmp_path / f"rows.{ending}.gz"
    path.write_bytes(damage(gzip.compress(TEXTS[ending].encode() * 50)))
    with pytest.raises(InputError, match="cannot be read as"):
        read(path)


NAMES = [f"mätch {k}" for k in range(5)]
# Before PyArrow 18 nothing can be cast to views.
VIEWS = int(pa.__version__.split(".")[0]) >= 18
KINDS = [
    pa.string(),
    pa.large_string(),
    *([pa.string_view()] if VIEWS else []),
    pa.dictionary(pa.int32(), pa.string()),
    pa.dictionary(pa.int8(), pa.large_string()),
]


def column_of(tmp_path, values, kind):
    parquet.write_table(pa.table({"x": pa.array(values).cast(kind)}), tmp_path / "rows.parquet")
    with open_input(str(tmp_path / "rows.parquet")) as source:
        return read_columns(source, ["x"])["x"]


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_text_of_any_type(tmp_path, kind):
    column = column_of(tmp_path, NAMES, kind)
    assert as_ids(column, "x").ids().tolist() == NAMES
    assert as_labels(column, "x").tolist() == NAMES
    assert column.filter(pa.array([True, False] * 2 + [True])).to_pylist() == NAMES[::2]
    column = column_of(tmp_path, ["1.5", "2.5"], kind)
    assert as_numbers(column, "x").tolist() == [1.5, 2.5]
    assert as_times(column, "x").tolist() == [1.5, 2.5]


@pytest.mark.parametrize(
    "kind", [pa.binary(), pa.large_binary(), *([pa.binary_view()] if VIEWS else [])], ids=str
)
def test_bytes_are_ids_and_nothing_else(tmp_path, kind):
    column = column_of(tmp_path, [b"\xff", b"a", b"\xff"], kind)
    np.testing.assert_array_equal(as_ids(column, "x").codes, [1, 0, 1])
    with pytest.raises(InputError, match="'x' must be class labels"):
        as_labels(column, "x")

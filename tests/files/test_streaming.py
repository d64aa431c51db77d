"""What is read in blocks and written again is what it was, and a file is written whole or not."""

import gzip
import json
import os

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from tempocal.errors import InputError
from tempocal.files import open_input, open_output, stream
from tempocal.files.row_text import csv_text, json_text

CSV = (
    'id,z,when,text\n007,0.10,2026-05-01,"a,b"\n008,-1e-3,2026-05-02,\n'
    '009,2,2026-05-03,""\n010,3.25,2026-05-04,"x ""q"" \nnext"\n011,4,2026-05-05,ü\n'
)


def copied(source_path, target, *, typed=True, **blocks):
    with open_input(str(source_path)) as source:
        table = stream(source, typed=typed, **blocks)
        with open_output(str(target), table.schema) as write:
            for block in table.blocks:
                write(block)
    return target


@pytest.fixture
def csv_file(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text(CSV)
    return path


@pytest.mark.parametrize("block_rows", [1, 2, 100])
@pytest.mark.parametrize("block_bytes", [64, 2**20])
def test_text_comes_back_as_it_stood(csv_file, tmp_path, block_bytes, block_rows):
    out = copied(
        csv_file, tmp_path / "b.csv", typed=False, block_bytes=block_bytes, block_rows=block_rows
    )
    assert out.read_text() == CSV


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet", "csv.gz"])
def test_small_blocks_give_the_same_file(csv_file, tmp_path, ending):
    large = copied(csv_file, tmp_path / f"large.{ending}", block_rows=2)
    small = copied(csv_file, tmp_path / f"small.{ending}", block_bytes=64, block_rows=2)
    assert large.read_bytes() == small.read_bytes()


def test_types_are_those_that_all_rows_have(csv_file, tmp_path):
    out = copied(csv_file, tmp_path / "b.parquet", block_bytes=64)
    table = parquet.read_table(out)
    assert [str(kind) for kind in table.schema.types] == [
        "string",
        "double",
        "date32[day]",
        "string",
    ]
    assert table["id"].to_pylist() == ["007", "008", "009", "010", "011"]
    assert table["z"].to_pylist() == [0.1, -0.001, 2.0, 3.25, 4.0]
    assert table["text"].to_pylist() == ["a,b", None, "", 'x "q" \nnext', "ü"]


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (["1", "-2", "9223372036854775807"], "int64"),
        (["1", "2.50", "-1e-3"], "double"),
        (["1", "01"], "string"),
        (["0x1F", "2"], "string"),
        (["12345678901234560001", "12345678901234560002"], "string"),
        (["0.5", "12345678901234560001"], "string"),
        (["0.5", "01"], "string"),
        (["true", "True"], "string"),
        (["2026-05-01"], "date32[day]"),
        (["2026-05-01", "2026-05-01T12:30:00"], "timestamp[us]"),
        (["2026-05-01T12:30:00Z"], "timestamp[us, tz=UTC]"),
        (["05/01/2026"], "string"),
        (["2026-05-01T12:30:00", "2026-05-01T12:30:00Z"], "string"),
    ],
    ids=str,
)
@pytest.mark.parametrize("block_bytes", [32, 2**20])
def test_a_type_loses_no_digit_and_merges_no_spellings(tmp_path, values, kind, block_bytes):
    path = tmp_path / "a.csv"
    path.write_text("\n".join(["x", *values]) + "\n")
    with open_input(str(path)) as source:
        assert str(stream(source, block_bytes=block_bytes).schema.field("x").type) == kind


def test_a_column_without_values_is_text(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("z,gone\n1,\n2,\n")
    table = parquet.read_table(copied(path, tmp_path / "b.parquet"))
    assert table["gone"].to_pylist() == [None, None]
    assert table.schema.field("gone").type == pa.string()


LINES = [
    {"z": 1, "day": "2026-05-01", "tags": ["a"], "in": {"x": 1.5}},
    {"z": 2.5, "day": "2026-05-02", "tags": [], "in": {"x": None}},
    {"z": None, "day": "later", "tags": None, "in": None},
    {"z": 4, "day": "2026-05-04", "tags": ["b", "ü"], "in": {"x": 2.0}},
]


@pytest.mark.parametrize("block_bytes", [16, 2**20])
@pytest.mark.parametrize("block_rows", [1, 3, 100])
def test_lines_come_back_as_they_were(tmp_path, block_bytes, block_rows):
    path = tmp_path / "a.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in LINES))
    out = copied(path, tmp_path / "b.jsonl", block_bytes=block_bytes, block_rows=block_rows)
    assert [json.loads(line) for line in out.read_text().splitlines()] == LINES


def test_parquet_keeps_types_and_metadata(tmp_path):
    table = pa.table(
        {
            "a": pa.array([1, None, 3], pa.int8()),
            "b": pa.array(["x", "y", "x"]).dictionary_encode(),
            "c": pa.array([0, 1, 2], pa.timestamp("ns", "Europe/Berlin")),
            "d": pa.array([[1], [], None], pa.list_(pa.float32())),
        },
    ).replace_schema_metadata({"made": "here"})
    parquet.write_table(table, tmp_path / "a.parquet")
    out = parquet.read_table(copied(tmp_path / "a.parquet", tmp_path / "b.parquet", block_rows=2))
    assert out.schema.metadata == table.schema.metadata
    assert [str(field) for field in out.schema][:3] == [str(field) for field in table.schema][:3]
    assert out.schema.field("d").type.value_type == pa.float32()
    assert out.to_pylist() == table.to_pylist()


def test_blocks_have_the_rows_that_were_asked_for(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("z\n" + "\n".join(map(str, range(1000))))
    with open_input(str(path)) as source:
        sizes = [b.num_rows for b in stream(source, block_bytes=100, block_rows=300).blocks]
    assert sizes == [300, 300, 300, 100]


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl", "a.parquet"])
def test_a_file_without_rows_is_refused(name, tmp_path):
    path = tmp_path / name
    if name == "a.parquet":
        parquet.write_table(pa.table({"z": pa.array([], pa.float64())}), path)
    else:
        path.write_text("z\n" if name == "a.csv" else "\n")
    with pytest.raises(InputError, match="has no rows"):
        copied(path, tmp_path / "b.csv")
    assert not (tmp_path / "b.csv").exists()


def test_numbers_have_all_their_digits():
    numbers = np.random.default_rng(0).normal(size=600) * 10.0 ** np.arange(-300, 300)
    table = pa.table({"z": numbers})
    read = [float(line) for line in csv_text(table).splitlines()]
    np.testing.assert_array_equal(read, numbers)
    lines = [json.loads(line)["z"] for line in json_text(table).splitlines()]
    np.testing.assert_array_equal(lines, numbers)


def test_json_has_no_word_for_infinity():
    lines = json_text(pa.table({"z": [1.0, np.nan, np.inf, None]})).splitlines()
    assert [json.loads(line)["z"] for line in lines] == [1.0, None, None, None]


def test_what_text_cannot_hold_is_refused():
    table = pa.table({"z": [1.0], "b": [b"\xff"]})
    with pytest.raises(InputError, match="column 'b' cannot be written as JSON lines"):
        json_text(table)
    with pytest.raises(InputError, match=r"column 'd' \(list<.*cannot be written as CSV"):
        csv_text(pa.table({"d": [[{"x": 1}]]}))


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet", "csv.gz"])
@pytest.mark.parametrize("exists", [True, False])
def test_a_failure_leaves_what_was_there(tmp_path, ending, exists):
    path = tmp_path / f"a.{ending}"
    if exists:
        path.write_bytes(b"old")
    table = pa.table({"z": np.arange(1000.0)})

    def broken():
        with open_output(str(path), table.schema) as write:
            write(table)
            raise RuntimeError("in the middle")

    with pytest.raises(RuntimeError, match="in the middle"):
        broken()
    assert (path.read_bytes() == b"old") if exists else not path.exists()
    assert [name for name in os.listdir(tmp_path) if name != path.name] == []


def test_a_folder_that_is_not_there_is_an_oserror(tmp_path):
    path = tmp_path / "no" / "a.csv"
    with (
        pytest.raises(OSError, match="cannot save the rows"),
        open_output(str(path), pa.schema([("z", pa.float64())])) as write,
    ):
        write(pa.table({"z": [1.0]}))


def test_the_same_rows_are_the_same_bytes_when_compressed(tmp_path):
    table = pa.table({"z": [1.0]})
    for name in ("a.csv.gz", "b.csv.gz"):
        with open_output(str(tmp_path / name), table.schema) as write:
            write(table)
    assert (tmp_path / "a.csv.gz").read_bytes() == (tmp_path / "b.csv.gz").read_bytes()
    assert gzip.decompress((tmp_path / "a.csv.gz").read_bytes()) == b"z\n1\n"

"""Columns of every format come as the same arrays; what cannot be read is said in a sentence."""

import gzip
import io
import sys
from datetime import date
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from tempocal.errors import InputError
from tempocal.files import (
    ColumnError,
    MissingColumnError,
    as_ids,
    as_labels,
    as_numbers,
    as_times,
    column_names,
    format_of,
    open_input,
    read_columns,
    stream,
)

TABLE = {
    "z": [0.5, -1.25, 3.0],
    "n": [1, 2, 3],
    "day": ["2026-05-01", "2026-05-02", "2026-05-03"],
    "who": ["b", "a", "b"],
}
CSV = "z,n,day,who\n0.5,1,2026-05-01,b\n-1.25,2,2026-05-02,a\n3.0,3,2026-05-03,b\n"
LINES = (
    '{"z": 0.5, "n": 1, "day": "2026-05-01", "who": "b"}\n'
    '{"z": -1.25, "n": 2, "day": "2026-05-02", "who": "a"}\n\n'
    '{"z": 3, "n": 3, "day": "2026-05-03", "who": "b"}\n'
)


def write(path):
    if "csv" in path.name:
        data = CSV.encode()
    elif "json" in path.name:
        data = LINES.encode()
    else:
        days = [date.fromisoformat(day) for day in TABLE["day"]]
        parquet.write_table(pa.table({**TABLE, "day": days}), path)
        return path
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


def columns(path, names, given=None):
    with open_input(str(path), given) as source:
        return read_columns(source, names)


NAMES = ["a.csv", "a.CSV", "a.csv.gz", "a.jsonl", "a.ndjson", "a.jsonl.gz", "a.parquet", "a.pq"]


@pytest.mark.parametrize("name", NAMES)
def test_every_format_gives_the_same_arrays(name, tmp_path):
    path = write(tmp_path / name) if name != "a.CSV" else tmp_path / name
    if name == "a.CSV":
        path.write_text(CSV)
    found = columns(path, list(TABLE))
    np.testing.assert_array_equal(as_numbers(found["z"], "z"), TABLE["z"])
    np.testing.assert_array_equal(as_labels(found["n"], "n"), TABLE["n"])
    np.testing.assert_array_equal(as_labels(found["who"], "who"), TABLE["who"])
    np.testing.assert_array_equal(as_times(found["n"], "n"), TABLE["n"])
    np.testing.assert_array_equal(
        as_times(found["day"], "day"), np.array(TABLE["day"], dtype="M8[D]")
    )
    ids = as_ids(found["who"], "who")
    assert ids.values.tolist() == ["a", "b"]
    assert ids.codes.tolist() == [1, 0, 1]


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl", "a.parquet"])
def test_only_what_is_wanted_is_read(name, tmp_path):
    path = write(tmp_path / name)
    assert list(columns(path, ["who", "z", "who"])) == ["who", "z"]
    with open_input(str(path)) as source:
        assert column_names(source) == list(TABLE)


def test_a_fraction_in_the_last_row_makes_numbers_of_the_column(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("z,who\n" + "1,a\n" * 2_000_000 + "0.5,b\n")
    assert as_numbers(columns(path, ["z"])["z"], "z")[-1] == 0.5


def test_digits_are_kept(tmp_path):
    numbers = np.random.default_rng(0).normal(size=1000)
    path = tmp_path / "a.csv"
    path.write_text("z\n" + "\n".join(map(repr, numbers.tolist())))
    np.testing.assert_array_equal(as_numbers(columns(path, ["z"])["z"], "z"), numbers)


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl", "a.parquet"])
def test_standard_input_is_read(name, tmp_path, monkeypatch):
    data = write(tmp_path / name).read_bytes()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    # Parquet is known by its first bytes.
    given = "jsonl" if name == "a.jsonl" else None
    found = columns("-", ["z"], given)
    np.testing.assert_array_equal(as_numbers(found["z"], "z"), TABLE["z"])


def test_a_parquet_file_is_known_whatever_its_name(tmp_path):
    path = write(tmp_path / "a.parquet").rename(tmp_path / "a.data")
    assert len(columns(path, ["z"])["z"]) == 3


def test_the_format_can_be_said(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text(CSV)
    assert len(columns(path, ["z"], "csv")["z"]) == 3
    with pytest.raises(InputError, match=r"does not tell the format: it must end in \.csv"):
        columns(path, ["z"])
    assert format_of("-") == "csv"
    assert format_of("-", "jsonl") == "jsonl"


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl", "a.parquet"])
def test_a_column_that_is_not_there_names_those_that_are(name, tmp_path):
    path = write(tmp_path / name)
    with pytest.raises(MissingColumnError) as caught:
        columns(path, ["z", "dayy"])
    assert str(caught.value) == (
        f"{path} has no column 'dayy': did you mean 'day'? Its columns are: z, n, day, who"
    )
    with pytest.raises(MissingColumnError, match=r"has no column 'logit'\. Its columns"):
        columns(path, ["logit"])


def test_a_column_that_is_there_twice_is_refused(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("z,z\n1,2\n")
    with pytest.raises(InputError, match="several columns 'z'"):
        columns(path, ["z"])


@pytest.mark.parametrize("text", ["", "z,n\n"], ids=["no header", "header"])
def test_an_empty_csv_file_is_refused(text, tmp_path):
    path = tmp_path / "a.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=r"a\.csv has no rows"):
        columns(path, ["z"])


@pytest.mark.parametrize("text", ["", "\n\n"])
def test_an_empty_file_of_json_lines_is_refused(text, tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text(text)
    with pytest.raises(InputError, match=r"a\.jsonl has no rows"):
        columns(path, ["z"])


def test_an_empty_parquet_file_is_refused(tmp_path):
    path = tmp_path / "a.parquet"
    parquet.write_table(pa.table({"z": pa.array([], pa.float64())}), path)
    with pytest.raises(InputError, match=r"a\.parquet has no rows"):
        columns(path, ["z"])


def test_what_is_not_there_is_an_oserror(tmp_path):
    with pytest.raises(FileNotFoundError):
        columns(tmp_path / "a.csv", ["z"])
    with pytest.raises(InputError, match="is a folder"):
        columns(tmp_path, ["z"])


@pytest.mark.parametrize(
    ("name", "data", "words"),
    [
        ("a.csv", b"z,n\n1,2\n3\n", "line 3 has 1 field, and the header 2"),
        ("a.jsonl", b'{"z": 1}\n{"z": \n', "as JSON lines"),
        ("a.jsonl", b'{"z": 1}\n{"z": "x"}\n', "as JSON lines: .*changed from number to string"),
        ("a.jsonl", b"null\n", "line 1 begins with 'null'"),
        ("a.jsonl", b'\xef\xbb\xbfnull\n{"z": 1}\n', "line 1 begins with 'null'"),
        ("a.jsonl", b'{"z": 1}\n\n \t1\n', "line 3 begins with '1'"),
        ("a.jsonl", b'{"z": 1}\r\n[]\r\n', r"line 2 begins with '\[\]'"),
        ("a.jsonl", b'{"z": 1}\n"a"', "each line must be an object, .*line 2 begins with"),
        ("a.parquet", b"PAR1 and then nothing", "as Parquet"),
        ("a.parquet", b"z,n\n1,2\n", "is not a Parquet file"),
        ("a.csv.gz", b"\x1f\x8b and no more", "as CSV|incorrect"),
    ],
)
def test_what_cannot_be_read_is_said_in_a_line(name, data, words, tmp_path):
    path = tmp_path / name
    path.write_bytes(data)
    with pytest.raises((InputError, OSError), match=words) as caught:
        columns(path, ["z"])
    assert "\n" not in str(caught.value)


def test_kinds_that_change_between_blocks_are_refused(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"z": 1, "pad": "' + "x" * 2**24 + '"}\n{"z": "x"}\n')
    with pytest.raises(InputError, match="of several kinds"):
        columns(path, ["z"])


def test_lines_are_counted_over_blocks(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"z": 1}\n' * 100 + "null\n" + '{"z": 1}\n')
    with (
        open_input(str(path)) as source,
        pytest.raises(InputError, match="line 101 begins with 'null'"),
    ):
        stream(source, block_bytes=50)


def test_a_mark_of_utf_8_is_no_part_of_the_lines(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'\xef\xbb\xbf{"z": 1}\n')
    assert columns(path, ["z"])["z"].to_pylist() == [1]


@pytest.mark.skipif(sys.platform == "darwin", reason="names are UTF-8 there")
def test_a_name_that_is_not_utf_8_is_refused(tmp_path):
    path = tmp_path / "a\udcff.csv"
    path.write_text(CSV)
    with pytest.raises(InputError, match="is not UTF-8: rename the file"):
        columns(path, ["z"])


def column(values, kind=None):
    return pa.chunked_array([pa.array(values, kind)])


@pytest.mark.parametrize(
    ("values", "kind", "words"),
    [
        (["1", "x"], None, "column 'z' must be numbers, but row 2 has 'x'"),
        ([1.0, None], None, "column 'z' has no value in row 2"),
        ([1.0, 2.0, np.nan], None, "column 'z' holds NaN in row 3"),
        ([True], None, "must be numbers, but row 1 has True"),
        ([date(2026, 5, 1)], None, "must be numbers, but row 1 has datetime.date"),
    ],
)
def test_what_is_no_number_is_refused_with_its_row(values, kind, words):
    with pytest.raises(ColumnError, match=words):
        as_numbers(column(values, kind), "z")


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([1, 2], pa.int8()),
        ([1.0, 2.0], pa.float32()),
        ([Decimal("1"), Decimal("2")], None),
        (["1", " 2.0"], None),
        (["1", "2"], pa.large_string()),
        (["1", "2"], pa.dictionary(pa.int8(), pa.string())),
    ],
    ids=str,
)
def test_numbers_of_any_kind_are_read(values, kind):
    assert as_numbers(column(values, kind), "z").tolist() == [1.0, 2.0]
    assert as_times(column(values, kind), "z").tolist() == [1.0, 2.0]


LARGE = [2**62 + k for k in range(25)]


@pytest.mark.parametrize(
    "values",
    [LARGE, [str(n) for n in LARGE], [Decimal(n) for n in LARGE], ["0.5", "9007199254740993"]],
    ids=["whole", "text", "decimal", "text beside a fraction"],
)
@pytest.mark.parametrize("convert", [as_numbers, as_times])
def test_whole_numbers_that_would_lose_digits_are_refused(convert, values):
    words = r"in row \d, but whole numbers beyond 2\*\*53 lose digits: subtract the first one"
    for given in (column(values), pa.array(values)):
        with pytest.raises(ColumnError, match=words):
            convert(given, "t")


@pytest.mark.parametrize("values", [[2**53 - 1], [1e300], ["1e300"], [2.0**62]], ids=str)
def test_what_a_double_can_say_is_a_number(values):
    assert as_times(column(values), "t").tolist() == [float(values[0])]


def test_days_may_come_without_chunks():
    found = as_times(pa.array([date(2026, 5, 1)]), "t")
    np.testing.assert_array_equal(found, np.array(["2026-05-01"], dtype="M8[D]"))


def test_infinity_is_a_number():
    assert as_numbers(column(["inf", "-inf"]), "z").tolist() == [np.inf, -np.inf]


@pytest.mark.parametrize(
    "values",
    [
        ["2026-05-01T12:30:00", "2026-05-01T12:30:00.5"],
        ["2026-05-01 12:30:00", "2026-05-01 12:30:00.500000000"],
        ["2026-05-01T12:30:00Z", "2026-05-01T14:30:00.5+02:00"],
        ["2026-05-01T12:30:00.000000000Z", "2026-05-01T12:30:00.500000000Z"],
    ],
)
def test_dates_in_text_are_moments(values):
    found = as_times(column(values), "t").astype("M8[us]").astype(int)
    expected = np.array(["2026-05-01T12:30:00", "2026-05-01T12:30:00.5"], dtype="M8[us]")
    np.testing.assert_array_equal(found, expected.astype(int))


@pytest.mark.parametrize(
    "values",
    [["1", "2", "2026-05-01"], ["2026-05-01", "2"], ["2026-05-01T12:30Z", "2026-05-01T12:30"]],
)
def test_times_are_of_one_kind(values):
    with pytest.raises(ColumnError, match="all numbers, all dates with a time zone or all") as told:
        as_times(pa.array(values), "t")
    assert f"row 1 has {values[0]!r} and row {len(values)} {values[-1]!r}" in str(told.value)


@pytest.mark.parametrize("values", [["2026-05-01", "soon"], [True, False], ["12:30", "13"]])
def test_what_is_no_time_is_refused(values):
    with pytest.raises(ColumnError, match="must be numbers, or dates such as 2026-05-01"):
        as_times(column(values), "t")


def test_rows_are_counted_from_where_the_block_began():
    with pytest.raises(ColumnError, match="row 102 has 'x'"):
        as_numbers(column(["1", "x"]), "z", 101)

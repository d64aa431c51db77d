"""Faulty files: both doors name the file, the line and the way out."""

import gzip
import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from click.testing import CliRunner
from pyarrow import parquet

import tempocal as tc
from tempocal.cli.group import tempocal
from tempocal.errors import InputError, TableError

M = tc.datasets.simulate_match(30, wins=4)
FRAME = pd.DataFrame({"match": M.sequence, "t": M.time, "z": np.round(M.logits, 4), "won": M.label})
TEXT = FRAME.to_csv(index=False)
LINES = TEXT.split("\n")
GERMAN = TEXT.replace(",", ";").replace(".", ",")
COLUMNS = ("--logits", "z", "--label", "won", "--time", "t", "--sequence", "match")


def with_line(line):
    return "\n".join([*LINES[:10], line, *LINES[10:]])


def by_command(name, *words, verb="evaluate"):
    result = CliRunner().invoke(tempocal, [verb, name, *COLUMNS, *words])
    assert "Traceback" not in result.output
    assert "should not have happened" not in result.output
    return result


def by_table(name):
    cal = tc.TemporalCalibrator(tc.TemperatureScaling(), tc.Constant())
    return cal.fit_table(name, logits="z", label="won", time="t", sequence="match")


# What a file holds; what the command line and tables say of it.
RAGGED = "line 11 has {} fields, and the header 4: each line must have as many"
TEXTS = {
    "short": (with_line("1,2,0.5"), RAGGED.format(3), RAGGED.format(3)),
    "long": (with_line("1,2,0.5,1,9"), RAGGED.format(5), RAGGED.format(5)),
    "quote": (with_line('1,2,"0.5,1'), RAGGED.format(3), RAGGED.format(3)),
    "german": (
        GERMAN,
        "fields must be separated by commas, but these are by ';', it seems",
        "decimals must have a point, not a comma",
    ),
    "quoted comma": (
        with_line('1,2,"0,5",1'),
        "column 'z' must be numbers, but row 10 has '0,5': decimals must have a point",
        "'0,5': decimals must have a point, not a comma",
    ),
    "nothing": ("", "has no rows: there is nothing to do", "has no rows: there is nothing to do"),
    "blank": ("\n\n", "has no rows: there is nothing to do", "has no rows: there is nothing to do"),
    "header": (LINES[0] + "\n", "has no rows", "the table is empty"),
    "no end": (LINES[0], "has no rows", "the table is empty"),
    "utf-16": (
        TEXT.encode("utf-16"),
        "is UTF-16, and text must be UTF-8: convert it, such as with iconv -f UTF-16 -t UTF-8",
        "is UTF-16, and text must be UTF-8: convert it, such as with iconv -f UTF-16 -t UTF-8",
    ),
}


@pytest.mark.parametrize("case", TEXTS)
def test_text_is_refused_with_the_line_and_the_way_out(tmp_path, monkeypatch, case):
    monkeypatch.chdir(tmp_path)
    data, said, of_table = TEXTS[case]
    with open("rows.csv", "wb") as file:
        file.write(data if isinstance(data, bytes) else data.encode())
    for verb, words in (("evaluate", ()), ("fit", ("-o", "m.json"))):
        result = by_command("rows.csv", *words, verb=verb)
        assert result.exit_code == 1
        assert said in result.output
    with pytest.raises(InputError) as raised:
        by_table("rows.csv")
    assert of_table in str(raised.value)


@pytest.mark.parametrize(
    "data",
    [
        b"\xef\xbb\xbf" + TEXT.encode(),
        TEXT.replace("\n", "\r\n").encode(),
        "\n".join([*LINES[:10], "", *LINES[10:]]).encode(),
        "\n".join(f"{line}," if line else line for line in LINES).encode(),
    ],
    ids=["byte order mark", "carriage returns", "blank line", "trailing commas"],
)
def test_what_is_no_fault_is_read(tmp_path, monkeypatch, data):
    monkeypatch.chdir(tmp_path)
    FRAME.to_csv("plain.csv", index=False)
    with open("rows.csv", "wb") as file:
        file.write(data)
    found, wanted = (by_command(f"{name}.csv").output for name in ("rows", "plain"))
    assert found == wanted.replace("plain.csv", "rows.csv")
    z = FRAME["z"].to_numpy()
    found, wanted = (
        by_table(name).predict_proba(z, time=M.time) for name in ("rows.csv", "plain.csv")
    )
    np.testing.assert_array_equal(found, wanted)


def test_compression_is_in_the_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("rows.csv", "rows.csv.gz"):
        with open(name, "wb") as file:
            file.write(gzip.compress(TEXT.encode()))
    by_table("rows.csv.gz")
    with pytest.raises(InputError, match=r"rows.csv is compressed: its name must end in .gz"):
        by_table("rows.csv")
    assert by_command("rows.csv").exit_code == 0
    with open("cut.csv.gz", "wb") as file:
        file.write(gzip.compress(TEXT.encode())[:300])
    assert "cut.csv.gz cannot be read as CSV: Truncated" in by_command("cut.csv.gz").output
    with pytest.raises(TableError, match=r"cut.csv.gz.*cannot be read"):
        by_table("cut.csv.gz")
    with open("rows.csv.zst", "wb") as file:
        file.write(pa.compress(TEXT.encode(), "zstd", asbytes=True))
    said = by_command("rows.csv.zst").output
    assert "is compressed by a program other than gzip, by its ending .zst" in said


TABLE = pa.Table.from_pandas(FRAME, preserve_index=False)


def changed(name, values):
    return TABLE.set_column(TABLE.schema.get_field_index(name), name, values)


COLUMN_TYPES = {
    "dictionary": changed("won", pa.array(FRAME["won"].astype(str)).dictionary_encode()),
    "large text": changed("won", pa.array(FRAME["won"].astype(str), pa.large_string())),
    "bytes of labels": changed("won", pa.array(FRAME["won"], pa.int8())),
    "booleans": changed("won", pa.array(FRAME["won"] == 1)),
    "half": changed("t", pa.array(FRAME["t"].to_numpy().astype(np.float16))),
    "decimal": changed("z", pa.array(FRAME["z"]).cast(pa.decimal128(10, 4))),
    "long ids": changed("match", pa.array(FRAME["match"].to_numpy().astype(np.uint64) + 2**63)),
}


@pytest.mark.parametrize("kind", COLUMN_TYPES)
def test_types_of_parquet_are_read_alike(tmp_path, monkeypatch, kind):
    monkeypatch.chdir(tmp_path)
    parquet.write_table(COLUMN_TYPES[kind], "rows.parquet")
    parquet.write_table(TABLE, "plain.parquet")
    found, wanted = (
        json.loads(by_command(f"{name}.parquet", "--json").output)["predictions"][0]
        for name in ("rows", "plain")
    )
    for metric in ("nll", "brier", "ece"):
        assert found[metric]["value"] == pytest.approx(wanted[metric]["value"], abs=1e-12)
    z = FRAME["z"].to_numpy()
    one, other = (
        by_table(f"{name}.parquet").predict_proba(z, time=M.time) for name in ("rows", "plain")
    )
    np.testing.assert_allclose(one, other, rtol=0, atol=1e-9)


REFUSED = {
    "list": (changed("z", pa.array([[one] for one in FRAME["z"]])), "'z'", "must hold numbers"),
    "structure": (changed("match", pa.array([{"a": 1}] * len(FRAME))), "'match'", "type is Struct"),
    "truth": (changed("z", pa.array(FRAME["z"] > 0)), "'z'", "type is Boolean"),
    "clock": (
        changed("t", pa.array(FRAME["t"], pa.int32()).cast(pa.time32("s"))),
        "'t'",
        "must hold numbers, datetimes or durations",
    ),
    "no value": (changed("z", pa.nulls(len(FRAME))), "'z'", "must hold numbers"),
    "twice": (TABLE.append_column("z", TABLE["z"]), "several columns 'z'", "several columns 'z'"),
    "no rows": (TABLE.slice(0, 0), "has no rows", "the table is empty"),
}


@pytest.mark.parametrize("large", [False, True])
@pytest.mark.parametrize("kind", REFUSED)
def test_types_of_parquet_are_refused_alike(tmp_path, monkeypatch, kind, large):
    monkeypatch.chdir(tmp_path)
    if large:
        monkeypatch.setattr("tempocal.cli.large.LARGE_ROWS", -1)
    table, said, of_table = REFUSED[kind]
    parquet.write_table(table, "rows.parquet")
    result = by_command("rows.parquet")
    assert result.exit_code == 1
    assert said in result.output
    assert "Error: groups" not in result.output
    with pytest.raises(InputError, match=of_table):
        by_table("rows.parquet")


def test_a_monitor_of_rows_without_predictions_is_no_accident(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    parquet.write_table(REFUSED["no value"][0], "rows.parquet")
    by_command("rows.parquet", verb="monitor")

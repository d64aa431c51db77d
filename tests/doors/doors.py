"""Every way into a fit: arrays, tables of every engine, files by path, the command line.

A door takes columns, lists of Python values by name, and returns the fitted model, or raises.
"""

import csv
import json
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from click.testing import CliRunner
from pyarrow import parquet

import tempocal as tc
from tempocal.cli import large
from tempocal.cli.group import tempocal
from tempocal.errors import InputError

TABLE = {"logits": "z", "label": "won", "time": "t", "groups": "id", "sample_weight": "w"}
COMMAND = ["--logits", "z", "--label", "won", "--time", "t", "--sequence", "id", "--weight", "w"]


def calibrator():
    return tc.TemporalCalibrator(tc.TemperatureScaling(), tc.Constant())


def fit_arrays(of, columns):
    z, won, t, ids, w = (of(columns[name]) for name in ("z", "won", "t", "id", "w"))
    return calibrator().fit(z, won, time=t, groups=ids, sample_weight=w)


def fit_table(table):
    return calibrator().fit_table(table, **TABLE)


def objects(values):
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def arrow(columns):
    return pa.table({name: _arrow_column(values) for name, values in columns.items()})


def _arrow_column(values):
    try:
        return pa.array(values)
    except OverflowError:
        return pa.array(values, pa.uint64())


def ibis_table(columns):
    import ibis  # noqa: PLC0415

    connection = ibis.duckdb.connect()
    connection.con.register("given", arrow(columns))
    connection.con.execute("CREATE TABLE predictions AS SELECT * FROM given")
    return connection.table("predictions")


def write_parquet(folder, columns):
    path = folder / "rows.parquet"
    parquet.write_table(arrow(columns), path)
    return path


def write_csv(folder, columns):
    path = folder / "rows.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        rows = zip(*columns.values(), strict=True)
        writer.writerows(["" if value is None else value for value in row] for row in rows)
    return path


def write_json(folder, columns):
    path = folder / "rows.jsonl"
    rows = zip(*columns.values(), strict=True)
    lines = (json.dumps(dict(zip(columns, row, strict=True)), default=str) for row in rows)
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


def fit_command(path, *, as_large=False):
    """Return the model that the command saves; a refusal is the error that it prints."""
    model = Path(path).with_suffix(".json")
    words = ["fit", str(path), *COMMAND, "--label-varies", "--really-logits"]
    words += ["--calibrator", "temperature", "--curve", "constant"]
    words += ["--td-horizon", "inf", "-o", str(model)]  # the other doors name groups, no sequences
    before = large.LARGE_ROWS, large.LARGE_BYTES
    if as_large:
        large.LARGE_ROWS = large.LARGE_BYTES = 0
    try:
        result = CliRunner().invoke(tempocal, words)
    finally:
        large.LARGE_ROWS, large.LARGE_BYTES = before
    if result.exit_code == 1 and "Error: " in result.stderr:
        raise InputError(result.stderr.split("Error: ")[-1])
    assert result.exit_code == 0, result.output
    return tc.load(model)


def duckdb_table(columns):
    given = arrow(columns)  # found by its name
    connection = duckdb.connect()
    connection.register("given", given)
    connection.execute("CREATE TABLE predictions AS SELECT * FROM given")
    return connection.table("predictions")


DOORS = {
    "lists": lambda columns, folder: fit_arrays(list, columns),
    "arrays": lambda columns, folder: fit_arrays(objects, columns),
    "pandas": lambda columns, folder: fit_table(pd.DataFrame(columns)),
    "polars": lambda columns, folder: fit_table(pl.DataFrame(columns)),
    "lazy polars": lambda columns, folder: fit_table(pl.LazyFrame(columns)),
    "pyarrow": lambda columns, folder: fit_table(arrow(columns)),
    "duckdb": lambda columns, folder: fit_table(duckdb_table(columns)),
    "duckdb on parquet": lambda columns, folder: fit_table(
        duckdb.connect().read_parquet(str(write_parquet(folder, columns)))
    ),
    "polars on parquet": lambda columns, folder: fit_table(
        pl.scan_parquet(write_parquet(folder, columns))
    ),
    "ibis": lambda columns, folder: fit_table(ibis_table(columns)),
    "parquet path": lambda columns, folder: fit_table(write_parquet(folder, columns)),
    "csv path": lambda columns, folder: fit_table(write_csv(folder, columns)),
    "command on parquet": lambda columns, folder: fit_command(write_parquet(folder, columns)),
    "command on csv": lambda columns, folder: fit_command(write_csv(folder, columns)),
    "command on jsonl": lambda columns, folder: fit_command(write_json(folder, columns)),
    "command on large parquet": lambda columns, folder: fit_command(
        write_parquet(folder, columns), as_large=True
    ),
    "command on large csv": lambda columns, folder: fit_command(
        write_csv(folder, columns), as_large=True
    ),
}

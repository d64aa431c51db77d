"""Columns of every type that an engine has: the answer of arrays, or a worded refusal."""

from datetime import timedelta

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from doors.doors import DOORS, arrow, fit_table
from doors.test_doors import GOOD, OTHERS_WARNINGS, answers
from tempocal.errors import InputError

pytestmark = OTHERS_WARNINGS
SINCE_2026 = "TIMESTAMP '2026-05-01' + to_minutes(t::INT)"

# What a column is cast to, and the same values as Python has them.
DUCKDB = [
    ("z", "z::FLOAT", lambda z: float(np.float32(z))),
    ("z", "z::DECIMAL(9, 3)", lambda z: round(z, 3)),
    ("won", "won::HUGEINT", int),
    ("won", "won::TINYINT", int),
    ("won", "won::UTINYINT", int),
    ("won", "won::DECIMAL(3, 1)", int),
    ("won", "won::BOOLEAN", bool),
    ("won", "CASE won WHEN 1 THEN 'yes' ELSE 'no' END::ENUM('yes', 'no')", {0: "no", 1: "yes"}.get),
    ("t", "t::TINYINT", int),
    ("t", "t::HUGEINT", int),
    ("t", "t::FLOAT", float),
    ("t", "t::DECIMAL(9, 2)", float),
    ("t", "to_seconds(t)", lambda t: timedelta(seconds=t)),
    ("t", "DATE '2026-05-01' + t::INT", lambda t: np.datetime64("2026-05-01", "D") + int(t)),
    *(
        ("t", f"({SINCE_2026})::{kind}", lambda t: np.datetime64("2026-05-01T00:00") + int(t))
        for kind in ("TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS", "TIMESTAMPTZ")
    ),
    ("id", "id::HUGEINT", int),
    ("id", "id::UHUGEINT", int),
    ("id", "id::HUGEINT + 170141183460469231731687303715884105000", lambda m: f"{m:04d}"),
    ("id", "id::UBIGINT + 18446744073709551000", int),
    ("id", "id::TINYINT", int),
    ("id", "id::DECIMAL(18, 0)", int),
    ("id", "id::DECIMAL(38, 0) + 10000000000000000000000000", int),
    ("id", "id::DECIMAL(30, 2) / 4", int),
    ("id", "md5(id::VARCHAR)::UUID", int),
    ("id", "('m' || id)::BLOB", int),
    ("id", "TIME '10:00:00' + to_seconds(id)", int),
    ("id", "('m' || (id % 3))::ENUM('m0', 'm1', 'm2')", lambda m: m % 3),
]
ARROW = [
    ("z", pa.float16(), lambda z: float(np.float16(z))),
    ("z", pa.float32(), lambda z: float(np.float32(z))),
    ("won", pa.uint8(), int),
    ("won", pa.string_view(), str),
    ("won", pa.dictionary(pa.int8(), pa.string()), str),
    ("won", pa.decimal128(22, 1), int),
    ("t", pa.uint8(), int),
    ("t", pa.duration("ms"), lambda t: timedelta(milliseconds=t)),
    *(
        ("t", pa.timestamp(unit, zone), lambda t, unit=unit: np.datetime64(int(t), unit))
        for unit in ("s", "ms", "us", "ns")
        for zone in (None, "UTC", "Asia/Kolkata")
    ),
    ("t", pa.date32(), lambda t: np.datetime64(int(t), "D")),
    ("id", pa.string_view(), str),
    ("id", pa.large_string(), str),
    ("id", pa.binary_view(), str),
    ("id", pa.binary(), str),
    ("id", pa.dictionary(pa.int16(), pa.string()), str),
    ("id", pa.decimal128(38, 0), int),
    ("id", pa.int8(), int),
    ("id", pa.uint64(), int),
    ("id", pa.date32(), int),
    ("id", pa.timestamp("ns", "Asia/Kolkata"), int),
]
INT128 = [pl.Int128] if hasattr(pl, "Int128") else []  # Polars has it since 1.18
POLARS = [
    ("z", pl.Float32, lambda z: float(np.float32(z))),
    *[("won", each, int) for each in INT128],
    ("won", pl.Categorical, str),
    ("won", pl.Enum(["1", "0"]), str),
    *[("t", each, int) for each in INT128],
    ("t", pl.Duration("ns"), lambda t: timedelta(microseconds=t / 1000)),
    ("t", pl.Datetime("ms", "Asia/Kolkata"), lambda t: np.datetime64(int(t), "ms")),
    *[("id", each, int) for each in INT128],
    ("id", pl.UInt8, int),
    ("id", pl.Categorical, str),
    ("id", pl.Binary, str),
    ("id", pl.Decimal(38, 0), int),
    ("id", pl.Datetime("us"), int),
]
PANDAS = [
    ("z", "Float64", float),
    ("z", "float32", lambda z: float(np.float32(z))),
    ("won", "category", int),
    ("won", "boolean", bool),
    ("won", "Int8", int),
    ("t", "Int64", int),
    ("t", "timedelta64[ns]", lambda t: timedelta(microseconds=int(t) / 1000)),
    ("id", "category", int),
    ("id", "Int64", int),
    ("id", "string", str),
    ("id", "object", int),
    ("id", "int64[pyarrow]", int),
]


def expected(column, same, folder):
    return answers(DOORS["arrays"]({**GOOD, column: [same(one) for one in GOOD[column]]}, folder))


def close(model, column, same, folder):
    np.testing.assert_allclose(answers(model), expected(column, same, folder), rtol=0, atol=1e-7)


# The zone of the connection can matter to times alone.
ZONED = [(*one, "UTC") for one in DUCKDB]
ZONED += [(*one, "America/St_Johns") for one in DUCKDB if one[0] == "t"]


@pytest.mark.parametrize(
    ("column", "cast", "same", "zone"), ZONED, ids=[f"{one[1]}-{one[3]}" for one in ZONED]
)
def test_types_of_duckdb(column, cast, same, zone, tmp_path):
    connection = duckdb.connect()
    # Before the cast, for a timestamp without a zone is one in that of the connection.
    connection.execute("SET TimeZone = 'UTC'")
    connection.register("given", arrow(GOOD))
    connection.execute(f"CREATE TABLE rows AS SELECT * REPLACE ({cast} AS {column}) FROM given")
    connection.execute(f"SET TimeZone = '{zone}'")
    close(fit_table(connection.table("rows")), column, same, tmp_path)


@pytest.mark.parametrize(("column", "kind", "same"), ARROW, ids=[str(one[:2]) for one in ARROW])
def test_types_of_arrow(column, kind, same, tmp_path):
    values = GOOD[column]
    if not (pa.types.is_floating(kind) or pa.types.is_decimal(kind)):
        values = [int(one) for one in values]
    plain = pa.array(values)
    between = {"won": pa.string(), "id": pa.string()}.get(column)
    if "view" in str(kind) or "string" in str(kind) or "binary" in str(kind):
        plain = plain.cast(between).cast(pa.binary() if "binary" in str(kind) else between)
    elif pa.types.is_date32(kind):
        plain = plain.cast(pa.int32())
    if pa.types.is_dictionary(kind):
        made = plain.dictionary_encode()
    elif "view" in str(kind):
        made = pa.array(plain.to_pylist(), kind)  # before PyArrow 18 there is no such cast
    else:
        made = plain.cast(kind)
    table = arrow(GOOD)
    table = table.set_column(table.schema.get_field_index(column), column, made)
    close(fit_table(table), column, same, tmp_path)


@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize(("column", "kind", "same"), POLARS, ids=[str(one[:2]) for one in POLARS])
def test_types_of_polars(column, kind, same, lazy, tmp_path):
    given = pl.col(column)
    if kind in (pl.Categorical, pl.Binary) or isinstance(kind, pl.Enum):
        given = given.cast(pl.String)
    elif kind.is_temporal():
        given = given.cast(pl.Int64)
    frame = pl.DataFrame(GOOD).with_columns(given.cast(kind))
    close(fit_table(frame.lazy() if lazy else frame), column, same, tmp_path)


@pytest.mark.parametrize(("column", "kind", "same"), PANDAS, ids=[str(one[:2]) for one in PANDAS])
def test_types_of_pandas(column, kind, same, tmp_path):
    frame = pd.DataFrame(GOOD)
    close(fit_table(frame.astype({column: kind})), column, same, tmp_path)


def test_ids_of_pandas_that_are_tuples_are_those_of_arrays(tmp_path):
    frame = pd.DataFrame(GOOD).assign(id=[(one, "b") for one in GOOD["id"]])
    close(fit_table(frame), "id", int, tmp_path)


@pytest.mark.parametrize(
    ("cast", "role"),
    [
        ("[id] AS id", "groups"),
        ("{'a': id} AS id", "groups"),
        ("[z] AS z", "logits"),
        ("('x' || z) AS z", "logits"),
        ("(z > 0) AS z", "logits"),
        ("DATE '2026-01-01' AS z", "logits"),
        ("TIME '10:00:00' AS t", "time"),
        ("[won] AS won", "label"),
        ("(w > 0) AS w", "sample_weight"),
    ],
)
def test_types_that_cannot_be_are_refused(cast, role):
    connection = duckdb.connect()
    connection.register("given", arrow(GOOD))
    table = connection.sql(f"SELECT * REPLACE ({cast}) FROM given")
    with pytest.raises(InputError, match=f"{role} names the column"):
        fit_table(table)

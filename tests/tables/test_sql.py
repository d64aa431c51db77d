"""SQL that is run gives the probabilities that arrays get."""

import math
import sqlite3

import duckdb
import numpy as np
import pytest
import sqlglot

import tempocal as tc
from formula.random_models import (
    assert_same,
    columns_of,
    names,
    random_model,
    random_rows,
    rounding_of_odds,
)
from support.calibrators import simulate
from tables.conftest import lacking
from tables.engines import as_floats, make
from tempocal.errors import InputError
from tempocal.maps import Curves, Scale, StepBasis
from tempocal.predictor import Predictor
from tempocal.tables.select_statement import identifier
from tempocal.tables.sql import to_sql

pytestmark = [
    pytest.mark.filterwarnings("ignore:.*:FutureWarning"),
    pytest.mark.filterwarnings("ignore:.*:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:.*:ResourceWarning"),
]
DIALECTS = ["duckdb", "sqlite", "postgres", "spark"]
OTHERS = ["bigquery", "snowflake", "redshift", "databricks", "trino", "mysql", "tsql", "clickhouse"]
NASTY = [
    ['a"b', "x'); drop table t; --", "größe 🎾"],
    ["select", "a`b", "a]b"],
    ["a\\b", " ", "--"],
]


def quoted(name, dialect):
    return sqlglot.exp.to_identifier(name, quoted=True).sql(dialect)


def in_duckdb(columns, statement, request):
    connection = duckdb.connect()
    connection.register("predictions", make("pyarrow", columns))
    return connection.execute(statement).fetchall()


def in_sqlite(columns, statement, request):
    connection = sqlite3.connect(":memory:")
    try:
        connection.execute("SELECT exp(1), ln(1)")
    except sqlite3.OperationalError:
        lacking("a SQLite with math functions")
    fill(connection.execute, connection.executemany, columns, "REAL", "?")
    found = connection.execute(statement).fetchall()
    connection.close()
    return found


def in_postgres(columns, statement, request):
    cursor = request.getfixturevalue("postgres").cursor()
    cursor.execute("DROP TABLE IF EXISTS predictions")
    fill(cursor.execute, cursor.executemany, columns, "DOUBLE PRECISION", "%s")
    return cursor.execute(statement).fetchall()


def fill(execute, execute_many, columns, kind, mark):
    declared = ", ".join(f"{quoted(name, 'postgres')} {kind}" for name in columns)
    execute(f"CREATE TABLE predictions ({declared})")
    rows = list(zip(*(np.asarray(c, dtype=object).tolist() for c in columns.values()), strict=True))
    execute_many(f"INSERT INTO predictions VALUES ({', '.join([mark] * len(columns))})", rows)


def in_spark(columns, statement, request):
    session = request.getfixturevalue("spark")
    make("spark", columns, session).createOrReplaceTempView("predictions")
    return [tuple(row) for row in session.sql(statement).collect()]


RUN = {"duckdb": in_duckdb, "sqlite": in_sqlite, "postgres": in_postgres, "spark": in_spark}


@pytest.fixture(params=DIALECTS)
def run(request):
    """Return what runs a statement on a table of columns and gives its last columns, by id."""

    def run_on(columns, statement, count):
        rows = sorted(RUN[request.param](columns, statement, request), key=lambda row: row[0])
        return np.stack([as_floats(column) for column in list(zip(*rows, strict=True))[-count:]], 1)

    run_on.dialect = request.param
    return run_on


def written(model, dialect, **options):
    scores, times = names(model)
    return to_sql(model, dialect, **{model.inputs: scores, "time": times or None}, **options)


# Spark, which takes seconds for each, is given the others as a table in `test_apply.py`.
SPARK_SEEDS = [290, 301, 202, 214]
SEEDS = [*SPARK_SEEDS, 131, 64, 387, 221]


@pytest.mark.parametrize(
    ("run", "seed"),
    [
        (dialect, seed)
        for dialect in DIALECTS
        for seed in (SPARK_SEEDS if dialect == "spark" else SEEDS)
    ],
    indirect=["run"],
)
def test_sql_gives_what_arrays_give(run, seed):
    model = random_model(seed)
    z, time = random_rows(model, seed + 1)
    columns = {"id": np.arange(len(z)), **columns_of(z, time)}
    sql = written(model, run.dialect)
    found = run(columns, sql.select("predictions", keep=["id"]), len(sql.formulas))
    wanted = model.predict_proba(z, time)
    room = rounding_of_odds(model, z, time)
    if len(model.classes) == 2:
        wanted, room = wanted[:, 1:], room[:, 1:]
    assert_same(found, wanted, z, room=room)
    if len(model.classes) == 2:
        alone = run(columns, f"SELECT id, {sql} AS p FROM predictions", 1)
        assert_same(alone, wanted, z, room=room)


def test_several_classes_in_one_plain_query(run):
    z, y = simulate(3, 80)
    cal = tc.VectorScaling().fit(z, y)
    sql = cal.to_sql(run.dialect)
    columns = {"id": np.arange(80), **columns_of(z, None)}
    assert list(sql.columns) == ["calibrated_0", "calibrated_1", "calibrated_2"]
    found = run(columns, sql.select("predictions"), 3)
    np.testing.assert_allclose(found, cal.predict_proba(z), rtol=1e-12)
    first = " ".join(sql.columns["calibrated_0"].split())
    assert " ".join(str(sql).split()).startswith(f"{first} AS ")


def test_null_gives_null(run):
    steps = Curves("scale", (StepBasis(np.array([0.0, 1.0]), "error"),), (np.ones((2, 1)),))
    model = Predictor("", np.arange(2), "logits", 1, steps, ("number",))
    columns = {
        "id": np.arange(5.0),
        "z": [None, 1.0, 2e16, 1.0, 0.0],
        "t": [0.0, None, 1.0, 0.5, 1.0],
    }
    found = run(columns, to_sql(model, run.dialect).select("predictions", keep=["id"]), 1)
    np.testing.assert_array_equal(found[:, 0], [np.nan] * 4 + [0.5])


def test_thousands_of_steps(run):
    rng = np.random.default_rng(0)
    # Spark takes 2,048 as well, and half a minute for them.
    n = 256 if run.dialect == "spark" else 2048
    steps = StepBasis(np.cumsum(rng.integers(1, 4, n)).astype(float), "nearest")
    curves = Curves("scale", (steps,), (rng.random((n, 1)),))
    model = Predictor("", np.arange(2), "logits", 1, curves, ("number",))
    z, time = rng.normal(size=200), rng.integers(-5, 5000, 200) / 2
    columns = {"id": np.arange(200), "z": z, "t": time}
    found = run(columns, to_sql(model, run.dialect).select("predictions"), 1)
    np.testing.assert_allclose(found[:, 0], model.predict_proba(z, time)[:, 1], rtol=1e-12)


# Where older versions of sqlglot could not quote a backslash in a name.
SQLGLOT = tuple(map(int, sqlglot.__version__.split(".")[:2]))
BACKSLASHES_ESCAPE = {"clickhouse"} if SQLGLOT < (30, 22) else set()
if SQLGLOT < (28, 7):
    BACKSLASHES_ESCAPE |= {"bigquery", "snowflake", "redshift", "databricks", "spark", "mysql"}


def refused(model, dialect, words):
    """Say whether this version of sqlglot cannot quote the words, which must then be refused."""
    if "a\\b" not in words or dialect not in BACKSLASHES_ESCAPE:
        return False
    with pytest.raises(InputError, match="cannot be quoted as a name"):
        to_sql(model, dialect, logits=words)
    return True


@pytest.mark.parametrize("words", NASTY)
def test_any_name_of_a_column_and_a_class_will_do(run, words):
    model = Predictor("", np.array(words), "logits", 3, Scale(0.5))
    if refused(model, run.dialect, words):
        return
    sql = to_sql(model, run.dialect, logits=words)
    z = np.array([[1.0, 2.0, 3.0]])
    columns = {"id": np.arange(1), **dict(zip(words, z.T, strict=True))}
    assert list(sql.formulas) == [f"calibrated_{word}" for word in words]
    found = run(columns, sql.select("predictions", keep=["id", *words]), 3)
    np.testing.assert_allclose(found, model.predict_proba(z), rtol=1e-12)


@pytest.mark.parametrize("dialect", DIALECTS + OTHERS)
@pytest.mark.parametrize("words", NASTY)
def test_every_dialect_reads_back_one_expression(dialect, words):
    model = Predictor("", np.array(words), "logits", 3, Scale(0.5))
    if refused(model, dialect, words):
        return
    sql = to_sql(model, dialect, logits=words)

    def stored(name):  # Snowflake has plain names in capitals
        return identifier(name, dialect).name

    statement, *more = sqlglot.parse(sql.select([words[0], "t"], keep=["b"]), dialect=dialect)
    assert not more
    assert {table.name for table in statement.find_all(sqlglot.exp.Table)} == {stored("t")}
    assert [each.alias for each in statement.selects[1:]] == [
        stored(f"calibrated_{w}") for w in words
    ]
    inner = list(statement.find_all(sqlglot.exp.Select))[-1]
    assert {column.name for column in inner.find_all(sqlglot.exp.Column)} == {
        *map(stored, words),
        stored("b"),
    }


def test_numbers_keep_all_their_digits():
    model = Predictor("", np.arange(2), "logits", 1, Scale(0.1 + 0.2))
    assert "CAST(3.0000000000000004e-01 AS DOUBLE)" in str(to_sql(model))
    assert "CAST(-1.7976931348623157e+308 AS DOUBLE PRECISION)" in str(to_sql(model, "postgres"))


def test_mistakes_are_worded():
    model = Predictor("", np.arange(2), "logits", 1, Scale(0.5))
    with pytest.raises(InputError, match="dialect must be one of"):
        to_sql(model, "excel")
    with pytest.raises(InputError, match="cannot be quoted"):
        to_sql(model, logits="a\0b")
    with pytest.raises(InputError, match="cannot be quoted"):
        to_sql(model).select("")
    with pytest.raises(InputError, match="is the name of a column to be added"):
        to_sql(model).select("t", keep=["calibrated"])
    with pytest.raises(InputError, match="leave time out"):
        to_sql(model, time="t")
    with pytest.raises(InputError, match="one name, or two or three"):
        to_sql(model).select(["a", "b", "c", "d"])


def test_what_would_be_too_long_in_one_piece_says_what_to_do():
    z, y = simulate(3, 200)
    sql = tc.BetaCalibration(shrinkage=1.0).fit(z, y).to_sql()
    with pytest.raises(InputError, match=r"select\(table, keep="):
        str(sql)
    assert len(sql.select("t", keep=["id"])) < 20_000


def test_the_usual_names_of_columns():
    z, y = simulate(2, 50)
    p = 1 / (1 + np.exp(-z))
    sql = str(tc.TemperatureScaling(inputs="proba").fit(p, y).to_sql())
    found = duckdb.sql(f"SELECT {sql} FROM (SELECT 0.25 AS p)").fetchall()[0][0]
    cal = tc.TemperatureScaling(inputs="proba").fit(p, y)
    assert math.isclose(found, cal.predict_proba([0.25])[0, 1], rel_tol=1e-12)

"""Indented SQL is the same SQL."""

import duckdb
import numpy as np
import pyarrow as pa
import pytest
import sqlglot
from sqlglot.optimizer.normalize_identifiers import normalize_identifiers

import tempocal as tc
from tempocal.errors import InputError
from tempocal.tables import select_statement
from tempocal.tables.indent import indented

DIALECTS = ["duckdb", "postgres", "snowflake", "bigquery", "spark", "sqlite", "tsql"]
M = tc.datasets.simulate_match(80)


@pytest.fixture(scope="module")
def cal():
    cal = tc.TemporalCalibrator(tc.BetaCalibration(), tc.Spline(intervals=4))
    return cal.fit(M.logits, M.label, time=M.time, groups=M.sequence)


def test_only_spaces_between_words_change():
    name = '"a  WHEN ""b"", FROM c"'
    case = f"CASE WHEN (1 < 2) THEN F(1, 2) ELSE {name} END AS x"
    text = f"SELECT {name}, {case} FROM (SELECT 1 FROM t OFFSET 0) AS q"
    found = indented(text, [name])
    assert found.count(name) == 2
    assert "".join(found.split()) == "".join(text.split())
    assert found.splitlines()[:3] == ["SELECT", f"  {name},", "  CASE"]
    last = ["FROM (", "  SELECT", "    1", "  FROM t", "  OFFSET 0", ") AS q"]
    assert found.splitlines()[-6:] == last


@pytest.mark.parametrize("dialect", DIALECTS)
def test_statements_are_indented_and_parse_to_what_they_were(cal, dialect, monkeypatch):
    sql = cal.to_sql(dialect)
    makers = (
        lambda: sql.select("p", keep=["id", "a  b"]),
        lambda: sql.select("p"),
        lambda: next(iter(type(sql)(sql.dialect, sql.formulas).columns.values())),
    )
    for make in makers:
        lines = make().splitlines()
        assert len(lines) > 5
        assert not any(line != line.rstrip() or "\t" in line for line in lines)
        with monkeypatch.context() as patch:
            patch.setattr(select_statement, "indented", lambda text, names: text)
            flat = make()
        assert "\n" not in flat
        parsed = [sqlglot.parse_one(text, dialect=dialect) for text in ("\n".join(lines), flat)]
        assert parsed[0] == parsed[1]


def test_a_statement_of_a_megabyte_is_refused_with_a_way_out(cal, monkeypatch):
    monkeypatch.setattr(select_statement, "MAX_CHARACTERS", 1000)
    with pytest.raises(InputError, match=r"databases take 1,000: write select\(table, keep"):
        cal.to_sql().select("p")
    with pytest.raises(InputError, match="export the model as ONNX or Python instead"):
        cal.to_sql().select("p", keep=["id"])


@pytest.mark.parametrize("dialect", ["snowflake", "oracle"])
def test_plain_names_are_those_that_the_database_stores(cal, dialect):
    sql = cal.to_sql(dialect, logits="z", time="t")
    written = sqlglot.parse_one(sql.select(["raw", "games"], keep=["id", "Id 2"]), dialect=dialect)
    (table,) = written.find_all(sqlglot.exp.Table)
    by_hand = sqlglot.parse_one("select id, z, t, calibrated from raw.games", dialect=dialect)
    resolved = normalize_identifiers(by_hand, dialect=dialect)
    (expected,) = resolved.find_all(sqlglot.exp.Table)
    assert [part.name for part in table.parts] == [part.name for part in expected.parts]
    names = {column.name for column in written.find_all(sqlglot.exp.Column)}
    wanted = {column.name for column in resolved.find_all(sqlglot.exp.Column)}
    assert wanted - names <= {"CALIBRATED"}
    assert written.named_selects == ["ID", "Id 2", "CALIBRATED"]


def test_names_in_double_quotes_stay_as_they_are(cal):
    text = cal.to_sql("snowflake", logits='"z"', time="T").select('"games"')
    assert 'FROM "games"' in text
    assert '"z"' in text
    assert '"T"' in text
    with pytest.raises(InputError, match="'t' and 'T' are the same name in snowflake"):
        cal.to_sql("snowflake", logits="t", time="T")
    assert '"calibrated"' in cal.to_sql("duckdb").select("games")


def test_what_is_indented_gives_the_same_numbers(cal):
    rows = pa.table({"id": np.arange(50), "z": M.logits[:50], "t": M.time[:50]})
    connection = duckdb.connect()
    connection.register("rows", rows)
    found = connection.execute(cal.to_sql().select("rows", keep=["id"])).fetchnumpy()
    expected = cal.predict_proba(M.logits[:50], time=M.time[:50])[:, 1]
    np.testing.assert_allclose(found["calibrated"], expected, rtol=1e-12)

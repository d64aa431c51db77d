"""Files with something wrong with them: read rightly, or refused with a sentence that says what."""

import gzip

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest
from pyarrow import parquet

import tempocal as tc
from doors.doors import DOORS, arrow, fit_command, fit_table, write_csv, write_parquet
from doors.test_doors import GOOD, OTHERS_WARNINGS, answers
from tempocal.errors import InputError, TableError

pytestmark = OTHERS_WARNINGS


@pytest.fixture(scope="module")
def wanted():
    return answers(DOORS["arrays"](GOOD, None))


def close(model, wanted):
    np.testing.assert_allclose(answers(model), wanted, rtol=0, atol=1e-7)


@pytest.mark.parametrize("name", ["a[1].csv", "a*.csv", "a?.csv", "{a,b}.csv", "a b'c\".csv"])
def test_a_name_that_is_a_pattern_is_a_file_if_there_is_one(name, tmp_path, wanted):
    write_csv(tmp_path, GOOD).rename(tmp_path / name)
    other = {**GOOD, "won": [1 - won for won in GOOD["won"]]}
    for decoy in ("a1.csv", "ab.csv", "a.csv"):
        write_csv(tmp_path, other).rename(tmp_path / decoy)
    close(fit_table(tmp_path / name), wanted)


def test_a_pattern_reads_all_parts(tmp_path, wanted):
    table, half = arrow(GOOD), len(GOOD["z"]) // 2
    parquet.write_table(table.slice(0, half), tmp_path / "part-0.parquet")
    parquet.write_table(table.slice(half), tmp_path / "part-1.parquet")
    close(fit_table(tmp_path / "part-*.parquet"), wanted)
    with pytest.raises(InputError, match="cannot be read"):
        fit_table(tmp_path / "other-*.parquet")


@pytest.mark.parametrize("column", ["z", "won", "t", "id", "w"])
def test_parts_of_mixed_types_are_refused(column, tmp_path):
    whole = {**GOOD, column: [int(one) for one in GOOD[column]]}
    parquet.write_table(arrow(whole), tmp_path / "part-0.parquet")
    other = {**GOOD, column: [float(one) for one in GOOD[column]]}
    parquet.write_table(arrow(other), tmp_path / "part-1.parquet")
    with pytest.raises(InputError, match=f"column '{column}' is .* all files of a table must have"):
        fit_table(tmp_path / "part-*.parquet")


def test_parts_without_a_column_are_refused(tmp_path):
    parquet.write_table(arrow(GOOD), tmp_path / "part-0.parquet")
    parquet.write_table(arrow(GOOD).drop_columns(["z"]), tmp_path / "part-1.parquet")
    with pytest.raises(InputError, match="z"):
        fit_table(tmp_path / "part-*.parquet")


def test_fractions_after_many_whole_numbers_are_not_rounded(tmp_path):
    n = 60_000
    rng = np.random.default_rng(0)
    z = np.where(np.arange(n) < n - 2000, rng.integers(-3, 4, n), rng.normal(size=n))
    won = (rng.random(n) < 1 / (1 + np.exp(-0.5 * z))).astype(int)
    path = tmp_path / "rows.csv"
    texts = [f"{one:.0f}" if one == int(one) else repr(float(one)) for one in z]
    lines = [f"{text},{y}\n" for text, y in zip(texts, won, strict=True)]
    path.write_text("z,won\n" + "".join(lines))
    found = tc.TemperatureScaling().fit_table(path, logits="z", label="won")
    one = tc.TemperatureScaling().fit(z, won)
    np.testing.assert_allclose(found.inverse_temperature_, one.inverse_temperature_, rtol=1e-9)


def test_csv_files_are_put_together_by_name(tmp_path, wanted):
    half = len(GOOD["z"]) // 2
    first = {name: values[:half] for name, values in GOOD.items()}
    second = {name: GOOD[name][half:] for name in reversed(list(GOOD))}
    write_csv(tmp_path, first).rename(tmp_path / "part-0.csv")
    write_csv(tmp_path, second).rename(tmp_path / "part-1.csv")
    close(fit_table(tmp_path / "part-*.csv"), wanted)
    write_csv(tmp_path, {**second, "more": second["z"]}).rename(tmp_path / "part-1.csv")
    close(fit_table(tmp_path / "part-*.csv"), wanted)
    del second["z"]
    write_csv(tmp_path, second).rename(tmp_path / "part-1.csv")
    with pytest.raises(InputError, match=r"part-1\.csv has no column 'z'"):
        fit_table(tmp_path / "part-*.csv")


@pytest.mark.parametrize("name", ["Z", "z ", " z"])
def test_names_that_differ_by_case_or_blanks_are_refused(name, tmp_path):
    path = write_csv(tmp_path, {name: [0.5] * len(GOOD["z"]), **GOOD})
    with pytest.raises(InputError, match="several columns"):
        fit_table(path)


def test_ids_that_look_like_comments_are_ids(tmp_path, wanted):
    ids = [f"#{m}" if m % 3 == 0 else str(m) for m in GOOD["id"]]
    path = write_csv(tmp_path, {"id": ids, **{n: GOOD[n] for n in ("z", "won", "t", "w")}})
    close(fit_table(path), wanted)


def test_a_row_without_a_prediction_has_no_probability(tmp_path):
    path = write_csv(tmp_path, {**GOOD, "z": [None, *GOOD["z"][1:]]})
    cal = tc.TemperatureScaling().fit(GOOD["z"], GOOD["won"])
    found = cal.apply_table(path, logits="z").project("calibrated").fetchall()
    assert [k for k, (p,) in enumerate(found) if p is None] == [0]
    with pytest.raises(InputError, match="logits in 'z' must not be missing, but they are in 1 r"):
        fit_table(path)


def test_a_column_twice_in_csv_is_refused(tmp_path):
    path = write_csv(tmp_path, GOOD)
    lines = path.read_text().splitlines()
    path.write_text("\n".join(f"{line},{'z' if k == 0 else 0.5}" for k, line in enumerate(lines)))
    with pytest.raises(InputError, match="several columns 'z'"):
        fit_table(path)


def test_named_time_zones_are_refused(tmp_path):
    times = [f"2026-05-01 10:{int(t):02d}:00 Europe/Berlin" for t in GOOD["t"]]
    with pytest.raises(InputError, match="dates such as 2026-05-01"):
        fit_table(write_csv(tmp_path, {**GOOD, "t": times}))


@pytest.mark.parametrize("words", [("-1", "+1"), (" 0", " 1"), ("-1", " 1")])
def test_labels_with_a_sign_are_numbers(words, tmp_path):
    path = write_csv(tmp_path, {**GOOD, "won": [words[won] for won in GOOD["won"]]})
    assert fit_table(path).classes_.tolist() == [int(words[0]), int(words[1])]
    assert fit_command(path).classes_.tolist() == [int(words[0]), int(words[1])]


def test_parts_of_other_writers_and_widths_are_one_table(tmp_path, wanted):
    table, half = arrow(GOOD), len(GOOD["z"]) // 2
    text = table.set_column(3, "id", table["id"].cast("string"))
    parquet.write_table(text.slice(0, half), tmp_path / "part-0.parquet")
    name = str(tmp_path / "part-1.parquet")
    connection = duckdb.connect()
    connection.register("given", text.slice(half))
    connection.execute(f"COPY (SELECT * REPLACE (won::INT AS won) FROM given) TO '{name}'")
    close(fit_table(tmp_path / "part-*.parquet"), wanted)


def rewritten(change):
    def write(folder):
        path = write_csv(folder, GOOD)
        path.write_bytes(change(path.read_bytes()))
        return path

    return write


READ = {
    "CRLF": lambda text: text.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n"),
    "LF": lambda text: text.replace(b"\r\n", b"\n"),
    "a byte order mark": lambda text: b"\xef\xbb\xbf" + text,
    "semicolons": lambda text: text.replace(b",", b";"),
    "tabs": lambda text: text.replace(b",", b"\t"),
    "no line end at the end": lambda text: text.rstrip(),
    "quotes around everything": lambda text: b"\n".join(
        b",".join(b'"' + field + b'"' for field in line.split(b",")) for line in text.split()
    ),
    "spaces around numbers": lambda text: b"\n".join(
        line if k == 0 else b" " + line.replace(b",", b" ,", 1)
        for k, line in enumerate(text.split())
    ),
}


@pytest.mark.parametrize("kind", READ)
def test_csv_of_many_programs_is_read(kind, tmp_path, wanted):
    close(fit_table(rewritten(READ[kind])(tmp_path)), wanted)


REFUSED = {
    "nothing": lambda text: b"",
    "a header alone": lambda text: text.split(b"\r\n")[0] + b"\r\n",
    "no header": lambda text: text.split(b"\r\n", maxsplit=1)[1],
    "not UTF-8": lambda text: text.replace(b"\r\n", b"\xe9\r\n", 9),
    "UTF-16": lambda text: text.decode().encode("utf-16"),
    "a row that is too short": lambda text: text.replace(text.split(b"\r\n")[9], b"1,0"),
    "a row that is too long": lambda text: text.replace(b"\r\n", b",5,5\r\n", 9),
    "a column twice": lambda text: text.replace(b"z,won,t,id,w", b"z,won,t,id,z", 1),
    "words among numbers": lambda text: text.replace(text.split(b"\r\n")[9], b"n/a,0,1,1,1"),
    "decimal commas": lambda text: text.replace(b",", b";").replace(b".", b","),
    "underscores in numbers": lambda text: text.replace(text.split(b"\r\n")[9], b"1_0,0,1,1,1"),
    "a line before the header": lambda text: b"# exported\r\n" + text,
    "a binary file": lambda text: bytes(range(256)) * 99,
    "a Parquet file": lambda text: b"PAR1" + bytes(999),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_csv_that_is_damaged_is_refused(kind, tmp_path):
    with pytest.raises(InputError) as caught:
        fit_table(rewritten(REFUSED[kind])(tmp_path))
    assert "\n" not in str(caught.value).strip()


def test_days_are_not_guessed_from_months(tmp_path):
    path = write_csv(tmp_path, {**GOOD, "t": [f"0{int(t) % 9 + 1}/02/2026" for t in GOOD["t"]]})
    with pytest.raises(InputError, match="dates such as 2026-05-01"):
        fit_table(path)


def test_times_with_and_without_a_zone_are_not_mixed(tmp_path):
    zones = ("", "Z")
    times = [f"2026-05-01T10:{int(t):02d}:00{zones[k % 2]}" for k, t in enumerate(GOOD["t"])]
    with pytest.raises(InputError, match="with a time zone and dates without"):
        fit_table(write_csv(tmp_path, {**GOOD, "t": times}))


@pytest.mark.parametrize("cut", [0.0, 0.2, 0.6, 0.95])
def test_parquet_that_is_cut_is_refused(cut, tmp_path):
    path = write_parquet(tmp_path, GOOD)
    whole = path.read_bytes()
    path.write_bytes(whole[: int(cut * len(whole))])
    with pytest.raises(InputError, match="cannot be read"):
        fit_table(path)


def test_a_file_that_is_packed_is_read(tmp_path, wanted):
    path = write_csv(tmp_path, GOOD)
    packed = tmp_path / "rows.csv.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    close(fit_table(packed), wanted)
    packed.write_bytes(packed.read_bytes()[:-30])
    with pytest.raises(InputError):
        fit_table(packed)


@pytest.mark.parametrize("path", ["a\0b.csv", b"rows.csv", "", "rows.xlsx", "rows"])
def test_what_is_no_path_is_refused(path):
    with pytest.raises(InputError, match="table is"):
        fit_table(path)


def test_other_columns_pass_through_as_they_stand(tmp_path):
    spelled = [("1e3", "1000", "1.10", "1.1", "abc")[m % 5] for m in GOOD["id"]]
    names = [f"{m:03d}" for m in GOOD["id"]]
    path = write_csv(tmp_path, {**GOOD, "name": names, "spelled": spelled})
    cal = tc.TemperatureScaling().fit(GOOD["z"], GOOD["won"])
    found = cal.apply_table(path, logits="z")
    assert found.project("name").fetchall()[0] == (f"{GOOD['id'][0]:03d}",)
    assert [one for (one,) in found.project("spelled").fetchall()] == spelled
    kinds = dict(zip(found.columns, map(str, found.types), strict=True))
    assert kinds == {
        **dict.fromkeys(("z", "w", "t", "calibrated"), "DOUBLE"),
        **dict.fromkeys(("won", "id"), "BIGINT"),
        **dict.fromkeys(("name", "spelled"), "VARCHAR"),
    }


class TestNaN:
    """NaN in Parquet is seen by everything that reads it, though the file's bounds leave it out."""

    @pytest.fixture
    def path(self, tmp_path):
        columns = {name: list(values) for name, values in GOOD.items()}
        columns["z"][7] = columns["t"][9] = float("nan")
        columns["p"] = (1 / (1 + np.exp(-np.array(columns["z"])))).tolist()
        columns["q"] = [0.5] * len(columns["z"])
        return write_parquet(tmp_path, columns)

    def test_in_metrics(self, path):
        named = {"label": "won", "proba": "p", "time": "w", "groups": "id"}
        for metric in (tc.metrics.nll, tc.metrics.ece):
            with pytest.raises(InputError, match=r"proba in 'p'.* in 1 row"):
                tc.metrics.over_time_table(metric, path, **named)
            with pytest.raises(InputError, match=r"time in 't'.* in 1 row"):
                tc.metrics.over_time_table(metric, path, **{**named, "proba": "q", "time": "t"})

    @pytest.mark.parametrize("name", ["TemperatureScaling", "PlattScaling", "IsotonicCalibration"])
    def test_in_fits(self, path, name):
        with pytest.raises(InputError, match=r"logits in 'z'.* in 1 row"):
            getattr(tc, name)().fit_table(path, logits="z", label="won", groups="id")

    def test_has_no_probability(self, path):
        cal = tc.TemporalCalibrator(tc.PlattScaling(), tc.Spline())
        cal.fit(GOOD["z"], GOOD["won"], time=GOOD["t"], groups=GOOD["id"])
        applied = cal.apply_table(path, logits="z", time="t").project("calibrated").fetchall()
        sql = f"SELECT {cal.to_sql(logits='z', time='t')} FROM '{path}'"
        for found in (applied, duckdb.sql(sql).fetchall()):
            assert [k for k, (p,) in enumerate(found) if p is None] == [7, 9]


class TestTablesThatChange:
    """Rows that are others at each pass are told, not fitted."""

    @pytest.mark.parametrize(
        "query",
        [
            "SELECT * REPLACE (z + random() AS z) FROM given",
            "SELECT * REPLACE (t + random() AS t) FROM given",
            "SELECT * REPLACE ((random() < 0.5)::INT AS won) FROM given",
            "SELECT * REPLACE ((1e6 * random())::INT AS id) FROM given",
            "SELECT * REPLACE (1 + random() AS w) FROM given",
            "SELECT * FROM given WHERE random() < 0.5",
        ],
    )
    def test_are_refused(self, query):
        connection = duckdb.connect()
        connection.register("given", arrow(GOOD))
        with pytest.raises(TableError, match="other rows at each pass"):
            fit_table(connection.sql(query))

    def test_that_grow_are_refused(self):
        connection = duckdb.connect()
        connection.register("given", arrow(GOOD))
        connection.execute("CREATE TABLE rows AS SELECT * FROM given")
        writer = connection.cursor()

        def grow(doing):
            if doing == "summing over all rows":
                writer.execute("INSERT INTO rows SELECT * FROM rows")

        from tempocal.tables.passes import TableWithProgress  # noqa: PLC0415

        writer.register("given", arrow(GOOD))
        with pytest.raises(TableError, match="other rows at each pass"):
            fit_table(TableWithProgress(connection.table("rows"), grow))


@pytest.mark.parametrize(
    "ids",
    [
        pd.Series([pd.NA, *GOOD["id"][1:]], dtype=object),
        pd.Series([np.zeros(2), *GOOD["id"][1:]], dtype=object),
        pd.Series([None, *GOOD["id"][1:]]).astype("category"),
    ],
    ids=["NA", "arrays", "categories"],
)
def test_ids_of_pandas_that_are_none_are_refused(ids):
    with pytest.raises(InputError, match="groups"):
        fit_table(pd.DataFrame(GOOD).assign(id=ids))


@pytest.mark.parametrize("kind", [np.float32, np.float16])
def test_narrow_floats_that_merged_ids_are_refused(kind):
    ids = np.array([2**25 + m for m in GOOD["id"]], dtype=np.float32)
    ids = ids if kind is np.float32 else np.full(len(ids), 4096, dtype=np.float16)
    with pytest.raises(InputError, match="none is rounded"):
        tc.TemperatureScaling().fit(GOOD["z"], GOOD["won"], groups=ids)
    if kind is np.float32:
        with pytest.raises(InputError, match="none is rounded"):
            fit_table(pl.DataFrame(GOOD).with_columns(id=pl.Series(ids)))


def test_a_column_twice_in_pandas_is_refused():
    frame = pd.DataFrame(GOOD)
    with pytest.raises(InputError, match="several columns"):
        fit_table(pd.concat([frame, frame[["z"]]], axis=1))


def test_names_of_columns_may_be_anything(tmp_path, wanted):
    names = {"z": 'lo"git', "won": "select", "t": "Zeit in Minuten", "id": "größe.1", "w": "x0"}
    frame = pl.DataFrame(GOOD).rename(names)
    path = tmp_path / "rows.parquet"
    frame.write_parquet(path)
    frame.write_csv(tmp_path / "rows.csv")
    given = {"logits": names["z"], "label": names["won"], "time": names["t"]}
    given |= {"groups": names["id"], "sample_weight": names["w"]}
    for table in (frame, frame.lazy(), frame.to_pandas(), path, tmp_path / "rows.csv"):
        cal = tc.TemporalCalibrator(tc.TemperatureScaling(), tc.Constant())
        close(cal.fit_table(table, **given), wanted)

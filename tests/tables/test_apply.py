"""Tables of every engine get the probabilities that arrays get."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

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
from support.lanes import usually
from support.matches import rows
from tables.engines import LAZY, NAMES, SPARK_IS_SLOW, as_floats, read
from tempocal.errors import InputError
from tempocal.maps import Curves, Scale, StepBasis
from tempocal.predictor import Predictor
from tempocal.tables.apply import apply_table

pytestmark = [
    pytest.mark.filterwarnings("ignore:.*:FutureWarning"),
    pytest.mark.filterwarnings("ignore:.*:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:.*:ResourceWarning"),
]


spark_is_slow = pytest.mark.parametrize("table_of", SPARK_IS_SLOW, indirect=True)


def applied(model, table, **options):
    scores, times = names(model)
    options |= {model.inputs: scores, "time": times or None}
    return apply_table(model, table, **options)


def added(model, columns):
    if len(model.classes) == 2:
        p = as_floats(columns["calibrated"])
        return np.stack([1.0 - p, p], axis=1)
    return np.stack([as_floats(columns[f"calibrated_{k}"]) for k in model.classes], axis=1)


# Small models: beta, isotonic, exponential, steps, isotonic at steps, spline, Dirichlet.
SEEDS = [290, 115, 202, 131, 64, 387, 221]
# It takes Spark up to ten seconds to plan the others, which it is given as SQL in `test_sql.py`.
SPARK_SEEDS = [131, 64, 387, 221]


PAIRS = [
    (engine, seed) for engine in NAMES for seed in (SPARK_SEEDS if engine == "spark" else SEEDS)
]


@pytest.mark.parametrize(
    ("table_of", "seed"),
    # Steps and a spline on Spark, always; the others with `make test-slow`.
    usually(PAIRS, lambda pair: pair[0] != "spark" or pair[1] in (64, 387)),
    indirect=["table_of"],
)
def test_every_engine_gives_what_arrays_give(table_of, seed):
    model = random_model(seed)
    z, time = random_rows(model, seed + 1)
    columns = {"id": np.arange(len(z)), **columns_of(z, time)}
    found = added(model, read(applied(model, table_of(columns))))
    wanted, room = model.predict_proba(z, time), rounding_of_odds(model, z, time)
    if len(model.classes) == 2:
        found, wanted, room = found[:, 1:], wanted[:, 1:], room[:, 1:]
    assert_same(found, wanted, z, room=room)


def test_the_kind_of_table_stays_and_lazy_stays_lazy(table_of):
    table = table_of({"id": np.arange(3), "z0": np.zeros(3)})
    model = Predictor("", np.arange(2), "logits", 1, Scale(0.5))
    out = applied(model, table)
    assert type(out) is type(table)
    assert (table_of.engine in LAZY) == (not hasattr(out, "shape") or table_of.engine == "duckdb")
    assert list(read(out)) == ["id", "z0", "calibrated"]


def test_null_gives_null_and_nan_no_number(table_of):
    columns = {
        "id": np.arange(4),
        "z0": [None, 1.0, float("nan"), 2e16],
        "t0": [0.0, None, 1.0, 1.0],
    }
    steps = Curves("scale", (StepBasis(np.array([0.0, 1.0]), "error"),), (np.ones((2, 1)),))
    model = Predictor("", np.arange(2), "logits", 1, steps, ("number",))
    found = read(applied(model, table_of(columns)))["calibrated"]
    assert np.isnan(as_floats(found)).all()
    if table_of.engine != "pandas":
        assert list(found) == [None] * 4


def test_unseen_steps_that_are_an_error_give_null(table_of):
    steps = Curves("scale", (StepBasis(np.array([0.0, 1.0]), "error"),), (np.ones((2, 1)),))
    model = Predictor("", np.arange(2), "logits", 1, steps, ("number",))
    columns = {"id": np.arange(2), "z0": np.zeros(2), "t0": np.array([0.5, 1.0])}
    found = as_floats(read(applied(model, table_of(columns)))["calibrated"])
    np.testing.assert_array_equal(found, [np.nan, 0.5])


@spark_is_slow
def test_thousands_of_steps(table_of):
    rng = np.random.default_rng(0)
    # Spark and Ibis take 2,048 as well, and half a minute to be told of them.
    n = 256 if table_of.engine in ("spark", "ibis") else 2048
    steps = StepBasis(np.cumsum(rng.integers(1, 4, n)).astype(float), "nearest")
    model = Predictor(
        "", np.arange(2), "logits", 1, Curves("scale", (steps,), (rng.random((n, 1)),)), ("number",)
    )
    z, time = rng.normal(size=500), rng.integers(-5, 5000, 500) / 2
    columns = {"id": np.arange(500), "z0": z, "t0": time}
    found = added(model, read(applied(model, table_of(columns))))
    np.testing.assert_allclose(found[:, 1], model.predict_proba(z, time)[:, 1], rtol=1e-12)


def test_datetimes_are_counted_in_seconds(table_of):
    z, y, rounds, groups = rows()
    moments = np.datetime64("1969-12-31T23:59:00", "us") + (rounds * 7.5e6).astype("m8[us]")
    cal = tc.TemporalCalibrator(tc.TemperatureScaling(), tc.Spline())
    cal.fit(z, y, time=moments, groups=groups)
    moments[:4] = np.array(
        ["1900-03-01", "2000-02-29T12:34:56.789", "2100-12-31", "1968-02-29"], dtype="M8[us]"
    )
    table = table_of({"id": np.arange(len(z)), "z": z, "t": moments})
    found = as_floats(read(cal.apply_table(table, logits="z", time="t"))["calibrated"])
    np.testing.assert_allclose(found, cal.predict_proba(z, moments)[:, 1], rtol=1e-12)


@spark_is_slow
def test_any_name_of_a_column_will_do(table_of):
    names = ['a"b', "x'); drop table t; --", "größe 🎾", "select", " "]
    z = np.random.default_rng(0).normal(size=(4, 5))
    model = Predictor("", np.arange(5), "logits", 5, Scale(0.5))
    table = table_of({"id": np.arange(4), **dict(zip(names, z.T, strict=True))})
    out = read(apply_table(model, table, logits=names))
    np.testing.assert_allclose(added(model, out), model.predict_proba(z), rtol=1e-12)


def test_names_of_classes_may_be_anything(table_of):
    z, y = simulate(3, 60)
    labels = np.array(['a"b', "größe", "x'); drop table t; --"])
    cal = tc.TemperatureScaling().fit(z, labels[y])
    table = table_of({"id": np.arange(60), **columns_of(z, None)})
    out = read(cal.apply_table(table, logits=["z0", "z1", "z2"], prefix="p"))
    found = np.stack([as_floats(out[f"p_{label}"]) for label in cal.classes_], axis=1)
    np.testing.assert_allclose(found, cal.predict_proba(z), rtol=1e-12)


def test_mistakes_are_worded(table_of):
    cal = tc.TemperatureScaling().fit([-1.0, 2.0, 0.5], [0, 1, 0])
    columns = {"id": np.arange(1), "z": np.zeros(1), "s": np.array(["a"]), "calibrated": np.ones(1)}
    table = table_of(columns)
    for options, words in [
        ({"logits": "x", "prefix": "p"}, "has no column 'x'"),
        ({"logits": "s", "prefix": "p"}, "which must hold numbers"),
        ({"logits": "z"}, "has a column 'calibrated' already"),
        ({"logits": ["z", "id"], "prefix": "p"}, "fitted to 1 column of logits"),
        ({"logits": "z", "time": "id", "prefix": "p"}, "leave time out"),
        ({"proba": "z", "prefix": "p"}, "with logits="),
    ]:
        with pytest.raises(InputError, match=words):
            cal.apply_table(table, **options)


def test_time_must_be_named_and_of_the_kind_of_the_fit():
    z, y, time, groups = rows()
    cal = tc.TemporalCalibrator(curve=tc.Constant()).fit(z, y, time=time, groups=groups)
    table = pd.DataFrame({"z": z, "t": pd.to_datetime(time, unit="s")})
    with pytest.raises(InputError, match="time is missing"):
        cal.apply_table(table, logits="z")
    with pytest.raises(InputError, match="fitted to numbers"):
        cal.apply_table(table, logits="z", time="t")


def test_pandas_keeps_its_index_and_the_order_of_rows():
    cal = tc.TemperatureScaling().fit([-1.0, 2.0, 0.5], [0, 1, 0])
    table = pd.DataFrame({"z": [3.0, 1.0, 2.0]}, index=["c", "a", "a"])
    out = cal.apply_table(table, logits="z")
    assert list(out.index) == ["c", "a", "a"]
    assert list(out["z"]) == [3.0, 1.0, 2.0]
    assert list(table) == ["z"]


@pytest.mark.parametrize("dtype", ["Float64", "Int64", "float32", "int8", "double[pyarrow]"])
def test_numbers_of_any_width_are_taken_as_double(dtype):
    cal = tc.TemperatureScaling().fit([-1.0, 2.0, 0.5], [0, 1, 0])
    table = pd.DataFrame({"z": pd.array([3, 1, 2], dtype=dtype)})
    found = cal.apply_table(table, logits="z")["calibrated"].to_numpy(dtype=float)
    np.testing.assert_allclose(found, cal.predict_proba([3.0, 1.0, 2.0])[:, 1], rtol=1e-12)


def test_durations_and_time_zones():
    z, y, rounds, groups = rows()
    cal = tc.TemporalCalibrator(tc.TemperatureScaling(), tc.Spline())
    durations = (rounds * 1.5e9).astype("m8[ns]")
    cal.fit(z, y, time=durations, groups=groups)
    for table in (pd.DataFrame({"z": z, "t": durations}), pl.DataFrame({"z": z, "t": durations})):
        found = cal.apply_table(table, logits="z", time="t")["calibrated"].to_numpy()
        np.testing.assert_allclose(found, cal.predict_proba(z, durations)[:, 1], rtol=1e-12)
    moments = pd.Series(pd.to_datetime(rounds * 3e3, unit="s", utc=True))
    cal.fit(z, y, time=moments, groups=groups)
    local = pd.DataFrame({"z": z, "t": moments.dt.tz_convert("Asia/Kolkata")})
    for table in (local, pl.from_pandas(local)):
        found = cal.apply_table(table, logits="z", time="t")["calibrated"].to_numpy()
        np.testing.assert_allclose(found, cal.predict_proba(z, moments)[:, 1], rtol=1e-12)


def test_files_become_a_relation(tmp_path):
    cal = tc.TemperatureScaling().fit([-1.0, 2.0, 0.5], [0, 1, 0])
    frame = pl.DataFrame({"id": [0, 1], "z": [1.0, 2.0]})
    frame.write_parquet(tmp_path / "one.parquet")
    frame.with_columns(id=pl.col("id") + 2).write_parquet(tmp_path / "two.parquet")
    frame.write_csv(tmp_path / "one.csv")
    wanted = cal.predict_proba([1.0, 2.0])[:, 1]
    for path, times in [("*.parquet", 2), ("one.parquet", 1), ("one.csv", 1)]:
        out = read(cal.apply_table(str(tmp_path / path), logits="z"))
        np.testing.assert_allclose(as_floats(out["calibrated"]), np.tile(wanted, times), rtol=1e-12)
    for path, words in [("none.parquet", "no such file"), ("x.pkl", "end in"), ("*x.csv", "read")]:
        with pytest.raises(InputError, match=words):
            cal.apply_table(tmp_path / path, logits="z")
    with pytest.raises(InputError, match="table is a list"):
        cal.apply_table([1.0], logits="z")

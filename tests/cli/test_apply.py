"""`apply` keeps all columns and adds what the Python API predicts, to the bit."""

import json
import os
import subprocess
import sys
from itertools import product

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import csv, parquet

import tempocal as tc
from tempocal.cli import calibrate_blocks
from tempocal.files import read_tables

COLUMNS = ("--logits", "z", "--time", "t")
pytestmark = pytest.mark.filterwarnings("ignore::tempocal.errors.AtBoundWarning")


def read(path):
    if path.endswith(".csv"):
        return csv.read_csv(path).to_pandas()
    if path.endswith(".jsonl"):
        with open(path) as file:
            return pd.DataFrame([json.loads(line) for line in file])
    return pd.read_parquet(path)


def expected(model, frame):
    return tc.load(model).predict_proba(frame["z"].to_numpy(), time=frame["t"].to_numpy())


@pytest.mark.parametrize("formats", list(product(["csv", "jsonl", "parquet"], repeat=2)))
def test_every_format_into_every_other(folder, run, model, frame, formats):
    given, wanted = formats
    run("apply", model, f"predictions.{given}", *COLUMNS, "-o", f"out.{wanted}")
    found = read(f"out.{wanted}")
    assert list(found) == [*frame, "calibrated"]
    np.testing.assert_array_equal(found["calibrated"], expected(model, frame)[:, 1])
    pd.testing.assert_frame_equal(found[list(frame)], frame, check_dtype=False)


def test_text_stays_as_it_stands(folder, run, model):
    (folder / "odd.csv").write_text('id,z,t,x\n007,0.50,1,"a,b"\n008,-1.0,2,\n')
    run("apply", model, "odd.csv", *COLUMNS, "-o", "out.csv")
    lines = (folder / "out.csv").read_text().splitlines()
    assert lines[1].startswith('007,0.50,1,"a,b",0.')
    assert lines[2].startswith("008,-1.0,2,,0.")


@pytest.mark.parametrize("ending", ["jsonl", "parquet"])
def test_names_stay_as_they_stand(folder, run, model, ending):
    ids = ["12345678901234560001", "12345678901234560002", "01", "1"]
    (folder / "odd.csv").write_text("id,z,t\n" + "".join(f"{one},0.5,1\n" for one in ids))
    run("apply", model, "odd.csv", *COLUMNS, "-o", f"out.{ending}")
    assert read(f"out.{ending}")["id"].tolist() == ids


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_small_blocks_give_the_same_file(folder, run, model, monkeypatch, ending):
    run("apply", model, f"predictions.{ending}", *COLUMNS, "-o", f"one.{ending}")
    whole = read_tables.stream

    def in_small_blocks(source, *, typed):
        return whole(source, typed=typed, block_bytes=4096)

    monkeypatch.setattr("tempocal.files.stream", in_small_blocks)
    run("apply", model, f"predictions.{ending}", *COLUMNS, "-o", f"two.{ending}")
    assert (folder / f"one.{ending}").read_bytes() == (folder / f"two.{ending}").read_bytes()


def test_many_blocks_are_put_together(folder, run, model, frame, monkeypatch):
    whole = read_tables.stream

    def in_blocks(source, *, typed):
        return whole(source, typed=typed, block_rows=100)

    monkeypatch.setattr("tempocal.files.stream", in_blocks)
    run("apply", model, "predictions.csv", *COLUMNS, "-o", "out.csv")
    found = read("out.csv")["calibrated"]
    np.testing.assert_allclose(found, expected(model, frame)[:, 1], rtol=1e-14)
    frame.assign(z=frame["z"].astype(object).where(frame.index != 249, "x")).to_csv(
        "bad.csv", index=False
    )
    said = run("apply", model, "bad.csv", *COLUMNS, "-o", "bad-out.csv", code=1).err
    assert "--logits: column 'z' must be numbers, but row 250 has 'x'" in said
    assert not os.path.exists("bad-out.csv")


@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_standard_input_and_output(folder, run, model, ending):
    run("apply", model, f"predictions.{ending}", *COLUMNS, "-o", f"out.{ending}")
    stdin = (folder / f"predictions.{ending}").read_bytes()
    words = [] if ending == "csv" else ["--format", "jsonl"]
    found = run("apply", model, "-", *COLUMNS, *words, "-o", "-", stdin=stdin)
    assert found.raw == (folder / f"out.{ending}").read_bytes()
    assert found.err == ""


def test_a_file_can_be_its_own_output(folder, run, model):
    run("apply", model, "predictions.csv", *COLUMNS, "-o", "out.csv")
    run("apply", model, "predictions.csv", *COLUMNS, "-o", "predictions.csv")
    assert (folder / "out.csv").read_bytes() == (folder / "predictions.csv").read_bytes()


def test_three_classes_have_a_column_each(folder, run):
    rng = np.random.default_rng(0)
    z = rng.normal(size=(300, 3))
    y = np.array(["home", "draw", "away"])[(z + rng.gumbel(size=z.shape)).argmax(axis=1)]
    cal = tc.MatrixScaling(shrinkage=1.0, regularization="l2", classes=["home", "draw", "away"])
    cal.fit(z, y).save("k.json")
    pd.DataFrame(z, columns=["a", "b", "c"]).to_parquet("k.parquet")
    run("apply", "k.json", "k.parquet", "--logits", "a,b,c", "-o", "out.parquet")
    found = parquet.read_table("out.parquet")
    names = ["calibrated_home", "calibrated_draw", "calibrated_away"]
    assert found.column_names == ["a", "b", "c", *names]
    np.testing.assert_array_equal(
        np.column_stack([found[name] for name in names]), cal.predict_proba(z)
    )
    run("apply", "k.json", "k.parquet", "--logits", "a,b,c", "--column", "p", "-o", "out.csv")
    assert list(read("out.csv"))[3:] == ["p_home", "p_draw", "p_away"]


def test_probabilities_go_in_as_probabilities(folder, run, refused, frame):
    cal = tc.TemperatureScaling(inputs="proba").fit(frame["p"], frame["won"])
    cal.save("p.json")
    run("apply", "p.json", "predictions.csv", "--proba", "p", "-o", "out.csv")
    np.testing.assert_array_equal(
        read("out.csv")["calibrated"], cal.predict_proba(frame["p"].to_numpy())[:, 1]
    )
    said = refused("apply", "p.json", "predictions.csv", "--logits", "z", "-o", "out.csv")
    assert said.endswith("name columns of them with --proba instead of --logits")
    said = refused("apply", "p.json", "predictions.csv", "--proba", "z", "-o", "out.csv")
    assert "must lie in [0, 1], but row" in said
    assert said.endswith("say --logits")


def test_two_clocks_are_named_together(folder, run, refused, frame):
    time = frame[["t", "series"]].to_numpy(dtype=float)
    surface = tc.Surface(tc.ExponentialDecay(), tc.Spline(intervals=1, smoothness=1.0))
    cal = tc.TemporalCalibrator(tc.TemperatureScaling(shrinkage=1.0), surface)
    cal.fit(frame["z"], frame["won"], time=time).save("two.json")
    run(
        "apply", "two.json", "predictions.csv", "--logits", "z", "--time", "t,series", "-o", "o.csv"
    )
    np.testing.assert_array_equal(
        read("o.csv")["calibrated"], cal.predict_proba(frame["z"].to_numpy(), time=time)[:, 1]
    )
    said = refused("apply", "two.json", "predictions.csv", *COLUMNS, "-o", "o.csv")
    assert said.endswith("with --time (two, comma separated)")


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_dates_are_times(folder, run, frame, ending):
    day = pd.Timestamp("2026-05-01") + pd.to_timedelta(frame["t"], "D")
    cal = tc.TemporalCalibrator(curve=tc.Spline()).fit(frame["z"], frame["won"], time=day)
    cal.save("dated.json")
    dated = frame.assign(t=day if ending == "parquet" else day.dt.strftime("%Y-%m-%d"))
    if ending == "parquet":
        dated.to_parquet("dated.parquet")
    elif ending == "csv":
        dated.to_csv("dated.csv", index=False)
    else:
        dated.to_json("dated.jsonl", orient="records", lines=True, double_precision=15)
    run("apply", "dated.json", f"dated.{ending}", *COLUMNS, "-o", "out.parquet")
    want = cal.predict_proba(frame["z"].to_numpy(), time=day)[:, 1]
    np.testing.assert_allclose(read("out.parquet")["calibrated"], want, rtol=1e-13)


def test_a_column_is_not_overwritten_unless_told(folder, run, refused, model):
    words = ["apply", model, "predictions.csv", *COLUMNS, "-o", "out.csv", "--column", "p"]
    assert refused(*words) == (
        "predictions.csv has a column 'p' already: say --overwrite to replace it, or --column for "
        "another name"
    )
    run(*words, "--overwrite")
    found = read("out.csv")
    assert list(found) == list(read("predictions.csv"))
    run("apply", model, "predictions.csv", *COLUMNS, "-o", "two.csv")
    np.testing.assert_array_equal(found["p"], read("two.csv")["calibrated"])


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--logits", "z"], "the model changes along time: name the column of times with --time"),
        (["--logits", "z,p", "--time", "t"], "fitted to 1 column of logits, but --logits names 2"),
        (["--proba", "p", "--time", "t"], "fitted to logits: name columns of them with --logits"),
        (["--logits", "zz", "--time", "t"], "--logits: predictions.csv has no column 'zz'"),
        (["--logits", "z", "--time", "tt"], "--time: predictions.csv has no column 'tt'"),
        (["--logits", "z", "--time", "note"], "--time: column 'note' must be numbers, or dates"),
    ],
)
def test_what_does_not_go_with_the_model(folder, refused, model, words, said):
    assert said in refused("apply", model, "predictions.csv", *words, "-o", "out.csv")
    assert not os.path.exists("out.csv")


def test_a_model_without_time_takes_none(folder, refused, frame):
    tc.TemperatureScaling().fit(frame["z"], frame["won"]).save("global.json")
    said = refused("apply", "global.json", "predictions.csv", *COLUMNS, "-o", "out.csv")
    assert said == "the model does not change along time: leave out --time"


def test_numbers_where_dates_were(folder, refused, frame):
    day = pd.Timestamp("2026-05-01") + pd.to_timedelta(frame["t"], "D")
    tc.TemporalCalibrator().fit(frame["z"], frame["won"], time=day).save("dated.json")
    said = refused("apply", "dated.json", "predictions.csv", *COLUMNS, "-o", "out.csv")
    assert said.startswith("--time was datetime in the fit and is number now")


@pytest.mark.parametrize("text", ["{}", "", '{\n  "format": "tempocal-model",\n  "schema": 9,\n'])
def test_a_model_file_that_is_none_ends_with_3(folder, refused, text):
    (folder / "bad.json").write_text(text)
    said = refused("apply", "bad.json", "predictions.csv", *COLUMNS, "-o", "out.csv", code=3)
    assert said.startswith("bad.json")


def test_a_model_that_is_not_there_ends_with_1(folder, refused):
    said = refused("apply", "gone.json", "predictions.csv", *COLUMNS, "-o", "out.csv")
    assert said == "gone.json does not exist"


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_a_failure_in_the_middle_leaves_the_old_output(folder, run, model, monkeypatch, ending):
    (folder / f"out.{ending}").write_bytes(b"old")
    whole, blocks = read_tables.stream, []

    def fails_later(self, block, **keywords):
        blocks.append(block)
        if len(blocks) == 3:
            raise MemoryError
        return real(self, block, **keywords)

    real = calibrate_blocks.BlockCalibrator.calibrated
    monkeypatch.setattr(calibrate_blocks.BlockCalibrator, "calibrated", fails_later)
    monkeypatch.setattr(
        "tempocal.files.stream", lambda source, *, typed: whole(source, typed=typed, block_rows=50)
    )
    before = sorted(os.listdir())
    said = run("apply", model, f"predictions.{ending}", *COLUMNS, "-o", f"out.{ending}", code=1)
    assert "not enough memory" in said.err
    assert (folder / f"out.{ending}").read_bytes() == b"old"
    assert sorted(os.listdir()) == before


def test_many_probabilities_instead_of_logits_are_asked_about(folder, run, model):
    said = run("apply", model, "predictions.csv", "--logits", "p", "--time", "t", "-o", "o.csv")
    assert said.err.startswith("Warning: all logits lie in [0, 1]")


def test_one_live_row_is_not(folder, run, model):
    said = run("apply", model, "-", *COLUMNS, "-o", "-", stdin=b"z,t\n0.3,2\n")
    assert said.err == ""
    assert said.out.startswith("z,t,calibrated\n0.3,2,0.")


def test_types_of_parquet_are_kept(folder, run, model):
    table = pa.table(
        {
            "z": pa.array([0.5, 1.5], pa.float32()),
            "t": pa.array([1, 2], pa.int16()),
            "tags": pa.array([["a"], []]),
        }
    )
    parquet.write_table(table, "typed.parquet")
    run("apply", model, "typed.parquet", *COLUMNS, "-o", "out.parquet")
    found = parquet.read_table("out.parquet")
    assert found.schema.types[:2] == table.schema.types[:2]
    assert found.drop_columns(["calibrated"]).to_pylist() == table.to_pylist()


def test_scikit_learn_is_not_imported(folder, model):
    code = (
        "import sys; from tempocal.cli.group import tempocal;"
        f"tempocal(['apply', {str(model)!r}, 'predictions.csv', '--logits', 'z', '--time', 't',"
        " '-o', 'out.csv'], standalone_mode=False);"
        "assert not {'sklearn', 'scipy'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
    assert os.path.exists("out.csv")

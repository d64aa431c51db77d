"""A large file that cannot be read to its end: a sentence that names it, and nothing written."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

import tempocal as tc
from tempocal.errors import TableError

COLUMNS = ("--logits", "z", "--label", "won", "--time", "t", "--sequence", "match")


@pytest.fixture
def damaged(folder, frame):
    """A file whose head and foot are whole, and whose rows are not half way."""
    path = folder / "damaged.parquet"
    rows = pd.concat([frame] * 40, ignore_index=True)
    rows["z"] += np.random.default_rng(0).normal(size=len(rows))
    rows["match"] = np.arange(len(rows)) // 10
    rows["won"] = rows["match"] % 2
    table = pa.Table.from_pandas(rows[["match", "t", "z", "won"]])
    parquet.write_table(table, path, row_group_size=2000)
    content = bytearray(path.read_bytes())
    middle = len(content) // 2
    content[middle : middle + 4000] = b"\xff" * 4000
    path.write_bytes(content)
    return path


@pytest.mark.parametrize("verb", ["fit", "report"])
def test_a_damaged_file_leaves_nothing(damaged, folder, refused, as_large, verb):
    as_large(True)
    (folder / "out").mkdir()
    said = refused(verb, "damaged.parquet", *COLUMNS, "-o", "out/made")
    assert said.startswith("damaged.parquet: the table could not be read to its end while ")
    assert not list((folder / "out").iterdir())


def test_apply_leaves_what_was_there(damaged, folder, refused, model):
    (folder / "out.parquet").write_text("old")
    words = ("--logits", "z", "--time", "t", "-o", "out.parquet")
    said = refused("apply", model, "damaged.parquet", *words)
    assert "damaged.parquet cannot be read as Parquet" in said
    assert (folder / "out.parquet").read_text() == "old"
    assert len(list(folder.glob("*out*"))) == 1


@pytest.mark.parametrize("verb", ["fit", "report", "evaluate"])
def test_a_file_that_was_cut_off(folder, refused, verb):
    content = (folder / "predictions.parquet").read_bytes()
    (folder / "cut.parquet").write_bytes(content[: len(content) // 2])
    words = () if verb == "evaluate" else ("-o", "made")
    said = refused(verb, "cut.parquet", *COLUMNS, *words)
    assert "cut.parquet cannot be read as Parquet" in said
    assert not (folder / "made").exists()


def test_one_of_many_files_was_cut_off(folder, frame):
    for k in range(3):
        frame[frame["match"] % 3 == k].to_parquet(folder / f"part-{k}.parquet")
    content = (folder / "part-2.parquet").read_bytes()
    (folder / "part-2.parquet").write_bytes(content[:1000])
    named = {"logits": "z", "label": "won", "time": "t", "groups": "match"}
    cal = tc.TemporalCalibrator(tc.TemperatureScaling(), tc.Spline())
    with pytest.raises(TableError, match=r"which cannot be read: .*part-2\.parquet"):
        cal.fit_table(str(folder / "part-*.parquet"), **named)
    assert not hasattr(cal, "map_")
    with pytest.raises(TableError, match=r"part-2\.parquet"):
        tc.assess_table(str(folder / "part-*.parquet"), **named)

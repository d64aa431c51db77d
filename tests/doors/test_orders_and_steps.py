"""Columns in another order than the classes, files of another schema, steps with one row."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from click.testing import CliRunner

import tempocal as tc
from tempocal.cli.group import tempocal
from tempocal.errors import DamagedModelFileError, InputError, SingleRowsWarning
from tempocal.inputs.class_order import classes_in_names

RNG = np.random.default_rng(0)
N = 240
Y = np.array(["a", "b", "c"])[np.arange(N) % 3]
Z = RNG.normal(size=(N, 3)) + 2.0 * (Y[:, None] == ["a", "b", "c"])
ROWS = {"z_a": Z[:, 0], "z_b": Z[:, 1], "z_c": Z[:, 2], "y": Y, "id": np.arange(N) // 4}
MIXED = ["z_b", "z_a", "z_c"]


def command(*words, code=1):
    result = CliRunner().invoke(tempocal, [str(word) for word in words])
    assert result.exit_code == code, result.output
    return result.output


@pytest.mark.parametrize(
    ("names", "found"),
    [
        (["z_b", "z_a", "z_c"], ["b", "a", "c"]),
        (["b", "a", "c"], ["b", "a", "c"]),
        (["b of 3", "c of 3", "a of 3"], ["b", "c", "a"]),
        (["z0", "z1", "z2"], None),
        (["a", "b"], None),
    ],
)
def test_classes_in_names(names, found):
    assert classes_in_names(names, ["a", "b", "c"]) == found
    assert classes_in_names(["p_1", "p_0"], [0, 1]) == [1, 0]


class TestClassesInAnotherOrder:
    def test_in_frames(self):
        frame = pd.DataFrame(ROWS)[MIXED]
        words = (
            r"named \['z_b', 'z_a', 'z_c'\], but the classes come in the order \['a', 'b', 'c'\]"
        )
        with pytest.raises(InputError, match=words):
            tc.TemperatureScaling().fit(frame, Y)
        cal = tc.TemperatureScaling(classes=["b", "a", "c"]).fit(frame, Y)
        assert cal.classes_.tolist() == ["b", "a", "c"]

    @pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pl.LazyFrame])
    def test_in_tables(self, make):
        with pytest.raises(InputError, match=r"say classes=\['b', 'a', 'c'\]"):
            tc.TemperatureScaling().fit_table(make(ROWS), logits=MIXED, label="y")
        cal = tc.TemperatureScaling(classes=["b", "a", "c"])
        cal.fit_table(make(ROWS), logits=MIXED, label="y")
        with pytest.raises(InputError, match="columns of logits are named"):
            cal.apply_table(make(ROWS), logits=["z_a", "z_b", "z_c"])

    def test_on_the_command_line(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        pd.DataFrame(ROWS).to_csv("rows.csv", index=False)
        said = command(
            "fit", "rows.csv", "--logits", ",".join(MIXED), "--label", "y", "-o", "m.json"
        )
        assert "--logits z_b,z_a,z_c is in another order than the classes" in said
        assert "say --logits z_a,z_b,z_c" in said
        words = ["--logits", "z_a,z_b,z_c"]
        command("fit", "rows.csv", *words, "--label", "y", "-o", "m.json", code=0)
        assert "say --logits z_a,z_b,z_c" in command(
            "apply", "m.json", "rows.csv", "--logits", ",".join(MIXED), "-o", "new.csv"
        )


@pytest.mark.parametrize("read", [tc.load, tc.read_model if hasattr(tc, "read_model") else tc.load])
def test_a_file_of_another_schema_is_refused(tmp_path, read):
    path = tmp_path / "m.json"
    tc.TemperatureScaling().fit(Z, Y).save(path)
    read(path)
    path.write_text(path.read_text().replace('"schema": 1', '"schema": 2'))
    with pytest.raises(
        DamagedModelFileError, match="says schema 2, but its content is of schema 1"
    ):
        read(path)


class TestStepsOfOneRow:
    Z1, Y1 = Z[:, 0], (Y == "a").astype(int)
    TIME = RNG.random(N)

    def test_warn(self):
        words = r"240 distinct values in 240 rows.*PerStep\(bins=20\) cuts time into stretches"
        with pytest.warns(SingleRowsWarning, match=words):
            tc.TemporalCalibrator(curve=tc.PerStep()).fit(self.Z1, self.Y1, time=self.TIME)
        table = pl.DataFrame({"z": self.Z1, "y": self.Y1, "t": self.TIME})
        with pytest.warns(SingleRowsWarning, match=words):
            tc.TemporalCalibrator(curve=tc.PerStep()).fit_table(
                table, logits="z", label="y", time="t"
            )

    @pytest.mark.parametrize("curve", [tc.PerStep(bins=4), tc.Spline()], ids=repr)
    def test_others_do_not(self, curve):
        tc.TemporalCalibrator(curve=curve).fit(self.Z1, self.Y1, time=self.TIME)

    def test_steps_with_a_few_rows_do_not(self):
        time = np.arange(N) % 80
        tc.TemporalCalibrator(curve=tc.PerStep()).fit(self.Z1, self.Y1, time=time)

    def test_bins_on_the_command_line(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        pd.DataFrame({"z": self.Z1, "y": self.Y1, "t": self.TIME}).to_csv("r.csv", index=False)
        columns = ("r.csv", "--logits", "z", "--label", "y", "--time", "t")
        fit = ("fit", *columns, "-o", "m.json", "--calibrator")
        said = command(*fit, "isotonic")
        assert "--curve per-step with --bins 20 cuts time into stretches" in said
        command(*fit, "isotonic", "--bins", 4, code=0)
        said = command(*fit, "temperature", "--curve", "per-step", code=0)
        assert "Warning: --time has 240 distinct values" in said
        assert "--bins 20" in said
        command(*fit, "temperature", "--curve", "per-step", "--bins", 4, code=0)
        found = tc.load("m.json").curve
        assert found == tc.PerStep(bins=4)
        said = command(*fit, "temperature", "--curve", "spline", "--bins", 4, code=2)
        assert "--bins 4 cuts steps into stretches: say --curve per-step" in said
        assert "--bins 4 cuts steps" in command("compare", *columns, "--bins", 4, code=2)


@pytest.mark.filterwarnings("ignore::tempocal.errors.TempocalWarning")
@pytest.mark.parametrize("combine", ["choose", "average"])
def test_a_comparison_of_three_rows_says_what_to_expect(combine):
    auto = tc.AutoTemporalCalibrator(combine=combine, folds=2)
    auto.fit([-1.0, 2.0, 0.5], [0, 1, 0], time=[0, 1, 2])
    assert "with fewer than 100 groups" in auto.summary().details["note"]

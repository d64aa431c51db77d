"""What cannot be fitted in a table is told in words."""

import numpy as np
import polars as pl
import pytest

import tempocal as tc
from tables.fits import ROWS, from_table
from tempocal.errors import (
    InputError,
    LooksLikeProbabilitiesWarning,
    MixedLabelsWarning,
    NoFiniteOptimumError,
)


class TestMistakes:
    TABLE = pl.DataFrame(ROWS)

    @pytest.mark.parametrize(
        ("changes", "words"),
        [
            ({"logits": "zz"}, "logits names 'zz', but the table's columns are"),
            ({"label": "zz"}, "label names 'zz'"),
            ({"groups": "zz"}, "groups names 'zz'"),
            ({"sample_weight": "zz"}, "sample_weight names 'zz'"),
            ({"logits": None}, "name the columns of the predictions"),
            ({"logits": "z", "proba": "z"}, "and only them"),
            ({"label": ["won", "t"]}, "label must name one column"),
            ({"label": "z"}, "fractions"),
            ({"label": "t"}, "holds 25 classes"),
            ({"logits": ["a", "b", "c"], "label": "won"}, "2 classes"),
            ({"logits": "name"}, "must hold numbers"),
        ],
    )
    def test_of_names_are_told(self, changes, words):
        table = self.TABLE.with_columns(name=pl.lit("a"))
        with pytest.raises(InputError, match=words):
            tc.PlattScaling().fit_table(table, **{"logits": "z", "label": "won", **changes})

    @pytest.mark.parametrize(
        ("column", "value", "words"),
        [
            ("z", float("nan"), r"logits in 'z': a logit must be a number.* in 1 row$"),
            ("z", 1e200, "within 2\\*\\*53"),
            ("w", -1.0, "sample_weight in 'w' must be from 0 to 1e20"),
            ("w", float("inf"), "sample_weight in 'w'"),
            ("w", 1e-200, "1e-100"),
            ("t", float("nan"), "time in 't' must be finite"),
            ("t", float("inf"), "time in 't' must be finite"),
            ("id", None, "groups in 'id' must not be missing"),
            ("won", None, "label 'won' is missing in 1 row"),
        ],
    )
    def test_of_values_are_told(self, column, value, words):
        first = pl.int_range(pl.len()) == 0
        changed = pl.when(first).then(pl.lit(value)).otherwise(pl.col(column)).alias(column)
        with pytest.raises(InputError, match=words):
            from_table(
                tc.TemporalCalibrator(), self.TABLE.with_columns(changed), time="t", weight="w"
            )

    def test_of_the_whole_are_told(self, tmp_path):
        with pytest.raises(InputError, match="the table is empty"):
            from_table(tc.PlattScaling(), self.TABLE.head(0))
        nothing = self.TABLE.with_columns(w=pl.lit(0.0))
        with pytest.raises(InputError, match="is zero everywhere"):
            from_table(tc.PlattScaling(), nothing, weight="w")
        with pytest.raises(InputError, match="which is not among the classes"):
            from_table(tc.PlattScaling(classes=[0, 5]), self.TABLE)
        with pytest.raises(InputError, match="1 class"):
            from_table(tc.PlattScaling(), self.TABLE.filter(pl.col("won") == 1))
        with pytest.raises(InputError, match="no such file"):
            from_table(tc.PlattScaling(), "nowhere.parquet")
        with pytest.raises(InputError, match="it must be a table"):
            from_table(tc.PlattScaling(), 7)
        with pytest.raises(InputError, match=r"a folder: name its files, as in '.*/\*\.parquet'"):
            from_table(tc.PlattScaling(), tmp_path)

    def test_of_what_tables_cannot_do_are_told(self):
        three = {"names": ("a", "b", "c"), "label": "kind"}
        with pytest.raises(InputError, match="over groups; name the column"):
            from_table(tc.MatrixScaling(), self.TABLE, groups=None, **three)
        with pytest.raises(InputError, match="over groups; name the column"):
            from_table(tc.AutoTemporalCalibrator(), self.TABLE, time="t", groups=None)
        surface = tc.TemporalCalibrator(curve=tc.Surface(tc.Spline(), tc.Spline()))
        with pytest.raises(InputError, match="one clock"):
            from_table(surface, self.TABLE, time="t")
        with pytest.raises(InputError, match="leave time_column out"):
            from_table(tc.TemporalCalibrator(time_column=1), self.TABLE, time="t")
        auto = tc.AutoTemporalCalibrator([(tc.IsotonicCalibration(), tc.PerStep(bins=2))])
        with pytest.raises(InputError, match="cannot be compared on a table"):
            from_table(auto, self.TABLE, time="t")
        wide = {f"x{k}": np.zeros(40) + k for k in range(7)}
        table = pl.DataFrame({**wide, "kind": np.arange(40) % 7})
        with pytest.raises(InputError, match="at most 42"):
            tc.MatrixScaling(shrinkage=1.0).fit_table(table, logits=list(wide), label="kind")

    def test_that_may_be_none_are_warned_of(self):
        table = pl.DataFrame({"z": np.linspace(0.1, 0.9, 60), "won": np.arange(60) % 2})
        with pytest.warns(LooksLikeProbabilitiesWarning):
            tc.PlattScaling().fit_table(table, logits="z", label="won")
        one_odd = np.where(np.arange(len(ROWS["won"])) == 0, 1 - ROWS["won"], ROWS["won"])
        with pytest.warns(MixedLabelsWarning, match="within 1 of 300 groups"):
            from_table(tc.PlattScaling(), self.TABLE.with_columns(won=one_odd))

    def test_rows_that_are_separable_are_told(self):
        z = np.random.default_rng(0).normal(size=(600, 3))
        table = pl.DataFrame({"a": z[:, 0], "b": z[:, 1], "c": z[:, 2], "y": z.argmax(axis=1)})
        three = {"names": ("a", "b", "c"), "label": "y", "groups": None}
        for cal in (tc.VectorScaling(shrinkage=0), tc.TemperatureScaling(shrinkage=0)):
            with pytest.raises(NoFiniteOptimumError):
                from_table(cal, table, **three)

    def test_times_without_digits_are_told(self):
        late = self.TABLE.with_columns(t=2**53 + 3 * pl.col("t").cast(pl.Int64))
        with pytest.raises(InputError, match="lose digits"):
            from_table(tc.TemporalCalibrator(), late, time="t")

    def test_too_many_steps_are_told(self):
        rng = np.random.default_rng(0)
        n = 70_000
        table = pl.DataFrame(
            {"z": rng.normal(size=n), "won": rng.integers(0, 2, n), "t": rng.random(n)}
        )
        cal = tc.TemporalCalibrator(tc.TemperatureScaling(), tc.PerStep())
        with pytest.raises(InputError, match="more than 65536 distinct values"):
            cal.fit_table(table, logits="z", label="won", time="t")

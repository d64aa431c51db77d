"""Fits to tables of every engine give the answer of fits to arrays."""

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone

import tempocal as tc
from support.public_curves import with_every_curve
from tables.engines import NAMES, SPARK_IS_SLOW
from tables.fits import (
    CLOSE,
    ROWS,
    assert_same,
    assert_same_bands,
    decisions,
    from_arrays,
    from_table,
)
from tempocal.errors import InputError
from tempocal.tables import cell_counts, exact_sums, group_ids, surrogate

pytestmark = [
    pytest.mark.filterwarnings("ignore:.*:FutureWarning"),
    pytest.mark.filterwarnings("ignore:.*:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:.*:ResourceWarning"),
]

CURVES = with_every_curve(
    [tc.Constant(), tc.PerStep(), tc.ExponentialDecay(), tc.Spline(), tc.RandomWalk()]
)
BINARY = [tc.TemperatureScaling(), tc.PlattScaling(), tc.BetaCalibration(), tc.VectorScaling()]
spark_is_slow = pytest.mark.parametrize("table_of", SPARK_IS_SLOW, indirect=True)


class TestEngines:
    # Spark is given three classes alike at all times, below.
    @pytest.mark.parametrize("table_of", [name for name in NAMES if name != "spark"], indirect=True)
    def test_of_all_rows_alike(self, table_of):
        assert_same(tc.PlattScaling(), ROWS, table_of(ROWS))

    def test_along_time(self, table_of):
        cal = tc.TemporalCalibrator(tc.TemperatureScaling(), tc.Spline())
        one, other = assert_same(cal, ROWS, table_of(ROWS), time="t", weight="w")
        assert_same_bands(one, other, [0.0, 5.0, 20.0])
        assert other.summary_.details["passes"] <= 12

    @spark_is_slow
    def test_of_several_classes_and_ids_that_are_text(self, table_of):
        rows = {**ROWS, "id": np.array([f"match {k}" for k in ROWS["id"]])}
        assert_same(tc.VectorScaling(), rows, table_of(rows), names=("a", "b", "c"), label="kind")

    @spark_is_slow
    def test_folds_are_the_same_everywhere(self, table_of):
        candidates = [(tc.TemperatureScaling(), tc.Constant()), (tc.PlattScaling(), tc.Constant())]
        # Spark takes seconds for each fold and candidate.
        candidates, folds = (candidates[:1], 2) if table_of.engine == "spark" else (candidates, 5)
        auto = tc.AutoTemporalCalibrator(candidates, folds=folds, progress=False)
        one = from_arrays(auto, ROWS, time="t")
        other = from_table(auto, table_of(ROWS), time="t")
        for a, b in zip(one.comparison_, other.comparison_, strict=True):
            assert a.name == b.name
            assert abs(a.nll - b.nll) < 1e-9
            assert abs(a.nll_error - b.nll_error) < 1e-9
            assert abs(a.ece_over_time - b.ece_over_time) < 1e-9

    def test_missing_numbers_are_refused(self, table_of):
        rows = {"z": [0.5, None, 1.0], "won": [0, 1, 0]}
        with pytest.raises(InputError, match=r"logits in 'z' must not be missing.* in 1 row$"):
            tc.PlattScaling().fit_table(table_of(rows), logits="z", label="won")


class TestCalibratorsAndCurves:
    TABLE = pl.DataFrame(ROWS)

    @pytest.mark.parametrize("curve", CURVES, ids=repr)
    @pytest.mark.parametrize("calibrator", BINARY, ids=lambda cal: type(cal).__name__)
    def test_of_two_classes(self, calibrator, curve):
        cal = tc.TemporalCalibrator(calibrator, curve)
        one, other = assert_same(cal, ROWS, self.TABLE, time="t")
        assert_same_bands(one, other, np.arange(20.0))
        wanted, found = one.summary_.details, other.summary_.details
        assert found.get("thin_steps") == wanted.get("thin_steps")
        np.testing.assert_allclose(found["gain_interval"], wanted["gain_interval"], atol=1e-8)

    @pytest.mark.filterwarnings("ignore:the rate of the exponential")
    @pytest.mark.parametrize("curve", CURVES, ids=repr)
    @pytest.mark.parametrize("calibrator", [tc.TemperatureScaling(), tc.VectorScaling()])
    def test_of_three_classes(self, calibrator, curve):
        cal = tc.TemporalCalibrator(calibrator, curve)
        three = {"names": ("a", "b", "c"), "label": "kind", "time": "t"}
        assert_same(cal, ROWS, self.TABLE, **three)

    @pytest.mark.parametrize(
        "calibrator",
        [
            tc.PlattScaling(),
            tc.BetaCalibration(),
            tc.MatrixScaling(),
            tc.DirichletCalibration(),
            tc.MatrixScaling(shrinkage=1.0),
        ],
    )
    def test_of_three_classes_that_are_alike_at_all_times(self, calibrator):
        assert_same(calibrator, ROWS, self.TABLE, names=("a", "b", "c"), label="kind")

    @pytest.mark.parametrize("curve", [tc.ExponentialDecay(), tc.Spline(), tc.RandomWalk()])
    def test_of_times_that_are_continuous(self, curve):
        cal = tc.TemporalCalibrator(tc.PlattScaling(), curve)
        # As many cells as there are with arrays, whose rows are scored at their own times.
        one = from_arrays(cal, ROWS, time="late")
        other = from_table(cal, self.TABLE, time="late")
        wanted = decisions(one, ROWS, time="late")
        np.testing.assert_allclose(decisions(other, ROWS, time="late"), wanted, rtol=0, atol=CLOSE)

    @pytest.mark.parametrize("shrinkage", [0.0, 5.0, (1.0, 20.0)])
    @pytest.mark.parametrize("curve", CURVES, ids=repr)
    def test_at_strengths_that_are_given(self, curve, shrinkage):
        cal = tc.TemporalCalibrator(tc.PlattScaling(), curve, shrinkage=shrinkage)
        assert_same(cal, ROWS, self.TABLE, time="t")

    @pytest.mark.parametrize(
        "calibrator", [tc.HistogramBinning(), tc.IsotonicCalibration(), tc.BayesianBinning()]
    )
    @pytest.mark.parametrize("time", [None, "t"])
    def test_without_coefficients(self, calibrator, time):
        cal = calibrator if time is None else tc.TemporalCalibrator(calibrator, tc.PerStep(bins=3))
        one = from_arrays(cal, ROWS, time=time)
        other = from_table(cal, self.TABLE, time=time)
        which = {} if time is None else {"time": ROWS["t"]}
        wanted = one.predict_proba(ROWS["z"], **which)
        np.testing.assert_allclose(other.predict_proba(ROWS["z"], **which), wanted, atol=1e-12)
        assert abs(one.summary_.nll_after - other.summary_.nll_after) < 1e-10

    def test_bins_stand_for_values_that_are_too_many(self, monkeypatch):
        monkeypatch.setattr(surrogate, "MAX_VALUES", 100)
        one = from_arrays(tc.IsotonicCalibration(), ROWS).predict_proba(ROWS["z"])
        other = from_table(tc.IsotonicCalibration(), self.TABLE).predict_proba(ROWS["z"])
        assert np.abs(one - other).mean() < 1e-3

    def test_steps_with_few_rows_are_left_out(self):
        cal = tc.TemporalCalibrator(tc.TemperatureScaling(), tc.PerStep(min_rows=250))
        one, other = assert_same(cal, ROWS, self.TABLE, time="t")
        assert len(one.map_.bases[0].times) == len(other.map_.bases[0].times) < 25

    def test_auto_takes_the_usual_candidates(self):
        auto = tc.AutoTemporalCalibrator(progress=False)
        one, other = from_arrays(auto, ROWS, time="t"), from_table(auto, self.TABLE, time="t")
        assert one.comparison_.chosen.name == other.comparison_.chosen.name
        wanted = decisions(one, ROWS, time="t")
        np.testing.assert_allclose(decisions(other, ROWS, time="t"), wanted, rtol=0, atol=CLOSE)


class TestRows:
    def test_may_come_in_any_order(self):
        cal = tc.TemporalCalibrator(tc.PlattScaling(), tc.Spline())
        order = np.random.default_rng(0).permutation(len(ROWS["z"]))
        shuffled = pd.DataFrame(ROWS).iloc[order]
        assert_same(cal, ROWS, shuffled, time="t")

    def test_of_weight_two_are_two(self):
        rows = {name: values[:800] for name, values in ROWS.items()}
        once = pl.DataFrame({**rows, "w": np.where(np.arange(800) % 2, 2.0, 0.0)})
        twice = pl.DataFrame(rows).filter(np.arange(800) % 2 == 1)
        twice = pl.concat([twice, twice])
        cal = tc.TemporalCalibrator(tc.TemperatureScaling(), tc.ExponentialDecay())
        one, other = from_table(cal, once, time="t", weight="w"), from_table(cal, twice, time="t")
        at = {"z": ROWS["z"], "t": ROWS["t"]}
        np.testing.assert_allclose(
            decisions(one, at, time="t"), decisions(other, at, time="t"), atol=CLOSE
        )
        assert one.summary_.n_rows == 400

    def test_may_have_labels_of_any_kind(self):
        named = {**ROWS, "won": np.where(ROWS["won"] == 1, "home", "away")}
        _, other = assert_same(tc.PlattScaling(), named, pl.DataFrame(named))
        assert other.classes_.tolist() == ["away", "home"]
        truth = {**ROWS, "won": ROWS["won"] == 1}
        assert_same(tc.PlattScaling(), truth, pl.DataFrame(truth))
        turned = tc.PlattScaling(classes=[1, 0])
        assert_same(turned, {**ROWS, "z": -ROWS["z"]}, pl.DataFrame({**ROWS, "z": -ROWS["z"]}))

    def test_may_be_probabilities_and_certain(self):
        p = 1 / (1 + np.exp(-ROWS["z"]))
        p[:3] = [0.0, 1.0, 0.5]
        rows = {**ROWS, "z": p}
        assert_same(tc.BetaCalibration(inputs="proba"), rows, pl.DataFrame(rows))
        certain = {**ROWS, "z": np.where(np.arange(len(p)) < 2, np.inf, ROWS["z"])}
        assert_same(tc.PlattScaling(), certain, pl.DataFrame(certain))

    def test_may_go_along_dates(self):
        days = np.datetime64("2026-01-01") + (ROWS["t"] * 24).astype("m8[h]")
        rows = {**ROWS, "t": days.astype("M8[us]")}
        cal = tc.TemporalCalibrator(tc.TemperatureScaling(), tc.Spline())
        one, other = assert_same(cal, rows, pl.DataFrame(rows), time="t")
        assert other.time_kinds_ == one.time_kinds_ == ("datetime",)

    def test_may_be_in_files(self, tmp_path):
        frame = pl.DataFrame(ROWS)
        frame[: len(frame) // 2].write_parquet(tmp_path / "a.parquet")
        frame[len(frame) // 2 :].write_parquet(tmp_path / "b.parquet")
        assert_same(tc.TemperatureScaling(), ROWS, str(tmp_path / "*.parquet"))
        frame.write_csv(tmp_path / "all.csv")
        assert_same(tc.TemperatureScaling(), ROWS, tmp_path / "all.csv")

    def test_of_far_too_large_logits_do_not_spoil_the_bins(self):
        rows = {**ROWS, "z": np.where(np.arange(len(ROWS["z"])) == 7, 1e6, ROWS["z"])}
        cal = tc.TemporalCalibrator(tc.PlattScaling(), tc.Spline(), shrinkage=1.0)
        one, other = from_arrays(cal, rows, time="t"), from_table(cal, pl.DataFrame(rows), time="t")
        wanted = decisions(one, ROWS, time="t")
        np.testing.assert_allclose(decisions(other, ROWS, time="t"), wanted, atol=1e-7)

    def test_that_are_predicted_well_already_are_left_alone(self):
        rng = np.random.default_rng(3)
        z = rng.normal(size=3000)
        rows = {"z": z, "won": (rng.random(3000) < 1 / (1 + np.exp(-z))).astype(int)}
        assert_same(tc.TemperatureScaling(), rows, pl.DataFrame(rows), groups=None)

    def test_at_minus_zero_are_at_zero(self):
        times = np.where((ROWS["t"] == 0) & (ROWS["id"] % 2 == 0), -0.0, 0.37 * ROWS["t"])
        rows = {**ROWS, "t": times}
        cal = tc.TemporalCalibrator(tc.PlattScaling(), tc.Spline())
        assert_same(cal, rows, pl.DataFrame(rows).to_arrow(), time="t")

    @pytest.mark.parametrize("kind", ["category", "object", "uint64"])
    def test_have_folds_by_what_ids_are(self, kind):
        auto = tc.AutoTemporalCalibrator([(tc.TemperatureScaling(), tc.Constant())], progress=False)
        one = from_arrays(auto, ROWS, time="t").comparison_[0]
        frame = pd.DataFrame(ROWS)
        other = from_table(auto, frame.assign(id=frame["id"].astype(kind)), time="t").comparison_[0]
        assert abs(one.nll - other.nll) < 1e-12

    @pytest.mark.parametrize("kind", ["category", "object"])
    def test_keep_what_labels_are(self, kind):
        frame = pd.DataFrame(ROWS)
        cal = from_table(tc.PlattScaling(), frame.assign(won=frame["won"].astype(kind)))
        assert cal.classes_.tolist() == [0, 1]

    def test_may_lie_beside_tables_of_any_name(self):
        connection = duckdb.connect()
        connection.register("rows", pl.DataFrame(ROWS).to_arrow())
        connection.execute("CREATE TABLE small AS SELECT 1 AS key, 2.0 AS theta0")
        cal = tc.TemporalCalibrator(tc.TemperatureScaling(), tc.Spline())
        assert_same(cal, ROWS, connection.sql("SELECT * FROM rows"), time="t")


class TestPasses:
    TABLE = pl.DataFrame(ROWS)

    def test_without_a_second_look_say_how_far_off_they_may_be(self):
        cal = tc.TemporalCalibrator(tc.PlattScaling(), tc.Spline())
        exact = from_table(cal, self.TABLE, time="t")
        quick = from_table(cal, self.TABLE, time="t", exact=False)
        off = np.abs(decisions(exact, ROWS, time="t") - decisions(quick, ROWS, time="t")).max()
        assert off < 1e-3
        assert off <= quick.summary_.details["may_be_off_by"]
        assert quick.summary_.details["passes"] < exact.summary_.details["passes"]

    def test_of_a_coarse_count_are_put_right(self, monkeypatch):
        monkeypatch.setattr(cell_counts, "MAX_BINS", 16)
        cal = tc.TemporalCalibrator(tc.BetaCalibration(), tc.Spline())
        assert_same(cal, ROWS, self.TABLE, time="t")

    def test_of_a_small_sample_are_put_right(self, monkeypatch):
        monkeypatch.setattr(surrogate, "SAMPLE_ROWS", 200)
        three = {"names": ("a", "b", "c"), "label": "kind", "time": "t"}
        cal = tc.TemporalCalibrator(tc.VectorScaling(), tc.ExponentialDecay())
        assert_same(cal, ROWS, self.TABLE, **three)

    @pytest.mark.filterwarnings("ignore::tempocal.errors.AtBoundWarning")
    @pytest.mark.parametrize("shrinkage", [0.0, None])
    def test_of_a_sample_that_misleads_are_made_for_every_sum(self, shrinkage):
        """Logits with such tails that corrections of the sample lead nowhere."""
        rng = np.random.default_rng(0)
        n = 60_000
        t, z = rng.gamma(2, 5, n).round() + 1, 2 * rng.normal(size=(n, 3))
        z *= np.exp(2.5 * rng.normal(size=(n, 1)))
        y = (0.2 * z + rng.gumbel(size=(n, 3))).argmax(axis=1)
        table = pl.DataFrame({"a": z[:, 0], "b": z[:, 1], "c": z[:, 2], "y": y, "t": t})
        cal = tc.TemporalCalibrator(tc.VectorScaling(), shrinkage=shrinkage)
        wanted = tc.metrics.nll(y, clone(cal).fit(z, y, time=t).predict_proba(z, time=t))
        cal.fit_table(table, logits=["a", "b", "c"], label="y", time="t")
        assert tc.metrics.nll(y, cal.predict_proba(z, time=t)) == pytest.approx(wanted, abs=1e-9)

    def test_of_many_groups_go_in_buckets(self, monkeypatch):
        cal = tc.TemporalCalibrator(tc.TemperatureScaling(), tc.Spline())
        one = from_table(cal, self.TABLE, time="t").interval_at([5.0])["inverse_temperature"]
        monkeypatch.setattr(exact_sums, "MAX_PAIRS", 25 * 100)
        for ids in (ROWS["id"], np.array([f"m{k}" for k in ROWS["id"]])):
            table = pl.DataFrame({**ROWS, "id": ids})
            other = from_table(cal, table, time="t").interval_at([5.0])["inverse_temperature"]
            ratio = (other.upper - other.lower) / (one.upper - one.lower)
            assert 0.7 < float(ratio[0]) < 1.4

    def test_of_many_groups_are_dealt_to_folds_by_their_ids(self, monkeypatch):
        monkeypatch.setattr(group_ids, "MAX_LISTED", 10)
        pairs = [(tc.TemperatureScaling(), tc.Constant())]
        auto = tc.AutoTemporalCalibrator(pairs, progress=False)
        exact = from_arrays(auto, ROWS, time="t").comparison_[0].nll
        for ids in (ROWS["id"] - 100, np.array([f"m{k}" for k in ROWS["id"]])):
            found = from_table(auto, pl.DataFrame({**ROWS, "id": ids}), time="t").comparison_[0]
            assert abs(found.nll - exact) < 5e-3

"""Horizons where weights are light, classes separate, orders are long, or settings change."""

import numpy as np
import polars as pl
import pytest

import tempocal as tc
from tempocal.errors import InputError, MixedLabelsWarning, NoFiniteOptimumError

M = tc.datasets.simulate_match(60)
GIVEN = {"time": M.time, "sequence": M.sequence}
INF = float("inf")


def platt(horizon=0.2, **settings):
    return tc.TemporalCalibrator(tc.PlattScaling(**settings), tc.Constant(), td_horizon=horizon)


@pytest.mark.filterwarnings("ignore::tempocal.errors.LightWeightsWarning")
@pytest.mark.parametrize("curve", [tc.Constant(), tc.Spline()], ids=repr)
def test_light_weights_count_as_few_rows(curve):
    """Their targets are as good as one half, but a fit of next to no rows is the identity."""
    weight = np.full(len(M.logits), 1e-4)
    cal = tc.TemporalCalibrator(tc.PlattScaling(), curve, td_horizon=0.2)
    cal.fit(M.logits, M.label, sample_weight=weight, **GIVEN)
    found = cal.parameters_at([0, 10, 20])
    np.testing.assert_allclose(found["slope"], 1.0, atol=1e-4)
    np.testing.assert_allclose(found["bias"], 0.0, atol=1e-4)


class TestSeparation:
    """Logits that are right in every row, but go up and down along each sequence."""

    SIGN = np.where(M.label == 1, 1.0, -1.0)
    Z = SIGN * (1 + np.arange(len(M.label)) % 5)

    @pytest.mark.parametrize("horizon", [0.2, 1.0, INF])
    @pytest.mark.parametrize("calibrator", [tc.TemperatureScaling, tc.PlattScaling])
    def test_without_a_penalty_there_is_no_optimum(self, horizon, calibrator):
        cal = tc.TemporalCalibrator(calibrator(shrinkage=0), tc.Constant(), td_horizon=horizon)
        with pytest.raises(NoFiniteOptimumError, match="the logits separate the classes"):
            cal.fit(self.Z, M.label, **GIVEN)
        rows = {"z": self.Z, "y": M.label, "t": M.time, "id": M.sequence}
        with pytest.raises(NoFiniteOptimumError, match="the logits separate the classes"):
            cal.fit_table(pl.DataFrame(rows), logits="z", label="y", time="t", sequence="id")

    @pytest.mark.filterwarnings("ignore::tempocal.errors.WorseOnItsRowsWarning")
    def test_one_row_on_the_other_side_is_enough(self):
        z = self.Z.copy()
        z[40] *= -1.0
        found = platt(1.0, shrinkage=0).fit(z, M.label, **GIVEN)
        assert np.isfinite(found.parameters_at([0])["slope"]).all()

    @pytest.mark.filterwarnings("ignore::tempocal.errors.WorseOnItsRowsWarning")
    def test_a_penalty_keeps_it_finite(self):
        found = platt(0.2, shrinkage=1.0).fit(self.Z, M.label, **GIVEN)
        assert np.isfinite(found.parameters_at([0])["slope"]).all()


@pytest.mark.parametrize("start", [2**53, 2**62])
@pytest.mark.parametrize(
    "make", [pl.DataFrame, pl.LazyFrame, lambda rows: pl.DataFrame(rows).to_arrow()]
)
def test_whole_numbers_of_any_size_are_an_order(monkeypatch, start, make):
    """Neighbors that are the same double are told apart, in arrays and in tables."""
    monkeypatch.setattr("tempocal.calibrators.table_cache.MAX_COLLECTED", 0)
    order = start + np.arange(len(M.label))
    wanted = platt().fit(M.logits, M.label, **GIVEN)
    arrays = platt().fit(M.logits, M.label, **GIVEN, order=order)
    rows = {"z": M.logits, "y": M.label, "t": M.time, "id": M.sequence, "n": order}
    table = platt().fit_table(make(rows), logits="z", label="y", time="t", sequence="id", order="n")
    for cal in (arrays, table):
        for name, value in wanted.parameters_at([0]).items():
            assert cal.parameters_at([0])[name] == pytest.approx(value, abs=1e-9)
    tied = {**rows, "n": order // 2 * 2}
    words = "order must differ between the rows of a sequence"
    with pytest.raises(InputError, match=words):
        platt().fit(M.logits, M.label, **GIVEN, order=tied["n"])
    with pytest.raises(InputError, match=words):
        platt().fit_table(make(tied), logits="z", label="y", time="t", sequence="id", order="n")


@pytest.mark.parametrize("fitted", [0.2, "auto", INF])
@pytest.mark.parametrize("changed", [0.5, "auto", INF])
def test_what_was_fitted_is_saved_whatever_is_set_later(tmp_path, fitted, changed):
    cal = platt(fitted).fit(M.logits, M.label, **GIVEN)
    cal.set_params(td_horizon=changed).save(tmp_path / "m.json")
    found = tc.load(tmp_path / "m.json")
    assert found.td_horizon_ == cal.td_horizon_
    np.testing.assert_array_equal(
        found.predict_proba(M.logits, time=M.time), cal.predict_proba(M.logits, time=M.time)
    )
    cal.set_params(td_horizon=fitted).save(tmp_path / "same.json")
    assert tc.load(tmp_path / "same.json").td_horizon == fitted


@pytest.mark.parametrize("ids", ["sequence", "groups"])
def test_a_mixed_label_warns_from_arrays_as_from_tables(ids):
    y = M.label.copy()
    y[3] = 1 - y[3]
    rows = pl.DataFrame({"z": M.logits, "y": y, "t": M.time, "id": M.sequence})
    words = "the label changes within 1 of 60 groups"
    with pytest.warns(MixedLabelsWarning, match=words):
        platt("auto").fit(M.logits, y, time=M.time, **{ids: M.sequence})
    with pytest.warns(MixedLabelsWarning, match=words):
        platt("auto").fit_table(rows, logits="z", label="y", time="t", **{ids: "id"})


def test_what_is_wrong_with_the_sequences_of_a_table_is_named_so():
    rows = {"z": M.logits, "y": M.label, "t": M.time}
    for ids, words in (
        ([None, *M.sequence[1:].tolist()], "sequence in 'id' must not be missing"),
        ([[one] for one in M.sequence.tolist()], "sequence names the column 'id', which must"),
    ):
        table = pl.DataFrame({**rows, "id": ids})
        with pytest.raises(InputError, match=words):
            platt().fit_table(table, logits="z", label="y", time="t", sequence="id")

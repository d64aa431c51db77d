"""Soft labels in tables: fits, metrics and assessments equal those of arrays, on every engine."""

from functools import partial

import numpy as np
import polars as pl
import pytest

import tempocal as tc
from tables.engines import SPARK_IS_SLOW
from tables.fits import CLOSE, matches
from tempocal.errors import InputError
from tempocal.metrics import (
    brier,
    ece,
    nll,
    over_time,
    over_time_table,
    with_interval,
    with_interval_table,
)

# DuckDB, Ibis and Spark warn of each other's deprecations, and Spark of an open socket.
pytestmark = [
    pytest.mark.filterwarnings("ignore:.*:FutureWarning"),
    pytest.mark.filterwarnings("ignore:.*:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:.*:ResourceWarning"),
    pytest.mark.filterwarnings("ignore::tempocal.errors.AtBoundWarning"),
]
spark_is_slow = pytest.mark.parametrize("table_of", SPARK_IS_SLOW, indirect=True)
VOTES = 5
RNG = np.random.default_rng(0)


def _rows():
    """Matches with votes for a class, row by row and sequence by sequence."""
    rows = matches(120)
    chance = 1 / (1 + np.exp(-0.6 * rows["z"]))
    rows["voted"] = RNG.binomial(VOTES, chance) / VOTES
    whole = RNG.binomial(VOTES, 0.5, rows["id"].max() + 1) / VOTES
    rows["whole"] = whole[rows["id"]]
    shares = RNG.dirichlet([1.0, 1.0, 0.5], len(rows["z"]))
    rows |= {f"s{k}": shares[:, k] for k in range(3)}
    return rows


ROWS = _rows()
KINDS = ["s0", "s1", "s2"]
Z = np.linspace(-3, 3, 9)


def same(one, other, close=CLOSE, **time):
    z = np.stack([Z, -Z / 2, Z**2 / 4], axis=1) if len(one.classes_) == 3 else Z
    found, wanted = (each.decision_function(z, **time) for each in (other, one))
    np.testing.assert_allclose(found, wanted, rtol=0, atol=close)
    for name in ("n_rows", "n_groups"):
        assert getattr(other.summary_, name) == getattr(one.summary_, name)
    assert other.summary_.nll_after == pytest.approx(one.summary_.nll_after, abs=1e-6)
    np.testing.assert_array_equal(other.classes_, one.classes_)


class TestFits:
    @pytest.mark.parametrize("groups", ["id", None])
    def test_one_calibrator(self, table_of, groups):
        cal = tc.PlattScaling()
        given = None if groups is None else ROWS[groups]
        one = cal.fit(ROWS["z"], ROWS["voted"], groups=given, soft_label=True)
        other = tc.PlattScaling().fit_table(
            table_of(ROWS), logits="z", label="voted", groups=groups, soft_label=True
        )
        same(one, other)

    @spark_is_slow
    def test_along_time_with_weights(self, table_of):
        cal = tc.TemporalCalibrator(tc.TemperatureScaling(), tc.Spline())
        one = cal.fit(
            ROWS["z"],
            ROWS["voted"],
            time=ROWS["t"],
            groups=ROWS["id"],
            sample_weight=ROWS["w"],
            soft_label=True,
        )
        wanted = one.decision_function(Z, time=np.arange(9.0))
        other = tc.TemporalCalibrator(tc.TemperatureScaling(), tc.Spline()).fit_table(
            table_of(ROWS),
            logits="z",
            label="voted",
            time="t",
            groups="id",
            sample_weight="w",
            soft_label=True,
        )
        found = other.decision_function(Z, time=np.arange(9.0))
        np.testing.assert_allclose(found, wanted, rtol=0, atol=CLOSE)

    @pytest.mark.parametrize("label", [["s0", "s1", "s2"]])
    @pytest.mark.parametrize("cal", [tc.TemperatureScaling(), tc.VectorScaling()], ids=repr)
    def test_three_classes(self, cal, label):
        names, soft = ["a", "b", "c"], np.stack([ROWS[name] for name in label], axis=1)
        z = np.stack([ROWS[name] for name in names], axis=1)
        one = type(cal)().fit(z, soft, groups=ROWS["id"], soft_label=True)
        for table in (pl.DataFrame(ROWS), pl.LazyFrame(ROWS)):
            other = type(cal)().fit_table(
                table, logits=names, label=label, groups="id", soft_label=True
            )
            # Threads of Polars add up in any order, and the evidence of pooled slopes is flat.
            same(one, other, close=1e-8)

    @pytest.mark.parametrize("horizon", [0.2, "auto"])
    @pytest.mark.parametrize("collected", [2**20, 0])
    def test_sequences_of_one_soft_label(self, monkeypatch, horizon, collected):
        """Copies of a sequence, one for each class, follow each other in windows as in memory."""
        monkeypatch.setattr("tempocal.calibrators.table_cache.MAX_COLLECTED", collected)
        cal = tc.TemporalCalibrator(tc.PlattScaling(), tc.Spline(), td_horizon=horizon)
        one = cal.fit(
            ROWS["z"], ROWS["whole"], time=ROWS["t"], sequence=ROWS["id"], soft_label=True
        )
        wanted, taken = one.decision_function(Z, time=np.arange(9.0)), one.td_horizon_
        table = pl.LazyFrame(ROWS)
        other = cal.fit_table(
            table, logits="z", label="whole", time="t", sequence="id", soft_label=True
        )
        assert other.td_horizon_ == taken
        found = other.decision_function(Z, time=np.arange(9.0))
        np.testing.assert_allclose(found, wanted, rtol=0, atol=CLOSE)

    def test_labels_that_vary_within_a_sequence_are_refused(self):
        cal = tc.TemporalCalibrator(tc.PlattScaling(), tc.Spline(), td_horizon=0.2)
        with pytest.raises(InputError, match="sequence"):
            cal.fit_table(
                pl.DataFrame(ROWS),
                logits="z",
                label="voted",
                time="t",
                sequence="id",
                soft_label=True,
            )

    def test_certain_labels_are_labels(self):
        certain = {**ROWS, "sure": ROWS["won"].astype(float)}
        table = pl.DataFrame(certain)
        one = tc.PlattScaling().fit_table(table, logits="z", label="won")
        other = tc.PlattScaling().fit_table(table, logits="z", label="sure", soft_label=True)
        found, wanted = (each.decision_function(Z) for each in (other, one))
        np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-12)
        assert other.summary_.n_groups is None

    def test_both_columns_are_one(self):
        table = pl.DataFrame(ROWS).with_columns(lost=1.0 - pl.col("voted"))
        one = tc.PlattScaling().fit_table(table, logits="z", label="voted", soft_label=True)
        both = ["lost", "voted"]
        other = tc.PlattScaling().fit_table(table, logits="z", label=both, soft_label=True)
        np.testing.assert_allclose(
            one.decision_function(Z), other.decision_function(Z), rtol=0, atol=1e-12
        )


class TestRefusals:
    @pytest.mark.parametrize(
        ("values", "words"),
        [
            ([1, 0, 1, 0], "must hold probabilities as floats with soft_label=True.*Int64"),
            (["a", "b", "a", "b"], "must hold probabilities as floats.*String"),
            ([0.5, None, 1.0, 0.0], "must not be missing, but they are in 1 row$"),
            ([0.5, 1.5, 1.0, float("nan")], r"lie in \[0, 1\].*are not in 2 rows"),
        ],
    )
    def test_what_is_no_probability(self, values, words):
        table = pl.DataFrame({"z": [1.0, -1.0, 0.5, 2.0], "y": values})
        with pytest.raises(InputError, match=words):
            tc.PlattScaling().fit_table(table, logits="z", label="y", soft_label=True)

    def test_columns_that_do_not_fit(self):
        table = pl.DataFrame(ROWS)
        with pytest.raises(InputError, match=r"label names 3 columns.*2 classes"):
            tc.PlattScaling().fit_table(table, logits="z", label=KINDS, soft_label=True)
        with pytest.raises(InputError, match=r"label names 1 column, but.*3 classes"):
            tc.VectorScaling().fit_table(table, logits=["a", "b", "c"], label="s0", soft_label=True)
        with pytest.raises(InputError, match="label names 'none', but the table's columns"):
            tc.PlattScaling().fit_table(table, logits="z", label="none", soft_label=True)
        off = table.with_columns(s0=pl.col("s0") + 0.1)
        with pytest.raises(InputError, match="sum to 1 in every row, which they are not in"):
            tc.VectorScaling().fit_table(off, logits=["a", "b", "c"], label=KINDS, soft_label=True)

    def test_calibrators_without_coefficients(self):
        with pytest.raises(InputError, match="soft_label=True is for calibrators with coeff"):
            tc.IsotonicCalibration().fit_table(
                pl.DataFrame(ROWS), logits="z", label="voted", soft_label=True
            )


def _columns_agree(found, wanted):
    for name, column in wanted.columns().items():
        other = found.columns()[name]
        if column.dtype.kind == "f":
            np.testing.assert_allclose(other, column, rtol=0, atol=CLOSE)
        else:
            np.testing.assert_array_equal(other, column)


class TestMetrics:
    PROBA = 1 / (1 + np.exp(-ROWS["z"]))

    @spark_is_slow
    @pytest.mark.parametrize("metric", [nll, brier, partial(ece, of="positive_class")])
    def test_over_time(self, table_of, metric):
        wanted = over_time(
            metric,
            ROWS["voted"],
            self.PROBA,
            ROWS["t"],
            bins=4,
            groups=ROWS["id"],
            sample_weight=ROWS["w"],
            soft_label=True,
        )
        found = over_time_table(
            metric,
            table_of({**ROWS, "p": self.PROBA}),
            label="voted",
            proba="p",
            time="t",
            bins=4,
            groups="id",
            sample_weight="w",
            soft_label=True,
        )
        _columns_agree(found, wanted)
        assert wanted.rows.sum() == np.count_nonzero(ROWS["w"])

    @pytest.mark.parametrize("metric", [nll, brier])
    def test_the_value_is_that_of_the_metric(self, metric):
        found = with_interval(metric, ROWS["voted"], self.PROBA, groups=ROWS["id"], soft_label=True)
        wanted = metric(ROWS["voted"], self.PROBA, soft_label=True)
        assert float(found) == pytest.approx(float(wanted), abs=1e-12)
        other = with_interval_table(
            metric,
            pl.DataFrame({**ROWS, "p": self.PROBA}),
            label="voted",
            proba="p",
            groups="id",
            soft_label=True,
        )
        assert (other.value, other.lower, other.upper) == pytest.approx(
            (found.value, found.lower, found.upper), abs=CLOSE
        )

    def test_other_metrics_have_no_soft_labels(self):
        with pytest.raises(InputError, match="with soft_label=True nll, brier, overconfidence"):
            over_time(lambda *_, **__: 0.0, ROWS["voted"], self.PROBA, ROWS["t"], soft_label=True)


def test_assessments_agree():
    given = {"time": ROWS["t"], "sequence": ROWS["id"]}
    one = tc.assess(ROWS["z"], ROWS["voted"], **given, soft_label=True)
    other = tc.assess_table(
        pl.LazyFrame(ROWS), logits="z", label="voted", time="t", sequence="id", soft_label=True
    )
    assert str(one.verdict) == str(other.verdict)
    assert one.facts.shares == pytest.approx(other.facts.shares)
    assert one.facts.rows == other.facts.rows == len(ROWS["z"])
    assert one.facts.judged_rows == other.facts.judged_rows
    for name, wanted in one.scores.items():
        found = other.scores[name]
        assert found.nll.value == pytest.approx(wanted.nll.value, abs=1e-9)
        _columns_agree(found.ece_over_time, wanted.ece_over_time)
    assert [each.sequence for each in one.examples] != []
    assert {each.label[:9] for each in (*one.examples, *other.examples)} & {"1 with 0.6"[:9]}

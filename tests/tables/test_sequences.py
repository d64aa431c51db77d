"""Fits to tables that learn from forecasts give the answer of fits to arrays."""

import numpy as np
import polars as pl
import pytest
from sklearn.base import clone

import tempocal as tc
from tables.engines import LAZY, NAMES, SPARK_IS_SLOW, make
from tables.fits import CLOSE, ROWS, assert_same_bands, decisions, matches
from tempocal.calibrators import table_cache
from tempocal.errors import InputError
from tempocal.tables import discounted_sums, exact_sums
from tempocal.tables.discounted_sums import Windows
from tempocal.tables.open_table import wrap

pytestmark = [
    pytest.mark.filterwarnings("ignore:.*:FutureWarning"),
    pytest.mark.filterwarnings("ignore:.*:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:.*:ResourceWarning"),
    pytest.mark.filterwarnings("ignore:the rate of the exponential"),
]

ROWS = {**ROWS, "kind": np.where(ROWS["id"] % 5 == 0, 2, ROWS["won"])}
FEW = {name: values[ROWS["id"] < 40] for name, values in ROWS.items()}
TABLE = pl.DataFrame(ROWS)
HORIZON = 0.2
PLATT = tc.TemporalCalibrator(
    tc.PlattScaling(shrinkage=1.0), tc.Spline(smoothness=1.0), td_horizon=HORIZON
)


@pytest.fixture
def windows(monkeypatch):
    """Take small tables as too large for memory."""
    monkeypatch.setattr(table_cache, "MAX_COLLECTED", 0)


def both(cal, rows, table, *, names="z", label="won", weight=None, order=None, groups=None):
    """Fit to arrays and to a table."""
    x = rows[names] if isinstance(names, str) else np.stack([rows[name] for name in names], 1)
    given = {"sample_weight": weight, "order": order, "groups": groups}
    arrays = {name: None if column is None else rows[column] for name, column in given.items()}
    one = clone(cal).fit(x, rows[label], time=rows["t"], sequence=rows["id"], **arrays)
    columns = {cal.inputs: names if isinstance(names, str) else list(names)}
    other = clone(cal).fit_table(table, label=label, time="t", sequence="id", **columns, **given)
    return one, other


def assert_same(cal, rows, table, **named):
    one, other = both(cal, rows, table, **named)
    names = named.get("names", "z")
    wanted, found = (decisions(each, rows, names, "t") for each in (one, other))
    np.testing.assert_allclose(found, wanted, rtol=CLOSE, atol=CLOSE)
    assert_same_bands(one, other, [0.0, 5.0, 20.0])
    wanted, found = one.summary_.details, other.summary_.details
    assert found["td_horizon"] == wanted["td_horizon"]
    assert found.get("td_horizon_because") == wanted.get("td_horizon_because")
    assert found["converged"]
    assert found.get("worth_of_outcomes") == wanted.get("worth_of_outcomes")
    return one, other


def assert_same_comparison(one, other, names="z"):
    wanted, found = (decisions(each, ROWS, names, "t") for each in (one, other))
    np.testing.assert_allclose(found, wanted, rtol=0, atol=CLOSE)
    for a, b in zip(one.comparison_, other.comparison_, strict=True):
        assert a.name == b.name
        assert abs(a.nll - b.nll) < CLOSE
        assert abs(a.nll_error - b.nll_error) < CLOSE
        assert abs(a.weight - b.weight) < CLOSE


class TestEngines:
    @pytest.mark.parametrize("table_of", SPARK_IS_SLOW, indirect=True)
    def test_of_few_rows(self, table_of):
        assert_same(PLATT, FEW, table_of(FEW), weight="w")

    @pytest.mark.parametrize("table_of", sorted(LAZY - {"spark"}), indirect=True)
    def test_of_rows_that_stay_in_the_table(self, table_of, windows):
        assert_same(PLATT, FEW, table_of(FEW), weight="w")

    def test_of_rows_that_stay_in_spark(self, spark, windows):
        alone = tc.TemperatureScaling(shrinkage=1.0)
        cal = tc.TemporalCalibrator(alone, tc.Constant(), td_horizon=HORIZON)
        assert_same(cal, FEW, make("spark", FEW, spark))

    @pytest.mark.parametrize("table_of", ["lazy polars", "duckdb"], indirect=True)
    def test_of_three_classes(self, table_of, windows):
        cal = tc.TemporalCalibrator(
            tc.VectorScaling(shrinkage=1.0), tc.Spline(smoothness=1.0), td_horizon=HORIZON
        )
        assert_same(cal, FEW, table_of(FEW), names=("a", "b", "c"), label="kind", weight="w")


class TestCalibratorsAndCurves:
    @pytest.mark.parametrize("stays", [False, True])
    @pytest.mark.parametrize("horizon", [HORIZON, "auto"])
    @pytest.mark.parametrize(
        ("calibrator", "curve"),
        [
            (tc.PlattScaling(), tc.Spline()),
            (tc.TemperatureScaling(), tc.ExponentialDecay()),
            (tc.PlattScaling(shrinkage=1.0), tc.PerStep()),
            (tc.PlattScaling(shrinkage=1.0), tc.PerStep(min_rows=250)),
            (tc.BetaCalibration(shrinkage=1.0), tc.Constant()),
        ],
        ids=repr,
    )
    def test_of_two_classes(self, calibrator, curve, horizon, stays, request):
        if stays:
            request.getfixturevalue("windows")
        cal = tc.TemporalCalibrator(calibrator, curve, td_horizon=horizon)
        assert_same(cal, ROWS, TABLE.lazy() if stays else TABLE, weight="w")

    @pytest.mark.parametrize("stays", [False, True])
    @pytest.mark.parametrize(
        ("calibrator", "curve"),
        [
            (tc.TemperatureScaling(), tc.Spline()),
            (tc.VectorScaling(shrinkage=1.0), tc.PerStep(bins=4)),
            (tc.MatrixScaling(shrinkage=1.0), tc.Constant()),
        ],
        ids=repr,
    )
    def test_of_three_classes(self, calibrator, curve, stays, request):
        if stays:
            request.getfixturevalue("windows")
        cal = tc.TemporalCalibrator(calibrator, curve, td_horizon=HORIZON)
        table = TABLE.lazy() if stays else TABLE
        assert_same(cal, ROWS, table, names=("a", "b", "c"), label="kind")

    def test_a_model_that_forgets_learns_from_outcomes(self, windows):
        """Its logits jump from row to row: later ones know less."""
        rng = np.random.default_rng(0)
        rows = {**ROWS, "z": np.where(rng.random(len(ROWS["z"])) < 0.5, 0.0, ROWS["z"])}
        cal = tc.TemporalCalibrator(tc.TemperatureScaling(), tc.Spline())
        _, other = assert_same(cal, rows, pl.LazyFrame(rows))
        assert other.summary_.details["td_horizon"] == np.inf

    def test_auto_chooses_among_fits_to_outcomes(self):
        candidates = [(tc.PlattScaling(), tc.Spline())]
        auto = tc.AutoTemporalCalibrator(candidates, combine="choose", folds=2, progress=False)
        one, other = both(auto, ROWS, TABLE)
        assert_same_comparison(one, other)
        assert other.best_.td_horizon_ == np.inf

    @pytest.mark.parametrize("stays", [False, True])
    def test_auto_averages_fits_to_forecasts(self, stays, windows):
        candidates = [
            (tc.TemperatureScaling(), tc.Spline()),
            tc.TemporalCalibrator(tc.PlattScaling(), tc.Spline(), td_horizon=HORIZON),
            tc.TemporalCalibrator(tc.PlattScaling(), tc.Spline(), td_horizon=np.inf),
        ]
        auto = tc.AutoTemporalCalibrator(candidates, folds=2, progress=False)
        one, other = both(auto, ROWS, TABLE.lazy() if stays else TABLE, weight="w")
        assert_same_comparison(one, other)
        assert one.best_.td_horizon_ == other.best_.td_horizon_
        assert "1 from forecasts, horizon 0.2" in other.summary_.details["learned"]
        assert one.summary_.details["learned"] == other.summary_.details["learned"]

    def test_auto_averages_fits_of_three_classes(self):
        candidates = [(tc.TemperatureScaling(), tc.Spline()), (tc.VectorScaling(), tc.Constant())]
        auto = tc.AutoTemporalCalibrator(candidates, folds=2, progress=False)
        one, other = both(auto, ROWS, TABLE, names=("a", "b", "c"), label="kind")
        assert_same_comparison(one, other, names=("a", "b", "c"))


class TestRows:
    def test_may_come_in_any_order(self, windows):
        rows = np.random.default_rng(0).permutation(len(ROWS["z"]))
        assert_same(PLATT, ROWS, TABLE[rows].lazy())

    def test_of_frames_may_not_all_lie_in_reverse(self):
        down = pl.DataFrame({**ROWS, "t": 30.0 - ROWS["t"]})
        with pytest.raises(
            InputError, match="all rows of the table lie in the reverse of their time"
        ):
            tc.TemporalCalibrator(td_horizon=0.1).fit_table(
                down, logits="z", label="won", time="t", sequence="id"
            )

    @pytest.mark.parametrize("lazy", [False, True])
    def test_of_orders_beyond_the_digits_of_a_double(self, lazy):
        far = {**ROWS, "place": 17 * 10**17 + ROWS["t"].astype(np.uint64)}
        table = pl.LazyFrame(far) if lazy else pl.DataFrame(far)
        with pytest.raises(InputError, match="whole numbers lose digits: subtract the first one"):
            tc.TemporalCalibrator(td_horizon=0.1).fit_table(
                table, logits="z", label="won", time="t", sequence="id", order="place"
            )

    def test_may_have_a_time_that_counts_down(self, windows):
        down = {**ROWS, "t": 30.0 - ROWS["t"], "place": ROWS["t"]}
        for table in (pl.DataFrame(down), pl.LazyFrame(down)):
            assert_same(PLATT, down, table, order="place")

    def test_may_be_ordered_by_dates(self, windows):
        places = np.datetime64("2026-01-01") + ROWS["t"].astype("m8[h]")
        rows = {**ROWS, "place": places}
        assert_same(
            PLATT, rows, pl.LazyFrame({**rows, "place": places.astype("M8[us]")}), order="place"
        )

    def test_may_be_in_groups_of_several_sequences(self, windows):
        rows = {**ROWS, "series": np.array([f"series {k // 3}" for k in ROWS["id"]])}
        for table in (pl.DataFrame(rows), pl.LazyFrame(rows)):
            _, other = assert_same(PLATT, rows, table, groups="series")
            assert other.summary_.n_groups == 100

    def test_of_too_many_groups_are_summed_in_buckets(self, windows, monkeypatch):
        wanted, _ = both(PLATT, ROWS, TABLE)
        monkeypatch.setattr(exact_sums, "MAX_PAIRS", 100)
        for table in (TABLE, TABLE.lazy()):
            found = clone(PLATT).fit_table(table, logits="z", label="won", time="t", sequence="id")
            np.testing.assert_allclose(
                decisions(found, ROWS, time="t"), decisions(wanted, ROWS, time="t"), atol=CLOSE
            )
            one, other = (each.interval_at([5.0])["slope"] for each in (wanted, found))
            widths = [each.upper - each.lower for each in (one, other)]
            np.testing.assert_allclose(widths[1], widths[0], rtol=0.5)

    def test_of_horizons_that_are_hardly_there_or_very_long(self, windows, monkeypatch):
        """The first needs blocks, whose sums would else overflow."""
        for horizon, exponent in ((0.001, 400.0), (HORIZON, 3.0), (1e6, 400.0)):
            monkeypatch.setattr(discounted_sums, "LARGEST_EXPONENT", exponent)
            cal = clone(PLATT).set_params(td_horizon=horizon)
            one, other = both(cal, ROWS, TABLE.lazy())
            # Blocks of few rows leave out what is worth exp(-3 / 2), but for such rows only.
            close = 0.2 if exponent == 3.0 else CLOSE
            wanted, found = (decisions(each, ROWS, time="t") for each in (one, other))
            np.testing.assert_allclose(found, wanted, rtol=0, atol=close)

    def test_need_no_sequence_for_outcomes(self):
        cal = tc.TemporalCalibrator(tc.PlattScaling(), tc.Spline())
        without = clone(cal).fit_table(TABLE, logits="z", label="won", time="t", groups="id")
        assert "no sequence was given" in str(without.summary())
        by_outcomes = clone(cal).set_params(td_horizon=np.inf)
        found = by_outcomes.fit_table(TABLE, logits="z", label="won", time="t", sequence="id")
        wanted, found = (decisions(each, ROWS, time="t") for each in (without, found))
        np.testing.assert_allclose(found, wanted, rtol=0, atol=CLOSE)

    def test_of_an_inexact_fit_still_follow_all_sequences(self, windows):
        found = clone(PLATT).fit_table(
            TABLE.lazy(), logits="z", label="won", time="t", sequence="id", exact=False
        )
        wanted, _ = both(PLATT, ROWS, TABLE)
        difference = decisions(found, ROWS, time="t") - decisions(wanted, ROWS, time="t")
        assert np.abs(difference).max() < 1e-3
        assert found.summary_.details["may_be_off_by"] < 0.1


@pytest.mark.parametrize("engine", [name for name in NAMES if name in LAZY - {"spark"}])
@pytest.mark.parametrize("decay", [0.0, 1e-200, 1e-9, 0.3, 0.97, 1.0])
def test_discounted_sums_are_those_of_a_loop(engine, decay):
    lengths = [1, 2, 5, 700, 3000]
    rng = np.random.default_rng(0)
    sequence = np.repeat(np.arange(len(lengths)), lengths)
    x = rng.normal(size=len(sequence))
    wanted = x.copy()
    for row in range(1, len(x)):
        if sequence[row] == sequence[row - 1]:
            wanted[row] += decay * wanted[row - 1]
    place = np.concatenate([np.arange(n, dtype=float) for n in lengths])
    rows = {"id": np.arange(len(x)), "x": x, "sequence": sequence, "order": place}
    mixed = rng.permutation(len(x))
    frame = wrap(make(engine, {name: values[mixed] for name, values in rows.items()}))
    along = Windows("order", max(lengths), ("sequence",))
    found = along.discount(along.look_back(frame, ["x"]), ["x"], decay)
    found = found.select("id", "x", "x_before").collect("pyarrow").sort("id")
    np.testing.assert_allclose(found["x"].to_numpy(), wanted, rtol=0, atol=1e-11)
    before = np.where(place > 0, np.roll(x, 1), np.nan)
    np.testing.assert_array_equal(found["x_before"].to_numpy(), before)


def test_a_file_of_many_rows(tmp_path, windows):
    """Forecasts of a file in DuckDB, with text as ids."""
    rows = matches(8000, seed=4)
    named = {name: rows[name] for name in ("z", "won", "t")}
    ids = np.array([f"match {k}" for k in rows["id"]])
    order = np.random.default_rng(1).permutation(len(ids))
    pl.DataFrame({**named, "id": ids})[order].write_parquet(tmp_path / "rows.parquet")
    one, other = both(PLATT, {**named, "id": ids}, tmp_path / "rows.parquet")
    wanted, found = (decisions(each, rows, time="t") for each in (one, other))
    np.testing.assert_allclose(found, wanted, rtol=0, atol=CLOSE)
    assert other.summary_.details["passes"] < 40


class TestRefusals:
    @pytest.mark.parametrize("engine", ["polars", "duckdb", "pandas", "pyarrow"])
    def test_of_equal_times(self, engine):
        tied = make(engine, {**FEW, "t": np.floor(FEW["t"] / 2)})
        with pytest.raises(
            InputError, match="two rows of the sequence 0 have the same: pass order"
        ):
            PLATT.fit_table(tied, logits="z", label="won", time="t", sequence="id")
        tied = make(engine, {**FEW, "place": np.floor(FEW["t"] / 2)})
        with pytest.raises(InputError, match="order must differ between the rows of a sequence"):
            PLATT.fit_table(tied, logits="z", label="won", time="t", sequence="id", order="place")

    def test_of_labels_that_differ(self):
        won = np.where(np.arange(len(ROWS["won"])) == 3, 1 - ROWS["won"], ROWS["won"])
        changed = TABLE.with_columns(won=won)
        names = {"logits": "z", "label": "won", "time": "t", "sequence": "id"}
        with (
            pytest.warns(tc.errors.MixedLabelsWarning),
            pytest.raises(InputError, match="it differs within the sequence 0"),
        ):
            PLATT.fit_table(changed, **names)
        with pytest.warns(tc.errors.MixedLabelsWarning):
            cal = clone(PLATT).set_params(td_horizon="auto").fit_table(changed, **names)
        assert "labels differ within sequences (the first is 0)" in str(cal.summary())

    @pytest.mark.parametrize("engine", ["polars", "duckdb", "pandas", "pyarrow"])
    def test_of_groups_that_split_a_sequence(self, engine):
        table = make(engine, {**FEW, "part": FEW["t"] // 10})
        with pytest.raises(InputError, match="a group holds whole sequences"):
            PLATT.fit_table(table, logits="z", label="won", time="t", sequence="id", groups="part")

    def test_of_order_without_sequence(self):
        for cal in (PLATT, tc.AutoTemporalCalibrator()):
            with pytest.raises(InputError, match="but sequence is None: name the column"):
                cal.fit_table(TABLE, logits="z", label="won", time="t", groups="id", order="t")

    def test_of_a_horizon_without_sequence(self):
        with pytest.raises(InputError, match="pass sequence="):
            PLATT.fit_table(TABLE, logits="z", label="won", time="t", groups="id")

    def test_of_what_is_no_order(self):
        names = {"logits": "z", "label": "won", "time": "t", "sequence": "id", "order": "place"}
        with pytest.raises(InputError, match="order names the column 'place', which must hold"):
            PLATT.fit_table(TABLE.with_columns(place=pl.lit("a")), **names)
        missing = pl.when(pl.int_range(pl.len()) == 0).then(None).otherwise(pl.col("t"))
        with pytest.raises(InputError, match=r"order in 'place' must be finite.* in 1 row"):
            PLATT.fit_table(TABLE.with_columns(place=missing), **names)
        missing = pl.when(pl.int_range(pl.len()) == 0).then(None).otherwise(pl.col("id"))
        with pytest.raises(InputError, match="sequence in 'id' must not be missing"):
            PLATT.fit_table(TABLE.with_columns(id=missing, place=pl.col("t")), **names)

    def test_of_calibrators_without_coefficients(self):
        cal = tc.TemporalCalibrator(tc.IsotonicCalibration(), tc.PerStep(bins=2), td_horizon=0.1)
        with pytest.raises(InputError, match="IsotonicCalibration has no coefficients"):
            cal.fit_table(TABLE, logits="z", label="won", time="t", sequence="id")

"""Tables of every engine have the metrics that arrays have."""

from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pytest

import tempocal as tc
from support.lanes import usually
from tables.engines import NAMES
from tempocal.errors import InputError, LightWeightsWarning
from tempocal.metrics import (
    brier,
    classwise_ece,
    ece,
    max_calibration_error,
    nll,
    over_time,
    over_time_table,
    overconfidence,
    scored_frame,
    table_time_bins,
    with_interval,
    with_interval_table,
)
from tempocal.metrics.over_time import estimate_over_time
from tempocal.tables import group_ids
from tempocal.tables.passes import TableWithProgress

pytestmark = [
    pytest.mark.filterwarnings("ignore:.*:FutureWarning"),
    pytest.mark.filterwarnings("ignore:.*:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:.*:ResourceWarning"),
]

MATCHES = tc.datasets.simulate_match(120)
PROBA = 1 / (1 + np.exp(-MATCHES.logits))
MIXED = np.random.default_rng(0).permutation(len(PROBA))
COLUMNS = {
    "y": MATCHES.label[MIXED],
    "p": PROBA[MIXED],
    "t": MATCHES.time[MIXED],
    "g": MATCHES.sequence[MIXED],
    "w": np.random.default_rng(1).integers(0, 4, len(PROBA)).astype(float),
}
METRICS = {
    "ece": ece,
    "positive class": partial(ece, bins=7, of="positive_class"),
    "equal mass": partial(ece, bins=7, binning="equal_mass"),
    "classwise": classwise_ece,
    "nll": nll,
    "clipped": partial(nll, clip=0.1),
    "brier": brier,
    "one column": partial(brier, of="positive_class"),
    "overconfidence": overconfidence,
}
# Each query takes Spark seconds and Ibis, which is DuckDB here, a good part of one: they are given
# one metric a test, by sums of squares or by bins, and the others give all of them.
DEAR = {"spark", "ibis"}
# Lazy Polars, Arrow and Ibis go the ways of Polars and DuckDB: with `make test-slow`.
without_spark = pytest.mark.parametrize(
    "table_of",
    usually(
        [name for name in NAMES if name != "spark"],
        lambda name: name in ("pandas", "polars", "duckdb"),
    ),
    indirect=True,
)
others_are_slow = pytest.mark.parametrize(
    "table_of", usually(NAMES, lambda name: name in ("pandas", "polars", "duckdb")), indirect=True
)
MEASURES = ("value", "lower", "upper", "floor")


def from_table(metric, table, **options):
    options = {"label": "y", "proba": "p", "time": "t", "groups": "g", "bins": 3} | options
    return over_time_table(metric, table, **options)


def from_arrays(metric, columns=COLUMNS, **options):
    given = {"groups": columns["g"], "bins": 3} | options
    return over_time(metric, columns["y"], columns["p"], columns["t"], **given)


def assert_same(found, wanted, names=None, rtol=1e-9):
    for name in names or wanted.columns():
        here, there = getattr(found, name), getattr(wanted, name)
        if there.dtype.kind == "M":
            np.testing.assert_array_equal(here, there)
        else:
            np.testing.assert_allclose(
                here.astype(float), there.astype(float), rtol=rtol, atol=1e-9, err_msg=name
            )
    for name in names or (*MEASURES, "only_upper"):
        if name in MEASURES:
            mean = getattr(wanted.mean, name, wanted.mean)
            assert getattr(found.mean, name, found.mean) == pytest.approx(mean, rel=rtol, abs=1e-9)
    assert found.estimator == wanted.estimator
    assert found.n_groups == wanted.n_groups


@without_spark
def test_every_engine_gives_what_arrays_give(table_of):
    table = table_of(COLUMNS)
    for name in ("equal mass", "brier") if table_of.engine in DEAR else METRICS:
        found, wanted = from_table(METRICS[name], table), from_arrays(METRICS[name])
        if name == "equal mass":
            # A row next to an edge may lie on its other side.
            assert_same(found, wanted, rtol=5e-3)
        else:
            assert_same(found, wanted)
            assert found.chance_ratio == pytest.approx(wanted.chance_ratio)


def test_sequences_are_what_is_independent_unless_groups_are():
    table = pl.DataFrame(COLUMNS | {"series": COLUMNS["g"] // 4})
    alone = {"sequence": "g", "groups": None}
    assert_same(from_table(nll, table, **alone), from_arrays(nll))
    both = from_table(nll, table, sequence="g", groups="series")
    assert_same(both, from_arrays(nll, groups=COLUMNS["g"] // 4))
    assert_same(from_table(nll, table, sequence="g", groups="g"), from_arrays(nll))
    whole = with_interval_table(nll, table, label="y", proba="p", sequence="g")
    expected = with_interval(nll, COLUMNS["y"], COLUMNS["p"], sequence=COLUMNS["g"])
    assert whole.upper == pytest.approx(expected.upper)
    with pytest.raises(InputError, match=r"groups must be .* a group holds whole sequences"):
        from_table(nll, table, sequence="g", groups="t")
    with pytest.raises(InputError, match="sequence names 'match'"):
        from_table(nll, table, sequence="match", groups="g")


def test_weights_of_any_size(table_of):
    table = table_of(COLUMNS)
    for metric in (ece,) if table_of.engine in DEAR else (ece, nll, classwise_ece):
        found = from_table(metric, table, sample_weight="w")
        assert_same(found, from_arrays(metric, sample_weight=COLUMNS["w"]))


@others_are_slow
def test_several_classes_with_names(table_of):
    random = np.random.default_rng(3)
    proba = random.dirichlet(np.ones(3), 600)
    label = np.array(["won", "drawn", "lost"])[random.integers(0, 3, 600)]
    time, group = (
        random.integers(0, 9, 600),
        np.array([f"m{k}" for k in random.integers(0, 90, 600)]),
    )
    columns = {"y": label, "a": proba[:, 0], "b": proba[:, 1], "c": proba[:, 2]}
    table = table_of({**columns, "t": time, "g": group})
    names = ["won", "lost", "drawn"]
    metrics = [ece] if table_of.engine in DEAR else [ece, classwise_ece, nll, brier, overconfidence]
    for metric in metrics:
        found = from_table(metric, table, proba=["a", "b", "c"], classes=names)
        wanted = over_time(metric, label, proba, time, groups=group, classes=names, bins=3)
        assert_same(found, wanted)


@without_spark
def test_rows_on_their_own(table_of):
    table = table_of(COLUMNS)
    for metric in (ece,) if table_of.engine in DEAR else (ece, nll, classwise_ece):
        found, wanted = from_table(metric, table, groups=None), from_arrays(metric, groups=None)
        assert_same(found, wanted, ("time_from", "rows", "sequences", "value"))
        assert_same(found, wanted, ("upper", "floor"), rtol=0.15)
        whole = with_interval_table(metric, table, label="y", proba="p")
        wanted = with_interval(metric, COLUMNS["y"], COLUMNS["p"])
        assert whole == pytest.approx(wanted, rel=1e-9)
        assert whole.floor == pytest.approx(wanted.floor, rel=0.1)


def test_all_rows_at_once(table_of):
    table = table_of(COLUMNS)
    for metric in (nll,) if table_of.engine in DEAR else (ece, nll):
        found = with_interval_table(metric, table, label="y", proba="p", groups="g")
        wanted = with_interval(metric, COLUMNS["y"], COLUMNS["p"], groups=COLUMNS["g"])
        for name in ("lower", "upper", "floor"):
            assert getattr(found, name) == pytest.approx(getattr(wanted, name), rel=1e-9)
        assert found == pytest.approx(wanted, rel=1e-9)
        assert found.estimator == wanted.estimator


def test_moments_and_steps(table_of):
    moments = np.datetime64("1969-12-31T23:50:00", "us") + (COLUMNS["t"] * 7.5e6).astype("m8[us]")
    columns = {**COLUMNS, "t": moments}
    found = from_table(nll, table_of(columns), bins="steps")
    assert_same(found, from_arrays(nll, columns, bins="steps"))
    assert found.time_from.dtype.kind == "M"


@without_spark
def test_truth_and_falsehood_as_labels(table_of):
    found = from_table(nll, table_of({**COLUMNS, "y": COLUMNS["y"] == 1}))
    assert_same(found, from_arrays(nll))


@others_are_slow
def test_many_groups_get_numbers_of_their_own(table_of, monkeypatch):
    """By modular arithmetic: another draw, and on every engine the same."""
    monkeypatch.setattr(group_ids, "MAX_FEW", 10)
    ids = 1_000_003 * COLUMNS["g"] - 60 * 1_000_003
    found = from_table(ece, table_of({**COLUMNS, "g": ids}))
    wanted = from_arrays(ece)
    assert_same(found, wanted, ("value", "rows", "sequences"))
    assert_same(found, from_table(ece, pl.DataFrame({**COLUMNS, "g": ids})))
    named = table_of({**COLUMNS, "g": np.array([f"match {k}" for k in ids])})
    assert_same(from_table(ece, named), wanted, ("value", "rows", "sequences"))


@without_spark
@pytest.mark.parametrize("named", [False, True])
def test_means_over_many_groups_need_no_numbers_of_their_own(table_of, named, monkeypatch):
    monkeypatch.setattr(group_ids, "MAX_FEW", 10)
    ids = np.array([f"match {k}" for k in COLUMNS["g"]]) if named else COLUMNS["g"]
    found, wanted = from_table(nll, table_of({**COLUMNS, "g": ids})), from_arrays(nll)
    assert_same(found, wanted, ("value", "floor", "rows", "sequences"))
    np.testing.assert_allclose(found.upper - found.value, wanted.upper - wanted.value, rtol=0.5)


@without_spark
def test_mistakes_are_worded(table_of):
    table = table_of(COLUMNS)
    for options, words in [
        ({"proba": "x"}, "proba names 'x', but the table's columns are"),
        ({"label": "p"}, "it holds fractions"),
        ({"time": "nobody"}, "time names 'nobody'"),
        ({"proba": "t"}, "proba in 't': probabilities must lie in"),
        ({"bins": 0}, "bins must be"),
        ({"level": 1.0}, "level must lie between 0 and 1"),
        ({"classes": [0, 2]}, "label 1, which is not among the classes"),
        ({"metric": max_calibration_error}, "nll, brier, overconfidence, ece and classwise_ece"),
        ({"metric": partial(ece, of="bottom")}, "of must be"),
        ({"metric": partial(ece, binning="equal")}, "binning must be"),
        ({"metric": partial(ece, bins=10**6)}, "from a table at most 1000"),
        ({"metric": partial(nll, clip=2)}, "clip must be"),
        ({"metric": "ece"}, "metric must be a function"),
    ]:
        with pytest.raises(InputError, match=words):
            from_table(**{"metric": ece, "table": table} | options)


@without_spark
def test_an_empty_table_and_one_with_gaps(table_of):
    nothing = pl.DataFrame(COLUMNS).head(0)
    with pytest.raises(InputError, match="the table is empty"):
        from_table(ece, nothing)
    for name, words in [("p", "must not be missing"), ("y", "label 'y' is missing in 1 row")]:
        columns = {**COLUMNS, name: [None, *COLUMNS[name].tolist()[1:]]}
        with pytest.raises(InputError, match=words):
            from_table(ece, table_of(columns))


@pytest.mark.parametrize("metric", [ece, nll])
def test_one_group_has_no_interval(metric):
    columns = {**COLUMNS, "g": np.zeros(len(PROBA), dtype=int)}
    assert_same(from_table(metric, pl.DataFrame(columns)), from_arrays(metric, columns))


def test_a_certain_error_is_infinite():
    columns = {
        **COLUMNS,
        "p": np.where(np.arange(len(PROBA)) == 7, 1.0 - COLUMNS["y"], COLUMNS["p"]),
    }
    for groups in ("g", None):
        found = from_table(nll, pd.DataFrame(columns), groups=groups)
        wanted = from_arrays(nll, columns, groups=None if groups is None else columns["g"])
        assert_same(found, wanted, ("value", "floor"))
        assert np.isinf(found.upper).sum() == 1
        assert found.mean == np.inf


@pytest.mark.parametrize("bins", usually([1, 7, 10, 49, 100], lambda bins: bins in (1, 10)))
def test_confidences_on_the_edges_of_bins(bins):
    random = np.random.default_rng(0)
    columns = {
        "y": random.integers(0, 2, 3000),
        "p": random.integers(0, 101, 3000) / 100,
        "t": random.integers(0, 10, 3000),
        "g": random.integers(0, 300, 3000),
    }
    table, names = pl.DataFrame(columns), ("value", "upper", "floor")
    assert_same(from_table(overconfidence, table), from_arrays(overconfidence, columns))
    for metric in (partial(ece, bins=bins), partial(classwise_ece, bins=bins)):
        assert_same(from_table(metric, table), from_arrays(metric, columns), names)
    mass = partial(ece, bins=bins, binning="equal_mass", of="positive_class")
    assert_same(from_table(mass, table), from_arrays(mass, columns), names)


def test_floors_of_many_groups_are_those_of_arrays(monkeypatch):
    """On average over seeds, for a draw is a draw; ids follow each other."""
    few = from_arrays(ece)
    monkeypatch.setattr(group_ids, "MAX_FEW", 10)
    table = pl.DataFrame(COLUMNS)
    many = [from_table(ece, table, seed=seed) for seed in range(20)]
    np.testing.assert_allclose(np.mean([one.floor for one in many], axis=0), few.floor, rtol=0.06)
    wide = np.mean([one.upper - one.lower for one in many], axis=0)
    np.testing.assert_allclose(wide, few.upper - few.lower, rtol=0.15)


FLOORS = [ece, classwise_ece, partial(ece, bins=2), partial(ece, bins=60)]


@pytest.mark.parametrize("metric", usually(FLOORS, lambda metric: metric in FLOORS[1:3]))
def test_floors_of_rows_are_those_of_arrays(metric):
    weight = np.random.default_rng(5).exponential(size=len(PROBA))
    table = pl.DataFrame({**COLUMNS, "w": weight})
    for name, given in ((None, None), ("w", weight)):
        options = [{"groups": None, "sample_weight": one} for one in (name, given)]
        found = [from_table(metric, table, **options[0], seed=k) for k in range(5)]
        wanted = [from_arrays(metric, **options[1], seed=k) for k in range(5)]
        for read in (lambda one: one.floor, lambda one: one.mean.upper):
            here, there = (np.mean([*map(read, each)], axis=0) for each in (found, wanted))
            np.testing.assert_allclose(here, there, rtol=0.1)


def test_equal_mass_is_close_where_confidences_are_not_round():
    metric = partial(ece, bins=10, binning="equal_mass")
    found, wanted = from_table(metric, pl.DataFrame(COLUMNS)), from_arrays(metric)
    np.testing.assert_allclose(found.value, wanted.value, atol=2e-4)


def test_more_times_than_can_be_told_apart(monkeypatch):
    monkeypatch.setattr(table_time_bins, "MAX_TIMES", 1000)
    columns = {**COLUMNS, "t": COLUMNS["t"] + np.random.default_rng(0).random(len(PROBA))}
    found = from_table(nll, pl.DataFrame(columns), bins=4)
    wanted = from_arrays(nll, columns, bins=4)
    np.testing.assert_allclose(found.rows, wanted.rows, atol=5)
    np.testing.assert_allclose(found.value, wanted.value, rtol=0.01)
    for k in range(4):
        inside = (columns["t"] >= found.time_from[k]) & (columns["t"] <= found.time_to[k])
        assert found.value[k] == pytest.approx(nll(columns["y"][inside], columns["p"][inside]))
        assert found.rows[k] == inside.sum()
    with pytest.raises(InputError, match='bins is "steps", but there are more than'):
        from_table(nll, pl.DataFrame(columns), bins="steps")


def test_too_many_steps_are_refused():
    columns = {**COLUMNS, "t": np.arange(len(PROBA))}
    columns = {name: np.tile(column, 2) for name, column in columns.items()}
    columns["t"] = np.arange(len(columns["t"]))
    with pytest.raises(InputError, match="stretches of time, but at most 2000"):
        from_table(nll, pl.DataFrame(columns), bins="steps")


def test_too_many_ids_that_are_no_numbers(monkeypatch):
    monkeypatch.setattr(group_ids, "MAX_OTHER_IDS", 50)
    names = np.array([f"match {k}" for k in COLUMNS["g"]])
    with pytest.raises(InputError, match="make a column of whole numbers"):
        from_table(ece, pl.DataFrame({**COLUMNS, "g": names}))


def test_many_cells_are_summed_in_fewer_buckets(monkeypatch):
    monkeypatch.setattr(scored_frame, "MAX_SUMS", 3000)
    found, wanted = from_table(ece, pl.DataFrame(COLUMNS)), from_arrays(ece)
    assert_same(found, wanted, ("value", "floor", "sequences"))
    np.testing.assert_allclose(found.upper, wanted.upper, rtol=0.2)


@pytest.mark.parametrize("ids", ["uint64", "int8", "float64", "datetime64[us]"])
def test_ids_of_any_type(ids):
    groups = COLUMNS["g"].astype(ids)
    for frame in (pd.DataFrame({**COLUMNS, "g": groups}), pl.DataFrame({**COLUMNS, "g": groups})):
        assert_same(from_table(nll, frame), from_arrays(nll), ("value", "upper", "sequences"))


def test_light_weights_are_worth_a_word():
    table = pl.DataFrame({**COLUMNS, "w": np.full(len(PROBA), 1 / len(PROBA))})
    with pytest.warns(LightWeightsWarning, match="sums to 1 over"):
        from_table(nll, table, sample_weight="w")


def test_files_are_opened(tmp_path):
    frame = pl.DataFrame(COLUMNS)
    frame[:1000].write_parquet(tmp_path / "one.parquet")
    frame[1000:].write_parquet(tmp_path / "two.parquet")
    frame.write_csv(tmp_path / "one.csv")
    for path in ("*.parquet", "one.csv"):
        assert_same(from_table(ece, str(tmp_path / path)), from_arrays(ece))


def test_few_passes():
    told = []
    asked = scored_frame.ColumnRoles.of(
        "proba", logits=None, proba="p", label="y", time="t", groups="g", sample_weight=None
    )
    table = scored_frame.read_scored_frame(
        TableWithProgress(pl.DataFrame(COLUMNS), told.append), asked, None
    )
    estimate_over_time(table.cut(3), ece, level=0.95, seed=0)
    # Few rows have labels drawn a hundred times, in two passes.
    adding = ["adding up", "adding up"]
    looking = ["looking at all rows", "counting the groups", "looking for times"]
    assert told == [*looking, "collecting the groups", *adding]
    assert table.passes.count == 6

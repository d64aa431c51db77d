"""A few times absurdly far away are left out of a curve; long tails are not."""

import warnings

import numpy as np
import polars as pl
import pytest

import tempocal as tc
from support.lanes import by_turns
from tempocal.curves.grid import find_bulk, fine
from tempocal.errors import StrayTimesWarning

CURVES = [
    tc.Spline(),
    tc.Spline(clock="time"),
    tc.ExponentialDecay(),
    tc.RandomWalk(),
    tc.Logarithmic(),
]
AT = np.repeat(np.arange(1.0, 9.0), 9), np.tile(np.linspace(-4.0, 4.0, 9), 8)


def some_rows(n=2000, seed=0):
    rng = np.random.default_rng(seed)
    time = rng.integers(1, 9, n).astype(float)
    logits = 2.0 * rng.normal(size=n)
    y = (rng.random(n) < 1.0 / (1.0 + np.exp(-(0.2 + 0.15 * time) * logits))).astype(int)
    return logits, y, time


def proba_of(cal):
    return cal.predict_proba(AT[1], time=AT[0])[:, 1]


@pytest.mark.filterwarnings("ignore::tempocal.errors.AtBoundWarning")
@pytest.mark.parametrize(
    ("curve", "stray"),
    by_turns(
        CURVES,
        [[1e6], [1e9], [1e15], [1e300], [-1e6], [-1e9, 1e9], [1e6, 2e7, 3e12], [1e6] * 12],
        every=3,
    ),
    ids=str,
)
def test_the_other_rows_are_fitted_as_without_stray_ones(curve, stray):
    logits, y, time = some_rows()
    rows = 17 * np.arange(len(stray))
    others = np.delete(np.arange(len(time)), rows)
    time[rows] = stray
    cal = tc.TemporalCalibrator(tc.PlattScaling(), curve)
    with pytest.warns(StrayTimesWarning, match=rf"except {len(stray)} of 2000 lie from 1 to 8"):
        found = proba_of(cal.fit(logits, y, time=time))
    expected = proba_of(cal.fit(logits[others], y[others], time=time[others]))
    np.testing.assert_array_equal(found, expected)


CLOCKS = {
    "lognormal": lambda rng: rng.lognormal(0.0, 3.0, 20_000),
    "pareto of infinite mean": lambda rng: rng.pareto(0.9, 20_000),
    "exponential": lambda rng: rng.exponential(3600.0, 20_000),
    "cubed exponential": lambda rng: rng.exponential(1.0, 20_000) ** 3,
    "unix seconds": lambda rng: 1.7e9 + rng.integers(0, 10**7, 5_000),
    "one day of 1970 among a year": lambda rng: np.append(1.7e9 + rng.random(999) * 3e7, 0.0),
    "few long sequences": lambda rng: np.append(rng.integers(1, 9, 20_000), np.arange(0, 9000, 60)),
    "two values": lambda rng: np.repeat([0.0, 1e6], 1000),
    "one row beside a single value": lambda rng: np.append(np.zeros(1999), 1e6),
    "two clusters": lambda rng: np.append(rng.random(1000), 1e9 + rng.random(30)),
    "few rows": lambda rng: np.array([1.0, 2.0, 3.0, 1e9]),
}


@pytest.mark.parametrize("clock", CLOCKS.values(), ids=CLOCKS)
@pytest.mark.parametrize("weighted", [False, True])
def test_no_time_of_a_skewed_clock_is_stray(clock, weighted):
    for seed in range(20):
        time = clock(np.random.default_rng(seed)).astype(float)
        assert find_bulk(time, np.ones(len(time)) if weighted else None) is None


@pytest.mark.parametrize("curve", CURVES, ids=repr)
def test_a_skewed_clock_is_laid_as_if_there_were_no_rule(curve):
    time = np.random.default_rng(0).lognormal(0.0, 3.0, 3000)
    track, laid = curve.track(time, None), curve._lay(fine(time, None, curve.most_cells))
    assert track.kept is None
    assert track.bulk is None
    np.testing.assert_array_equal(track.grid.times, laid.grid.times)
    np.testing.assert_array_equal(track.grid.keys, laid.grid.keys)


def test_more_than_a_hundredth_of_the_rows_is_no_accident():
    time = some_rows()[2]
    time[:20] = 1e9
    assert find_bulk(time, None).n_stray == 20
    time[:21] = 1e9
    assert find_bulk(time, None) is None


def test_a_weight_is_how_often_a_time_was_seen():
    time = some_rows()[2]
    time[:5] = 1e9
    weights = np.random.default_rng(1).integers(1, 4, len(time))
    one = find_bulk(time, weights.astype(float))
    assert one == find_bulk(np.repeat(time, weights), None)


def test_a_surface_goes_without_stray_times_of_either_clock():
    logits, y, time = some_rows()
    both = np.stack([time, np.abs(logits)], axis=1)
    both[3, 0], both[5, 1] = 1e9, 1e12
    surface = tc.Surface(tc.ExponentialDecay(), tc.Spline(intervals=3, clock="log"))
    cal = tc.TemporalCalibrator(tc.TemperatureScaling(), surface)
    with pytest.warns(StrayTimesWarning):
        cal.fit(logits, y, time=both)
    assert cal.summary().n_rows == 1998


def test_candidates_are_compared_on_all_rows():
    logits, y, time = some_rows(600)
    groups = np.arange(600) // 3
    cal = tc.AutoTemporalCalibrator([(tc.TemperatureScaling(), tc.Spline())], progress=False)
    expected = cal.fit(logits[1:], y[1:], time=time[1:], groups=groups[1:]).comparison_
    time[0] = 1e9
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StrayTimesWarning)
        found = cal.fit(logits, y, time=time, groups=groups).comparison_
    assert [one.name for one in found] == [one.name for one in expected]
    np.testing.assert_allclose([one.nll for one in found], [one.nll for one in expected], atol=2e-3)


def test_later_rows_are_learned_on_the_curve_of_the_first(tmp_path):
    logits, y, time = some_rows()
    time[0] = 1e9
    cal = tc.TemporalCalibrator(tc.TemperatureScaling(), tc.Spline())
    with pytest.warns(StrayTimesWarning):
        cal.partial_fit(logits[:1000], y[:1000], time=time[:1000])
    cal.save(tmp_path / "model.json")
    loaded = tc.load(tmp_path / "model.json")
    for each in (cal, loaded):
        each.partial_fit(logits[1000:], y[1000:], time=time[1000:])
    np.testing.assert_array_equal(proba_of(cal), proba_of(loaded))


@pytest.mark.filterwarnings("ignore::tempocal.errors.AtBoundWarning")
@pytest.mark.parametrize(
    ("curve", "continuous"), by_turns(CURVES, [False, True], every=2), ids=repr
)
def test_tables_go_without_stray_times_too(curve, continuous):
    logits, y, time = some_rows(6000)
    time = time + continuous * np.random.default_rng(5).random(len(time))
    time[[7, 77]] = 1e9, -1e12
    table = pl.DataFrame({"z": logits, "y": y, "t": time})
    cal = tc.TemporalCalibrator(tc.PlattScaling(), curve)
    with pytest.warns(StrayTimesWarning, match="except 2 of 6000"):
        found = proba_of(cal.fit_table(table, logits="z", label="y", time="t"))
    assert cal.summary().n_rows == 5998
    with pytest.warns(StrayTimesWarning):
        expected = proba_of(cal.fit(logits, y, time=time))
    np.testing.assert_allclose(found, expected, atol=1e-6)

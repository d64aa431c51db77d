from functools import partial

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tempocal as tc
from support.examples import examples
from tempocal.errors import InputError
from tempocal.metrics import (
    brier,
    classwise_ece,
    ece,
    gain,
    max_calibration_error,
    nll,
    over_time,
    overconfidence,
    sampling_floor,
    smooth_ece,
    with_interval,
)

MATCHES = tc.datasets.simulate_match(300)
PROBA = 1 / (1 + np.exp(-MATCHES.logits))
METRICS = {
    "ece": ece,
    "mass": partial(ece, bins=7, binning="equal_mass", of="positive_class"),
    "classwise": classwise_ece,
    "nll": nll,
    "clipped": partial(nll, clip=0.1),
    "brier": brier,
    "one column": partial(brier, of="positive_class"),
    "smooth": smooth_ece,
    "max": max_calibration_error,
}


def take(metric, rows=slice(None), **settings):
    settings = {"groups": MATCHES.sequence[rows], "bins": 4} | settings
    return over_time(metric, MATCHES.label[rows], PROBA[rows], MATCHES.time[rows], **settings)


@pytest.mark.parametrize("name", METRICS)
@pytest.mark.parametrize("weighted", [False, True])
def test_values_are_those_of_a_loop(name, weighted):
    weight = np.random.default_rng(0).integers(0, 4, len(PROBA)) if weighted else None
    table = take(METRICS[name], sample_weight=weight)
    for k in range(len(table)):
        inside = (table.time_from[k] <= MATCHES.time) & (MATCHES.time <= table.time_to[k])
        expected = METRICS[name](
            MATCHES.label[inside],
            PROBA[inside],
            sample_weight=None if weight is None else weight[inside],
        )
        assert table.value[k] == pytest.approx(expected, rel=1e-12)
    assert table.mean == pytest.approx(table.value.mean(), rel=1e-12)


@pytest.mark.parametrize("classes", [3, 10])
@pytest.mark.parametrize("metric", [ece, classwise_ece, nll, brier])
def test_several_classes(classes, metric):
    random = np.random.default_rng(classes)
    proba = random.dirichlet(np.ones(classes), 2000)
    label = np.array([f"class {k:02d}" for k in random.integers(0, classes, 2000)])
    time = random.integers(0, 30, 2000)
    table = over_time(metric, label, proba, time, bins=3)
    for k in range(len(table)):
        inside = (table.time_from[k] <= time) & (time <= table.time_to[k])
        assert table.value[k] == pytest.approx(metric(label[inside], proba[inside]))
    assert (table.lower <= table.value).all()


def test_one_time_bin_for_each_step():
    table = take(nll, bins="steps")
    assert table.time_from.tolist() == sorted(set(MATCHES.time.tolist()))
    assert (table.time_from == table.time_to).all()


@pytest.mark.parametrize("name", METRICS)
def test_order_of_rows_changes_nothing(name):
    mixed = np.random.default_rng(1).permutation(len(PROBA))
    here, there = take(METRICS[name]), take(METRICS[name], mixed)
    for column in here.columns():
        np.testing.assert_allclose(
            getattr(here, column).astype(float), getattr(there, column).astype(float), rtol=1e-9
        )


@pytest.mark.parametrize("metric", [ece, nll])
def test_a_weight_is_a_repetition(metric):
    weight = np.random.default_rng(2).integers(0, 3, len(PROBA))
    rows = np.repeat(np.arange(len(PROBA)), weight)
    for groups in (MATCHES.sequence, None):
        given = take(metric, sample_weight=weight, groups=groups)
        repeated = take(metric, rows, groups=None if groups is None else groups[rows])
        np.testing.assert_allclose(given.value, repeated.value, rtol=1e-9)
        # Rows fall into other buckets where they are repeated, and the noise is drawn for these.
        close = 1e-9 if groups is not None else 0.02 if metric is nll else 0.3
        np.testing.assert_allclose(given.upper, repeated.upper, rtol=close)


def test_intervals_by_group_are_wider_than_by_row():
    by_group, by_row = take(nll), take(nll, groups=None)
    assert (by_group.upper - by_group.lower > 1.3 * (by_row.upper - by_row.lower)).all()
    assert by_row.n_groups is None
    assert "independent" in str(by_row)
    assert (by_row.sequences == by_row.rows).all()


def test_a_mean_has_the_interval_of_its_group_means():
    """Groups of one row in each time bin: Student's interval, written out."""
    first = np.flatnonzero(np.diff(MATCHES.sequence, prepend=-1))
    loss = -np.log(np.where(MATCHES.label == 1, PROBA, 1 - PROBA))[first]
    found = with_interval(nll, MATCHES.label[first], PROBA[first], groups=MATCHES.sequence[first])
    half = 1.9679 * loss.std(ddof=1) / np.sqrt(len(loss))
    assert found.upper - found == pytest.approx(half, rel=1e-4)
    assert found - found.lower == pytest.approx(half, rel=1e-4)


def test_floor_is_the_sampling_floor():
    found = with_interval(ece, MATCHES.label, PROBA, groups=MATCHES.sequence)
    drawn = sampling_floor(PROBA, groups=MATCHES.sequence, n_draws=400, seed=1)
    assert found.floor == pytest.approx(drawn, abs=4 * drawn.draws.std() / 10)
    by_row = with_interval(ece, MATCHES.label, PROBA)
    assert by_row.floor < 0.7 * found.floor


def test_floor_of_a_mean_is_the_loss_that_the_probabilities_expect():
    found = with_interval(brier, MATCHES.label, PROBA)
    assert found.floor == pytest.approx(2 * np.mean(PROBA * (1 - PROBA)))


def test_an_error_under_twice_its_floor_has_only_an_upper_bound():
    table = over_time(
        ece,
        MATCHES.label,
        MATCHES.true_probability,
        MATCHES.time,
        bins=4,
        groups=MATCHES.sequence,
    )
    assert (table.only_upper == (table.value <= 2 * table.floor)).all()
    assert table.only_upper.all()
    assert (table.lower == 0).all()
    assert (table.upper >= table.value).all()
    assert "-" in str(table)


def test_intervals_of_the_error_are_below_the_value_on_average():
    """Noise adds to an error: most of the interval is below it."""
    table = take(ece)
    clear = ~table.only_upper
    assert clear.any()
    middle = (table.lower + table.upper)[clear] / 2
    assert (middle < table.value[clear] * 1.05).all()


def test_datetimes_and_timedeltas_come_back():
    start = np.datetime64("2026-03-01T10:00")
    stamps = start + MATCHES.time.astype("m8[m]")
    table = take(nll)
    dated = over_time(nll, MATCHES.label, PROBA, stamps, bins=4, groups=MATCHES.sequence)
    assert (dated.time_from == start + table.time_from.astype("m8[m]")).all()
    passed = over_time(nll, MATCHES.label, PROBA, stamps - start, bins=4)
    assert passed.time_to.dtype.kind == "m"
    assert "2026-03-01" in str(dated)


def test_columns_are_a_tidy_table():
    table = pd.DataFrame(take(ece).columns())
    assert list(table)[:5] == ["time_from", "time_to", "time_middle", "rows", "sequences"]
    assert table["rows"].sum() == len(PROBA)


def test_one_group_has_no_interval():
    one = np.zeros(len(PROBA))
    table = take(ece, groups=one)
    assert (table.upper == 1).all()
    assert table.only_upper.all()
    assert np.isinf(take(nll, groups=one).upper).all()


def test_an_impossible_outcome_is_infinite():
    proba = PROBA.copy()
    proba[0] = 1.0 - MATCHES.label[0]
    table = over_time(nll, MATCHES.label, proba, MATCHES.time, bins=4, groups=MATCHES.sequence)
    assert np.isinf([table.value[0], table.lower[0], table.upper[0]]).all()
    assert np.isfinite(table.upper[1:]).all()
    assert np.isfinite(table.floor).all()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"bins": 0}, "bins must be a whole number"),
        ({"bins": "months"}, "bins must be"),
        ({"level": 1.0}, "level must lie between 0 and 1"),
        ({"seed": -1}, "seed must be"),
        ({"metric": "ece"}, "metric must be a function"),
        ({"groups": [1, 2]}, "groups"),
        ({"time": np.arange(3)}, "time"),
        ({"time": np.full(len(PROBA), np.nan)}, "time contains NaN"),
    ],
)
def test_what_is_refused(change, words):
    arguments = {"metric": ece, "y": MATCHES.label, "proba": PROBA, "time": MATCHES.time} | change
    with pytest.raises(InputError, match=words):
        over_time(**arguments)


@examples(60)
@given(st.integers(1, 40), st.integers(1, 6), st.integers(1, 5), st.integers(0, 10**6))
def test_any_few_rows(rows, groups, bins, seed):
    random = np.random.default_rng(seed)
    proba = random.random(rows).round(1)
    label, time = random.integers(0, 2, rows), random.integers(0, 5, rows)
    table = over_time(
        ece,
        label,
        proba,
        time,
        bins=bins,
        groups=random.integers(0, groups, rows),
        classes=[0, 1],
    )
    assert table.rows.sum() == rows
    assert (table.lower >= 0).all()
    assert (table.lower <= table.upper).all()
    assert (table.upper <= 1).all()
    assert np.isfinite(table.floor).all()


def test_a_gain_is_the_mean_difference_with_its_own_error():
    true = MATCHES.true_probability
    found = gain(nll, MATCHES.label, PROBA, true, groups=MATCHES.sequence)
    assert found == pytest.approx(nll(MATCHES.label, PROBA) - nll(MATCHES.label, true))
    alone = with_interval(nll, MATCHES.label, PROBA, groups=MATCHES.sequence)
    assert found.upper - found.lower < 0.5 * (alone.upper - alone.lower)
    back = gain(nll, MATCHES.label, true, PROBA, groups=MATCHES.sequence)
    assert (back, back.lower) == pytest.approx((-found, -found.upper))
    with pytest.raises(InputError, match="row by row"):
        gain(ece, MATCHES.label, PROBA, true)


def test_overconfidence_has_a_direction():
    table = take(overconfidence)
    assert table.lower[0] > 0.05
    np.testing.assert_allclose(table.floor, 0, atol=1e-12)
    timid = over_time(overconfidence, MATCHES.label, 0.5 + (PROBA - 0.5) / 4, MATCHES.time, bins=4)
    assert (timid.upper < 0).all()


def test_steps_of_little_weight_are_steps():
    weight = np.where(MATCHES.time == 3, 1e-4, 1.0)
    table = take(nll, bins="steps", sample_weight=weight)
    assert len(table) == len(np.unique(MATCHES.time))


def test_too_many_time_bins_are_refused():
    time = np.random.default_rng(0).random(len(PROBA))
    with pytest.raises(InputError, match="bins is 'steps', which makes"):
        over_time(nll, MATCHES.label, PROBA, time, bins="steps")


def own_metric(y, proba, **rest):
    return nll(y, proba, **rest)


@pytest.mark.parametrize("metric", [smooth_ece, own_metric])
def test_few_groups_leave_any_metric_unsure(metric):
    """Of one group nothing is known; three tell less than thirty."""
    one = take(metric, groups=np.zeros(len(PROBA)), bins=1)
    assert one.upper[0] >= 1 if metric is smooth_ece else np.isinf(one.upper[0])
    few, many = (take(metric, groups=MATCHES.sequence % n, bins=1) for n in (3, 30))
    assert few.upper[0] - few.value[0] > many.upper[0] - many.value[0]


def test_an_error_has_no_upper_end_above_one():
    proba = np.where(MATCHES.label == 1, 0.01, 0.99)
    table = over_time(
        max_calibration_error, MATCHES.label, proba, MATCHES.time, bins=2, groups=MATCHES.sequence
    )
    assert (table.upper <= 1).all()


def test_intervals_do_not_depend_on_what_groups_are_called():
    """Losses that repeat with the ids, a thousand apart."""
    random = np.random.default_rng(0)
    n = 20_000
    proba = np.full(n, 0.5)
    label = np.arange(n) % 1000 < 500
    proba[np.arange(n) % 1000 < 250] = 0.9
    found = with_interval(nll, label, proba, groups=np.arange(n))
    renamed = with_interval(nll, label, proba, groups=random.permutation(n))
    losses = -np.log(np.where(label, proba, 1 - proba))
    exact = 1.96 * losses.std() / np.sqrt(n)
    for one in (found, renamed):
        assert one.upper - one == pytest.approx(exact, rel=0.12)


def test_two_infinite_losses_gain_nothing():
    certain = np.where(MATCHES.label == 1, 0.0, 1.0)
    assert gain(nll, MATCHES.label, certain, certain) == 0.0


@pytest.mark.parametrize("own", [{"classes": [1, 0]}, {"sample_weight": np.ones(3)}])
def test_settings_that_would_be_overridden_are_refused(own):
    with pytest.raises(InputError, match="of its own, which would be overridden"):
        take(partial(nll, **own))
    with pytest.raises(InputError, match="settings that ece does not"):
        take(partial(ece, scheme="mass"))


def test_chance_of_the_worst_time_bin():
    """Perfect probabilities of independent rows: few sets have an error that is further out."""
    random, beyond = np.random.default_rng(0), 0
    proba, time = random.random(2000), np.arange(2000) % 10
    for _ in range(50):
        table = over_time(ece, random.random(2000) < proba, proba, time, bins=10)
        beyond += (table.value > table.chance_ratio * table.floor).any()
    assert beyond <= 5
    assert np.isinf(take(nll).chance_ratio)


def test_level_of_any_number_type():
    assert take(nll, level=np.float32(0.9)).level == pytest.approx(0.9)

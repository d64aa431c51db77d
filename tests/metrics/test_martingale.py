from itertools import pairwise

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.stats import kstest, norm

import tempocal as tc
from support.examples import examples
from tempocal.errors import InputError
from tempocal.metrics import martingale_check


def with_outcome(proba, matches):
    """Forecasts of matches, each with the row at which it was won."""
    last = np.append(np.flatnonzero(np.diff(matches.sequence)), len(proba) - 1)
    return {
        "proba": np.append(proba, matches.label[last]),
        "sequence": np.append(matches.sequence, matches.sequence[last]),
        "time": np.append(matches.time, matches.time[last] + 1),
    }


def check(arguments, **more):
    arguments = arguments | more
    return martingale_check(arguments.pop("proba"), **arguments)


def written_out(proba, sequence):
    """Excess of each sequence, by a loop."""
    proba = np.asarray(proba).reshape(len(proba), -1)
    sums = {}
    for name in dict.fromkeys(sequence):
        rows = proba[np.asarray(sequence) == name]
        if len(rows) > 1:
            sums[name] = sum(
                (q - p) * (1 - 2 * p)
                for before, after in pairwise(rows)
                for p, q in zip(before, after, strict=True)
            )
    return np.array(list(sums.values()))


@st.composite
def forecasts(draw, n_classes=None):
    """Coarse probabilities with ties, zeros and ones, of sequences in any order."""
    k = draw(st.integers(3, 5)) if n_classes is None else n_classes
    shares = st.lists(st.integers(0, 4), min_size=k, max_size=k).filter(any)
    rows = draw(st.lists(st.tuples(shares, st.integers(0, 3)), min_size=4, max_size=25))
    parts, sequence = (np.array(column) for column in zip(*rows, strict=True))
    # At least two sequences have a step.
    sequence[:4] = [0, 0, 1, 1]
    return parts / parts.sum(axis=1, keepdims=True), sequence


@examples(60)
@given(rows=forecasts() | forecasts(n_classes=2))
def test_is_what_a_loop_gives(rows):
    proba, sequence = rows
    column = proba[:, 1] if proba.shape[1] == 2 else proba
    sums = written_out(column, sequence)
    found = martingale_check(proba, sequence=sequence)
    assert found.n_sequences == found.n_groups == len(sums)
    assert found.n_single == len(np.unique(sequence)) - len(sums)
    assert found.excess == pytest.approx(sums.mean(), abs=1e-14)
    assert found.error == pytest.approx(np.sqrt((sums**2).sum()) / len(sums), abs=1e-14)
    assert found.p_value == pytest.approx(2 * norm.sf(abs(found.z)))


@examples(60)
@given(rows=forecasts() | forecasts(n_classes=2))
def test_excess_is_movement_less_reduction(rows):
    proba, sequence = rows
    found = martingale_check(proba, sequence=sequence)
    total = found.n_sequences * found.excess
    assert found.movement - found.reduction == pytest.approx(total, abs=1e-12)
    # What is reduced on the way telescopes.
    column = proba[:, 1:] if proba.shape[1] == 2 else proba
    open_ = (column * (1 - column)).sum(axis=1)
    ends = [np.flatnonzero(sequence == name)[[0, -1]] for name in np.unique(sequence)]
    assert found.reduction == pytest.approx(sum(open_[a] - open_[b] for a, b in ends), abs=1e-12)


def test_p_values_of_the_truth_are_uniform():
    p_values = []
    for seed in range(400):
        matches = tc.datasets.simulate_match(150, wins=6, seed=seed)
        p_values.append(check(with_outcome(matches.true_probability, matches)).p_value)
    assert kstest(p_values, "uniform").pvalue > 0.01
    assert 0.02 < np.mean(np.array(p_values) < 0.05) < 0.09


def test_truth_passes_up_to_a_time_that_no_match_ends_before():
    matches = tc.datasets.simulate_match(4000)
    kept = matches.time < 13
    found = martingale_check(
        matches.true_probability[kept], sequence=matches.sequence[kept], time=matches.time[kept]
    )
    assert found.verdict == "no sign"


def test_rows_that_stop_before_the_outcome_are_a_trap():
    matches = tc.datasets.simulate_match(2000)
    where = {"sequence": matches.sequence, "time": matches.time}
    assert martingale_check(matches.true_probability, **where).verdict == "moves too much"
    assert check(with_outcome(matches.true_probability, matches)).verdict == "no sign"


@pytest.mark.parametrize(("slope", "verdict"), [(1.7, "moves too much"), (0.6, "moves too little")])
def test_distorted_forecasts_fail(slope, verdict):
    matches = tc.datasets.simulate_match(1000)
    true = matches.true_probability
    distorted = 1 / (1 + np.exp(-slope * np.log(true / (1 - true))))
    found = check(with_outcome(distorted, matches))
    assert found.verdict == verdict
    assert abs(found.z) > 4
    assert str(found).startswith(f"{verdict}: ")


def test_forgetful_forecasts_are_calibrated_at_each_step_and_fail():
    random = np.random.default_rng(0)
    n, steps = 2000, 8
    label = random.random(n) < 0.5
    # Each row knows one signal, right with probability 0.8, and none of those before.
    signal = np.where(random.random((n, steps)) < 0.8, label[:, None], ~label[:, None])
    proba = np.where(signal, 0.8, 0.2)
    for step in range(steps):
        for said in (0.2, 0.8):
            assert label[proba[:, step] == said].mean() == pytest.approx(said, abs=0.04)
    found = martingale_check(proba.ravel(), sequence=np.repeat(np.arange(n), steps))
    assert found.verdict == "moves too much"
    assert found.z > 20
    remembering = 1 / (1 + 4.0 ** -np.cumsum(2 * signal - 1, axis=1))
    found = martingale_check(remembering.ravel(), sequence=np.repeat(np.arange(n), steps))
    assert found.verdict == "no sign"


def test_true_probabilities_of_three_classes_pass_and_sharpened_ones_fail():
    random = np.random.default_rng(0)
    n, steps = 1500, 6
    label = random.integers(0, 3, n)
    # Signals about one of three outcomes that are equally likely at first.
    likelihood = np.where(np.eye(3, dtype=bool), 0.5, 0.25)
    signal = np.array([random.choice(3, steps, p=likelihood[y]) for y in label])
    logits = np.cumsum(np.log(likelihood)[signal], axis=1).reshape(-1, 3)
    sequence = np.repeat(np.arange(n), steps)
    for slope, verdict in [(1.0, "no sign"), (2.0, "moves too much"), (0.5, "moves too little")]:
        odds = np.exp(slope * logits)
        proba = odds / odds.sum(axis=1, keepdims=True)
        assert martingale_check(proba, sequence=sequence).verdict == verdict


@examples(30)
@given(rows=forecasts(), seed=st.integers(0, 2**32 - 1))
def test_order_of_rows_is_nothing_with_time(rows, seed):
    proba, sequence = rows
    time, order = np.arange(len(sequence)), np.random.default_rng(seed).permutation(len(sequence))
    straight = martingale_check(proba, sequence=sequence, time=time, bins=3)
    shuffled = martingale_check(proba[order], sequence=sequence[order], time=time[order], bins=3)
    assert str(shuffled) == str(straight)
    assert shuffled.z == straight.z == martingale_check(proba, sequence=sequence).z


@examples(30)
@given(rows=forecasts(), seed=st.integers(0, 2**32 - 1))
def test_an_order_puts_rows_in_order_and_time_makes_bins(rows, seed):
    proba, sequence = rows
    random, step = np.random.default_rng(seed), np.arange(len(sequence))
    order, time = random.permutation(len(sequence)), random.integers(0, 4, len(sequence))
    mixed = {"sequence": sequence[order], "order": step[order]}
    # What lies in reverse altogether may be a countdown, and is refused.
    assume(any(np.diff(order[sequence[order] == one]).max(initial=-1) > 0 for one in sequence))
    found = martingale_check(proba[order], time=time[order], bins="steps", **mixed)
    assert found.z == martingale_check(proba, sequence=sequence).z
    assert found.over_time.steps.sum() == found.n_steps
    later = np.concatenate([np.flatnonzero(sequence == one)[1:] for one in np.unique(sequence)])
    np.testing.assert_array_equal(found.over_time.time_from, np.unique(time[later]))


def test_one_column_is_the_second_of_two():
    random = np.random.default_rng(0)
    p, sequence = random.random(60), np.arange(60) // 6
    for proba in (p[:, None], np.stack([1 - p, p], axis=1)):
        assert str(martingale_check(proba, sequence=sequence)) == str(
            martingale_check(p, sequence=sequence)
        )
    # The other column moves as much, and a third class that never comes doubles all but z.
    turned = martingale_check(1 - p, sequence=sequence)
    three = martingale_check(np.stack([1 - p, p, 0 * p], axis=1), sequence=sequence)
    one = martingale_check(p, sequence=sequence)
    assert turned.excess == pytest.approx(one.excess)
    assert three.excess == pytest.approx(2 * one.excess)
    assert three.z == pytest.approx(one.z) == pytest.approx(turned.z)


def test_groups_are_what_varies():
    random = np.random.default_rng(0)
    p, sequence = random.random(60), np.arange(60) // 3
    groups = sequence // 4
    found = martingale_check(p, sequence=sequence, groups=groups)
    sums = written_out(p, sequence).reshape(-1, 4).sum(axis=1)
    assert (found.n_sequences, found.n_groups) == (20, 5)
    assert found.z == pytest.approx(sums.sum() / np.sqrt((sums**2).sum()))
    assert found.excess == pytest.approx(sums.sum() / 20)
    alone = martingale_check(p, sequence=sequence)
    assert martingale_check(p, sequence=sequence, groups=sequence).z == alone.z


def test_groups_of_copies_do_not_add_evidence():
    random = np.random.default_rng(0)
    p, sequence = random.random(60), np.arange(60) // 3
    once = martingale_check(p, sequence=sequence)
    twice = np.concatenate([sequence, sequence + 20])
    copied = martingale_check(np.tile(p, 2), sequence=twice, groups=np.tile(sequence, 2))
    assert copied.z == pytest.approx(once.z)
    assert copied.excess == pytest.approx(once.excess)


def test_sequences_of_one_row_are_counted_and_left_out():
    p, sequence = [0.2, 0.4, 0.5, 0.9, 0.1], ["a", "a", "b", "b", "c"]
    found = martingale_check(p, sequence=sequence)
    assert (found.n_sequences, found.n_single, found.n_groups, found.n_steps) == (2, 1, 2, 2)
    assert found.excess == martingale_check(p[:4], sequence=sequence[:4]).excess


def test_table_over_time_is_the_check_of_each_time_bin():
    matches = tc.datasets.simulate_match(200, wins=5)
    rows = with_outcome(1 / (1 + np.exp(-matches.logits)), matches)
    whole = check(rows, bins=3)
    table = whole.over_time
    assert list(vars(table)) == [
        *("time_from", "time_to", "steps", "sequences", "excess", "error", "z")
    ]
    assert len(pd.DataFrame(vars(table))) == 3
    assert table.steps.sum() == whole.n_steps
    total = (table.excess * table.sequences).sum()
    assert total == pytest.approx(whole.excess * whole.n_sequences)
    for at, (first, last) in enumerate(zip(table.time_from, table.time_to, strict=True)):
        # The row before the first step belongs to that step.
        kept = (rows["time"] >= first - 1) & (rows["time"] <= last)
        part = check({name: values[kept] for name, values in rows.items()})
        assert (part.n_steps, part.n_sequences) == (table.steps[at], table.sequences[at])
        found = (table.excess[at], table.error[at], table.z[at])
        assert found == pytest.approx((part.excess, part.error, part.z))


def test_fault_shows_where_it_is():
    matches = tc.datasets.simulate_match(2000, wins=6)
    true = matches.true_probability
    slope = np.where(matches.time < 3, 2.0, 1.0)
    distorted = 1 / (1 + np.exp(-slope * np.log(true / (1 - true))))
    z = check(with_outcome(distorted, matches), bins="steps").over_time.z
    # Up to the step from the last distorted row to the first true one.
    assert (z[:3] > 3).all()
    assert (np.abs(z[3:]) < 3.5).all()


def test_time_bin_of_one_group_has_no_z():
    found = martingale_check(
        [0.2, 0.4, 0.6, 0.3, 0.5], sequence=[0, 0, 0, 1, 1], time=[0, 1, 2, 0, 1], bins="steps"
    )
    np.testing.assert_array_equal(np.isnan(found.over_time.z), [False, True])
    np.testing.assert_array_equal(np.isnan(found.over_time.error), [False, True])
    assert np.isfinite(found.over_time.excess).all()
    assert "nan" in str(found)


def test_times_come_back_as_they_were():
    p, sequence = [0.2, 0.4, 0.6, 0.3], [0, 0, 1, 1]
    days = pd.to_datetime(["2026-01-01", "2026-01-03", "2026-01-01", "2026-01-02"])
    found = martingale_check(p, sequence=sequence, time=days, bins=1)
    assert found.over_time.time_from[0] == np.datetime64("2026-01-02")
    assert found.over_time.time_to[0] == np.datetime64("2026-01-03")
    assert "2026-01-03" in str(found)


def test_forecasts_that_never_move_show_nothing():
    found = martingale_check([0.3, 0.3, 0.8, 0.8], sequence=[0, 0, 1, 1])
    assert (found.excess, found.error, found.z, found.p_value) == (0, 0, 0, 1)
    assert found.verdict == "no sign"


@pytest.mark.parametrize("scale", [1e-300, 1e-170, 1e-10, 1.0])
def test_tiny_probabilities_do_not_underflow(scale):
    p = scale * np.array([0.1, 0.3, 0.2, 0.1, 0.1, 0.4])
    found = martingale_check(p, sequence=[0, 0, 1, 1, 2, 2])
    assert 0.5 < found.z < 1.5
    assert found.excess > 0


def test_certain_forecasts_are_fine():
    found = martingale_check([0.0, 1.0, 1.0, 0.0, 1.0, 1.0], sequence=[0, 0, 1, 1, 2, 2])
    assert found.excess == pytest.approx(2 / 3)


@pytest.mark.parametrize("kind", [list, np.asarray, pd.Series, pl.Series])
def test_ids_and_containers_are_of_any_kind(kind):
    p, sequence = [0.2, 0.4, 0.5, 0.9], ["b", "b", "a", "a"]
    found = martingale_check(kind(p), sequence=kind(sequence), time=kind([1, 2, 1, 2]))
    assert found.z == martingale_check(p, sequence=[0, 0, 1, 1]).z


ROWS = {"proba": [0.2, 0.4, 0.5, 0.9], "sequence": ["x", "x", "y", "y"]}


@pytest.mark.parametrize(
    ("message", "change"),
    [
        ("proba contains NaN", {"proba": [0.1, np.nan, 0.2, 0.3]}),
        ("proba must lie in", {"proba": [0.1, 1.5, 0.2, 0.3]}),
        ("proba is empty", {"proba": []}),
        ("sequence is None", {"sequence": None}),
        ("sequence has 2 entries", {"sequence": [0, 0]}),
        ("sequence contains a missing id", {"sequence": [0, 0, 1, np.nan]}),
        ("sequence has 4 different ids in 4 rows", {"sequence": [0, 1, 2, 3]}),
        ("sequence has 1 id with steps", {"sequence": [0, 0, 0, 0]}),
        ("sequence has 1 id with steps", {"sequence": [0, 0, 0, 1]}),
        ("groups has 1 id with steps", {"groups": [5, 5, 5, 5]}),
        ("groups must be the same .* within the sequence y", {"groups": [0, 0, 0, 1]}),
        ("groups has 1 entries", {"groups": [0]}),
        ("time has 3 entries", {"time": [0, 1, 2]}),
        ("time contains NaN", {"time": [0, 1, 2, np.nan]}),
        ("two rows of the sequence y have the same .one is row 3", {"time": [0, 1, 2, 2]}),
        ("order has 3 entries", {"order": [0, 1, 2]}),
        ("order must differ .* the sequence y have the same", {"order": [0, 1, 2, 2]}),
        ("all rows lie in the reverse of it", {"order": [1, 0, 1, 0]}),
        ("sequence is None", {"sequence": None, "order": [0, 1, 0, 1]}),
        ("bins is 3, which needs time", {"bins": 3}),
        ("bins is 3, which needs time", {"bins": 3, "order": [0, 1, 0, 1]}),
        ("bins must be a whole number", {"bins": 0, "time": [0, 1, 0, 1]}),
    ],
)
def test_bad_input_is_refused(message, change):
    with pytest.raises(InputError, match=message):
        check(ROWS, **change)

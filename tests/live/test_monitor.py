"""Laws of the monitor: what counts, in which order, and what it finds."""

import itertools
import json
from datetime import datetime

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tempocal as tc
from support.examples import examples
from tempocal.live import Monitor
from tempocal.live.evalues import Alternatives

WIN_TAKES, LOSS_TAKES = 0.5, 10.0


def matches(n, seed=0):
    m = tc.datasets.simulate_match(n, seed=seed)
    order = np.argsort(m.sequence + m.time, kind="stable")  # a match starts every round
    where = {"time": m.time[order], "sequence": m.sequence[order]}
    return m.logits[order], m.true_probability[order], m.label[order], where


def sigmoid(z):
    return 1.0 / (1.0 + np.exp(-z))


def play(outcomes):
    """Play a world in which wins end at once and losses late, and forecasts learn from ends.

    Return the forecasts, what the one line showed after each event, and the order of the ends.
    """
    monitor = Monitor(movement=False)
    running, forecasts, shown, ended = [], [], [], []

    def look():
        line = monitor.status().stretches[0]
        shown.append((line.settled, line.e_value))

    def end_until(clock):
        while running and min(running)[0] <= clock:
            end, name = min(running)
            running.remove((end, name))
            monitor.finish(name, outcomes[name])
            ended.append(name)
            look()

    for name, label in enumerate(outcomes):
        end_until(name)
        wins = sum(outcomes[one] for one in ended)
        forecasts.append((0.6, 0.3, 0.8)[min(wins, 2)])
        monitor.predict(name, forecasts[-1], time=0)
        look()
        running.append((name + (WIN_TAKES if label else LOSS_TAKES), name))
    end_until(np.inf)
    return forecasts, shown, ended


def final(outcomes):
    """Value when all have ended."""
    if not outcomes:
        return 1.0
    settled, value = play(outcomes)[1][-1]
    assert settled == len(outcomes)
    return value


def test_settled_in_order_it_is_a_martingale_though_wins_end_early():
    """Exactly: the mean over the next outcome, for every past."""
    for n in range(4):
        for past in itertools.product([0, 1], repeat=n):
            p = play((*past, 1))[0][-1]
            mean = p * final((*past, 1)) + (1.0 - p) * final((*past, 0))
            assert mean == pytest.approx(final(past), rel=1e-12)


def test_what_is_shown_is_always_a_value_of_that_martingale():
    for outcomes in itertools.product([0, 1], repeat=4):
        for settled, value in play(outcomes)[1]:
            assert value == pytest.approx(final(outcomes[:settled]), rel=1e-12)


@pytest.mark.parametrize(("order", "is_right"), [("of prediction", True), ("of ends", False)])
def test_the_first_factor_has_a_mean_of_1_only_in_the_order_of_prediction(order, is_right):
    """The world above is one in which the order matters: the first to end is mostly a win."""
    mean = 0.0
    for outcomes in itertools.product([0, 1], repeat=4):
        forecasts, _, ended = play(outcomes)
        first = 0 if order == "of prediction" else ended[0]
        p = np.array([1.0 - forecasts[first], forecasts[first]])
        factors = np.exp(Alternatives(2).log_factors(p, np.eye(2)[outcomes[first]]))
        chances = [p if y else 1.0 - p for p, y in zip(forecasts, outcomes, strict=True)]
        mean += np.prod(chances) * factors[-1]  # the bet that class 1 is too low
    assert (mean == pytest.approx(1.0, rel=1e-12)) == is_right
    assert is_right or mean > 1.1


def same(one, other):
    """Tell whether two monitors stand at the same, to rounding."""
    for a, b in zip(one.status().lines, other.status().lines, strict=True):
        np.testing.assert_allclose([a.e_value, a.highest], [b.e_value, b.highest], rtol=1e-12)
        assert (a.settled, a.waiting, a.alarm) == (b.settled, b.waiting, b.alarm)
    return (one.status().finished, one.status().under_way) == (
        other.status().finished,
        other.status().under_way,
    )


@examples(25)
@given(st.integers(0, 10**6))
def test_when_outcomes_come_does_not_matter(seed):
    random = np.random.default_rng(seed)
    n = int(random.integers(1, 30))
    sequence, proba = random.integers(0, 6, n), random.random(n)
    time = np.zeros(n)
    for one in range(6):
        time[sequence == one] = np.sort(random.integers(0, 9, np.sum(sequence == one)))
    label = random.integers(0, 2, 6)
    known = random.random(6) < 0.7
    y = [int(label[one]) if known[one] else None for one in sequence]

    replayed = Monitor([3, 6]).replay(proba, y, time=time, sequence=sequence)
    late = Monitor([3, 6])
    for row in range(n):
        late.predict(sequence[row], proba[row], time[row])
    for one in random.permutation(np.unique(sequence)):
        if known[one]:
            late.finish(one, label[one])
    assert same(replayed, late)


def test_replaying_in_parts_is_replaying_at_once():
    _, true, label, where = matches(60)
    sequence, half = where["sequence"], len(true) // 2
    going_on = np.isin(sequence, sequence[half:])
    y = np.where(going_on & (np.arange(len(true)) < half), np.nan, label)
    parts = Monitor([6, 12])
    for rows in (slice(None, half), slice(half, None)):
        parts.replay(true[rows], y[rows], **{key: value[rows] for key, value in where.items()})
    assert same(Monitor([6, 12]).replay(true, label, **where), parts)


def test_a_sequence_counts_once_in_a_stretch():
    often, once = Monitor([5], movement=False), Monitor([5], movement=False)
    for time, proba in [(0, 0.2), (1, 0.9), (5, 0.4), (7, 0.1)]:
        often.predict("a", proba, time)
    for time, proba in [(0, 0.2), (5, 0.4)]:
        once.predict("a", proba, time)
    for monitor in (often, once):
        monitor.finish("a", 1)
    assert same(often, once)
    assert [line.settled for line in once.status().stretches] == [1, 1]


def test_an_edge_opens_a_stretch():
    monitor = Monitor([5, 7], movement=False)
    monitor.predict("a", 0.5, 5)
    assert [line.waiting for line in monitor.status().stretches] == [0, 1, 0]
    assert [line.name for line in monitor.status().stretches] == [
        "before 5",
        "from 5 to 7",
        "from 7 on",
    ]


def test_movement_needs_no_labels():
    monitor = Monitor([5, 10])
    for time, proba in [(0, 0.5), (3, 0.6), (6, 0.7), (10, 0.8), (12, 0.9)]:
        monitor.predict("a", proba, time)
    status = monitor.status()
    assert (status.movement.settled, status.movement.waiting) == (3, 0)
    assert [line.settled for line in status.stretches] == [0, 0, 0]


def test_the_last_step_before_the_end_goes_to_the_label():
    monitor = Monitor([5])
    monitor.predict("a", 0.5, 0)
    monitor.predict("a", 0.6, 1)
    assert monitor.status().movement.waiting == 1
    monitor.finish("a", 1)
    assert monitor.status().movement.settled == 2


def test_how_long_movement_is_watched_can_be_said():
    monitor = Monitor([5, 10], movement_until=2)
    for time in range(4):
        monitor.predict("a", 0.5, time)
    assert monitor.status().movement.settled == 2
    assert monitor.status().movement.e_value == pytest.approx(1.0)  # it never moved


def test_without_movement_there_is_no_line_of_it():
    status = Monitor([5], movement=False).status()
    assert status.movement is None
    assert status.threshold == pytest.approx(2 / 0.05)
    assert Monitor([5], alpha=0.01).status().threshold == pytest.approx(3 / 0.01)


def test_right_forecasts_raise_no_alarm_and_sure_ones_do():
    logits, true, label, where = matches(400)
    assert not Monitor([6, 12, 18]).replay(true, label, **where).status().alarm
    status = Monitor([6, 12, 18]).replay(sigmoid(logits), label, **where).status()
    early, movement = status.stretches[0], status.movement
    assert early.alarm
    assert early.suspicion == "forecasts are too sure"
    assert movement.alarm
    assert movement.suspicion == "forecasts move too much"
    assert early.since_settled < 100
    assert not status.stretches[3].alarm  # it is right late
    assert status.p_value < 1e-6


@pytest.mark.parametrize(
    ("factor", "shift", "suspicion"),
    [
        (0.4, 0.0, "forecasts are too timid"),
        (1.0, 1.0, "forecasts of class 1 are too high"),
        (1.0, -1.0, "forecasts of class 1 are too low"),
    ],
)
def test_a_change_after_a_long_good_time_is_found(factor, shift, suspicion):
    random = np.random.default_rng(0)
    n, change = 3000, 2000
    odds = 1.5 * random.normal(size=n)
    label = random.random(n) < sigmoid(odds)
    said = np.where(np.arange(n) < change, odds, factor * odds + shift)
    monitor = Monitor(movement=False)
    (line,) = (
        monitor.replay(sigmoid(said), label, time=np.zeros(n), sequence=np.arange(n))
        .status()
        .stretches
    )
    assert line.alarm
    assert change < line.since_settled == line.since_sequence + 1 < change + 600
    assert line.suspicion == suspicion


def test_three_classes():
    random = np.random.default_rng(0)
    proba = random.dirichlet(np.ones(3), 1500)
    label = np.array(["a", "b", "c"])[(random.random((1500, 1)) > proba.cumsum(axis=1)).sum(axis=1)]
    rows = {"time": np.zeros(1500), "sequence": np.arange(1500)}
    right = Monitor(classes=["a", "b", "c"]).replay(proba, label, **rows).status()
    assert not right.alarm
    wrong = Monitor(classes=["b", "a", "c"]).replay(proba, label, **rows).status()
    assert wrong.alarm
    low = proba * [1.0, 1.0, 0.4]
    low /= low.sum(axis=1, keepdims=True)
    status = Monitor(classes=["a", "b", "c"]).replay(low, label, **rows).status()
    assert status.stretches[0].suspicion == "forecasts of class c are too low"


def test_one_number_is_the_probability_of_the_second_class():
    one, two = Monitor(), Monitor()
    one.replay([0.3, 0.9], [0, 1], time=[0, 0], sequence=["a", "b"])
    two.replay([[0.7, 0.3], [0.1, 0.9]], [0, 1], time=[0, 0], sequence=["a", "b"])
    assert same(one, two)


def test_a_wrong_certainty_is_strong_evidence_and_no_error():
    monitor = Monitor()
    for name in range(3):
        monitor.predict(name, 1.0, 0)
        monitor.finish(name, 0)
    assert monitor.status().alarm
    right = Monitor()
    for name in range(50):
        right.predict(name, 0.0, 0)
        right.finish(name, 0)
    assert right.status().stretches[0].highest <= 1.0 + 1e-9


def test_evidence_beyond_a_double_is_infinite():
    n = 2000
    status = (
        Monitor()
        .replay(np.full(n, 0.999), np.zeros(n), time=np.zeros(n), sequence=np.arange(n))
        .status()
    )
    line = status.stretches[0]
    assert line.e_value == np.inf
    assert status.p_value == 0.0
    # Strict JSON has no infinity: there it is null, and its logarithm tells how much it is.
    found = json.loads(json.dumps(status.to_dict(), allow_nan=False))["stretches"][0]
    assert (found["e_value"], found["highest"]) == (None, None)
    assert 709 < found["log_e_value"] <= found["log_highest"] == line.log_highest


def test_the_logarithm_is_that_of_the_evidence():
    status = Monitor().replay([0.2] * 5, [1] * 5, time=[0] * 5, sequence=range(5)).status()
    for line in status.lines:
        assert np.exp([line.log_e_value, line.log_highest]) == pytest.approx(
            [line.e_value, line.highest]
        )


def test_an_abandoned_sequence_holds_up_no_other_and_counts_for_nothing():
    monitor, without = Monitor([5]), Monitor([5])
    monitor.predict("lost", 0.9, 0)
    for one in (monitor, without):
        one.predict("a", 0.3, 0)
        one.finish("a", 1)
    assert monitor.status().stretches[0].settled == 0
    monitor.abandon("lost", unrelated_to_outcome=True)
    assert monitor.status().abandoned == 1
    assert same(monitor, without) is True


def test_steps_that_an_abandoned_sequence_has_made_count():
    monitor = Monitor()
    for proba in (0.5, 0.7, 0.9):
        monitor.predict("lost", proba, 0)
    monitor.abandon("lost", unrelated_to_outcome=True)
    status = monitor.status()
    assert (status.movement.settled, status.movement.waiting, status.under_way) == (2, 0, 0)
    assert status.stretches[0].settled == status.stretches[0].waiting == 0


def test_stretches_of_past_times():
    monitor = Monitor.for_times(np.arange(100), stretches=4, alpha=0.1)
    assert monitor.edges.tolist() == [25, 50, 75]
    assert monitor.status().alpha == 0.1
    assert len(Monitor.for_times([1, 1, 1], stretches=4).edges) == 0


def test_times_may_be_dates():
    edges = [datetime(2026, 5, 1), datetime(2026, 6, 1)]
    monitor = Monitor(edges)
    monitor.predict("a", 0.5, datetime(2026, 5, 3))
    monitor.predict("a", 0.6, np.datetime64("2026-06-02"))
    status = monitor.status()
    assert [line.waiting for line in status.stretches] == [0, 1, 1]
    assert status.stretches[1].name == "from 2026-05-01 to 2026-06-01"
    with pytest.raises(tc.errors.InputError, match="time is number and was datetime before"):
        monitor.predict("a", 0.5, 3)


def test_printing_says_it():
    monitor = Monitor([5], alpha=0.5)
    for name in range(8):
        monitor.predict(name, 0.01, 0)
        monitor.finish(name, 1)
    monitor.predict("x", 0.5, 6)
    first, second, third, fourth, fifth, _ = str(monitor.status()).splitlines()
    assert first.startswith("ALARM: anytime-valid p = ")
    assert second == "8 sequences finished, 1 under way"
    assert "ALARM at 3 (sequence 2)" in third
    assert fourth == "from 5 on: evidence 1, highest 1; 0 settled, 1 waiting"
    assert fifth.startswith("movement: ")
    assert repr(monitor) == "<Monitor: ALARM, 8 sequences finished, 1 under way>"

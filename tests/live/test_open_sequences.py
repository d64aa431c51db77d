"""Sequences that stay open: what they hold up is said, and abandoning them keeps the bound."""

import itertools
import json
from datetime import datetime, timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.examples import examples
from tempocal.errors import InputError
from tempocal.live import Monitor
from tempocal.live.evalues import Alternatives


def sigmoid(z):
    return 1.0 / (1.0 + np.exp(-z))


def accounts(n=600, share_open=0.27, seed=0):
    """Forecasts of accounts, of which some never end; the first is one of them."""
    random = np.random.default_rng(seed)
    proba = sigmoid(random.normal(size=n))
    label = (random.random(n) < proba).astype(float)
    is_open = random.random(n) < share_open
    is_open[0] = True
    return proba, np.where(is_open, np.nan, label)


def watched(proba, label, **settings):
    monitor = Monitor(movement=False, **settings)
    n = len(proba)
    return monitor.replay(proba, label, time=np.zeros(n), sequence=np.arange(n))


def test_a_monitor_that_is_held_up_says_by_whom_and_that_it_has_seen_too_little():
    proba, label = accounts()
    status = watched(proba, label).status()
    line = status.stretches[0]
    known = int(np.sum(~np.isnan(label)))
    assert (line.settled, line.waiting, line.held_up, line.behind) == (0, 600, known, 0)
    assert (status.verdict, status.is_blind, status.alarm) == ("too little", True, False)
    assert str(status).startswith("too little to judge: anytime-valid p = 1")
    assert f"600 waiting ({known} held up by 0)" in str(status)
    assert f"{known} bets have their outcome and are not judged" in status.notes[0]
    assert "behind sequence 0, which is still open" in status.notes[0]
    found = status.to_dict()
    assert (found["verdict"], found["stretches"][0]["held_up"]) == ("too little", known)
    assert found["stretches"][0]["is_blind"]


def test_a_monitor_is_blind_again_when_much_is_held_up_after_a_long_good_time():
    n = 2000
    proba, label = np.full(n, 0.5), np.tile([0.0, 1.0], n // 2)
    label[1400] = np.nan
    status = watched(proba, label).status()
    assert (status.stretches[0].settled, status.stretches[0].held_up) == (1400, 599)
    assert status.verdict == "too little"
    label[1400], label[1900] = 1.0, np.nan
    status = watched(proba, label).status()
    assert (status.stretches[0].held_up, status.verdict) == (99, "no alarm")


def test_a_new_monitor_has_seen_too_little_and_is_not_blind():
    status = watched(np.full(19, 0.5), np.arange(19) % 2).status()
    assert (status.verdict, status.is_young, status.is_blind) == ("too little", True, False)
    assert status.notes == ("no line has 20 settled bets yet: no alarm says nothing so far",)
    assert watched(np.full(20, 0.5), np.tile([0, 1], 10)).status().verdict == "no alarm"


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_lowest_factor_is_that_of_some_label_and_no_outcome_has_a_lower_one(n_classes):
    random = np.random.default_rng(0)
    alternatives = Alternatives(n_classes)
    proba = random.dirichlet(np.ones(n_classes), 50)
    lowest = alternatives.lowest_log_factors(proba)
    factors = [alternatives.log_factors(proba, np.tile(one, (50, 1))) for one in np.eye(n_classes)]
    np.testing.assert_allclose(lowest, np.min(factors, axis=0), rtol=1e-12)
    moved = alternatives.log_factors(proba, random.dirichlet(np.ones(n_classes), 50))
    assert (lowest <= moved + 1e-12).all()


@examples(25)
@given(st.integers(0, 10**6))
def test_evidence_is_never_above_that_with_all_outcomes_known(seed):
    """Whatever decides who is abandoned, here the outcome itself: so the bound holds."""
    random = np.random.default_rng(seed)
    proba = random.random(12)
    label = random.integers(0, 2, 12)
    monitor, known = Monitor(movement=False), Monitor(movement=False)
    for k in range(12):
        for one in (monitor, known):
            one.predict(k, proba[k], 0)
        known.finish(k, label[k])
        if label[k] == random.integers(0, 2):
            monitor.abandon(k)
        else:
            monitor.finish(k, label[k])
    (with_lost,), (with_all,) = monitor.status().stretches, known.status().stretches
    assert with_lost.settled == with_all.settled == 12
    assert with_lost.highest <= with_all.highest * (1 + 1e-12)
    assert with_lost.e_value <= with_all.e_value * (1 + 1e-12)


@pytest.mark.parametrize(("left_out", "is_valid"), [(False, True), (True, False)])
def test_leaving_out_slow_losses_is_not_valid_and_their_lowest_factor_is(left_out, is_valid):
    """Exactly, over all outcomes of four sequences whose losses are open at the age."""
    p, mean = 0.4, 0.0
    for outcomes in itertools.product([0, 1], repeat=4):
        monitor = Monitor(movement=False)
        for k, label in enumerate(outcomes):
            monitor.predict(k, p, 0)
            if label:
                monitor.finish(k, 1)
            else:
                monitor.abandon(k, unrelated_to_outcome=left_out)
        chance = np.prod([p if label else 1.0 - p for label in outcomes])
        mean += chance * monitor.status().stretches[0].e_value
    assert (mean <= 1.0) == is_valid
    assert is_valid or mean > 1.03


def test_false_alarms_are_rare_if_durations_depend_on_the_outcome():
    """Losses take 8 times as long as wins; what is open when 20 more have begun is abandoned."""
    alarms = {"lowest": 0, "left out": 0}
    for seed in range(40):
        random = np.random.default_rng(seed)
        proba = sigmoid(random.normal(size=400))
        label = (random.random(400) < proba).astype(float)
        lasts = random.exponential(np.where(label == 1, 5.0, 40.0))
        for rule in alarms:
            monitor = watched(proba, np.where(lasts <= 20.0, label, np.nan))
            for one in np.flatnonzero(lasts > 20.0):
                monitor.abandon(int(one), unrelated_to_outcome=rule == "left out")
            alarms[rule] += monitor.status().alarm
    assert alarms["lowest"] <= 2  # 5 % of 40
    assert alarms["left out"] >= 20


def test_too_sure_forecasts_are_found_though_a_quarter_stays_open():
    proba, label = accounts(1000)
    monitor = watched(sigmoid(2.0 * np.log(proba / (1.0 - proba))), label)
    assert not monitor.status().alarm
    assert len(monitor.abandon_after(30)) > 200
    status = monitor.status()
    assert status.alarm
    assert status.stretches[0].suspicion == "forecasts are too sure"
    assert status.settled_at_lowest > 200
    assert "were settled at their lowest factor" in status.notes[-1]


class TestAge:
    def test_is_counted_in_sequences_that_have_begun_since(self):
        monitor = Monitor(movement=False)
        for k in range(5):
            monitor.predict(k, 0.5, 0)
        monitor.finish(1, 1)
        assert monitor.abandon_after(5) == []
        assert monitor.abandon_after(3) == [0]
        assert monitor.abandon_after(1) == [2, 3]
        assert (monitor.status().abandoned, monitor.status().under_way) == (3, 1)
        assert monitor.is_finished(0)

    def test_is_counted_by_the_clock(self, tmp_path):
        start, day = datetime(2026, 5, 1), timedelta(days=1)
        monitor = Monitor(movement=False)
        for k in range(3):
            monitor.predict(k, 0.5, 0, clock=start + 10 * k * day)
        monitor.predict(2, 0.5, 0, clock=start + 25 * day)
        monitor.save(tmp_path / "m.json")
        loaded = Monitor.load(tmp_path / "m.json")
        for one in (monitor, loaded):
            assert one.abandon_after(26 * day) == []
            assert one.abandon_after(15 * day) == [0, 1]
        assert loaded.status() == monitor.status()

    def test_is_that_of_replayed_rows(self):
        monitor = Monitor(movement=False)
        where = {"time": [0, 0, 1], "sequence": ["a", "b", "a"], "clock": [0.0, 3.0, 7.5]}
        monitor.replay([0.5] * 3, None, **where)
        assert monitor.abandon_after(7.0) == ["a"]

    @pytest.mark.parametrize(
        ("clock", "age", "said"),
        [
            (None, 0, "age must be a whole number of at least 1"),
            (None, timedelta(1), "age must be a whole number of at least 1"),
            (datetime(2026, 5, 1), 3, "clock is datetime: it must be a timedelta above 0"),
            (4.0, timedelta(1), "clock is number: it must be a number above 0"),
            (4.0, -1.0, "it must be a number above 0"),
        ],
    )
    def test_is_of_the_kind_of_the_clock(self, clock, age, said):
        monitor = Monitor(movement=False)
        monitor.predict("a", 0.5, 0, clock=clock)
        with pytest.raises(InputError, match=said):
            monitor.abandon_after(age)

    def test_needs_one_clock(self):
        monitor = Monitor(movement=False)
        monitor.predict("a", 0.5, 0)
        with pytest.raises(InputError, match="clock is number and was not given before"):
            monitor.predict("b", 0.5, 0, clock=3.0)


def test_a_bet_at_its_lowest_that_waits_is_saved(tmp_path):
    monitor = Monitor(movement=False)
    for name in ("first", "lost"):
        monitor.predict(name, 0.7, 0)
    monitor.abandon("lost")
    monitor.save(tmp_path / "m.json")
    loaded = Monitor.load(tmp_path / "m.json")
    for one in (monitor, loaded):
        assert (one.status().stretches[0].held_up, one.status().under_way) == (1, 1)
        one.finish("first", 1)
        assert one.status().settled_at_lowest == 1
    assert loaded.status() == monitor.status()


def test_the_line_of_movement_says_what_it_means_and_where_calibration_is_fine():
    """Each forecast is right at its time, and forgets: what it says next can be told from it."""
    random = np.random.default_rng(0)
    n, steps = 300, 6
    label = random.integers(0, 2, n)
    sign = np.where(random.random((n, steps)) < 0.8, 2 * label[:, None] - 1, 1 - 2 * label[:, None])
    proba = np.where(sign > 0, 0.8, 0.2)
    where = {"time": np.tile(np.arange(steps), n), "sequence": np.repeat(np.arange(n), steps)}
    status = Monitor([3]).replay(proba.ravel(), np.repeat(label, steps), **where).status()
    assert status.movement.alarm
    assert not any(line.alarm for line in status.stretches)
    (note,) = status.notes
    assert "part of each move is taken back by later ones" in note
    assert "Calibration raised no alarm in any time bin" in note
    assert "watch without movement" in note


def test_the_latest_of_all_does_not_go_back_in_the_first_sequence():
    monitor = Monitor(movement=False)
    for name, clock in (("a", 100.0), ("a", 5.0), ("b", 60.0)):
        monitor.predict(name, 0.5, time=0, clock=clock)
    # Now is 100: b is 40 old, and a has just begun.
    assert monitor.abandon_after(41.0) == []
    assert monitor.abandon_after(40.0) == ["b"]


def test_what_0_1_cannot_read_is_of_schema_2(tmp_path):
    path = tmp_path / "monitor.json"

    def schema(monitor):
        monitor.save(path)
        assert str(Monitor.load(path).status()) == str(monitor.status())
        return json.loads(path.read_text())["schema"]

    monitor = Monitor(movement=False)
    monitor.predict("first", 0.5, time=0)
    monitor.predict("second", 0.5, time=0)
    assert schema(monitor) == 1
    monitor.abandon("second")  # waits behind the first
    assert schema(monitor) == 2
    monitor.finish("first", 1)
    assert schema(monitor) == 1
    with_clock = Monitor(movement=False)
    with_clock.predict("first", 0.5, time=0, clock=3.0)
    assert schema(with_clock) == 2

"""The state of sequences after the replay of a log, and the memory that it takes."""

import tracemalloc

import pytest

from tempocal.errors import LogError
from tempocal.live.record_log import RecordLog
from tempocal.live.replay import LoggedSequence, LogReplay


@pytest.fixture
def log(tmp_path):
    log = RecordLog(tmp_path / "log")
    yield log
    log.close()


def replay_of(log, records, **rest):
    for record in records:
        log.append(record)
    return LogReplay.of(log.read(), log.path, **rest)


BEGUN = [["save", "1"], ["observe", "a", 1.5, None], ["observe", "b", 0.5, None]]


def test_a_sequence_ends_once(log):
    more = [["finish", "a", 1], ["finish", "a", 0], ["observe", "a", 9.9, None], ["abandon", "a"]]
    replay = replay_of(log, [*BEGUN, *more, ["abandon", "b"], ["abandon", "b"]])
    assert replay.not_in_model == {"a": (LoggedSequence([1.5], [None]), 1)}
    assert replay.under_way == {}


@pytest.mark.parametrize(
    "record",
    [
        ["finish", "z", 1],
        ["observe"],
        ["observe", "a"],
        ["dance", "a"],
        ["finish", ["a"]],
        [1, "a"],
        ["finish", "a", -1],
        ["finish", "a", True],
        ["observe", "a", "1.5", 2.0],
        ["observe", "a", 1.5, {}],
    ],
)
def test_what_cannot_have_happened_is_an_error(log, record):
    with pytest.raises(LogError, match="is not the log of a tracker"):
        replay_of(log, [*BEGUN, record])


def test_rows_that_the_model_knows_are_forgotten(log):
    more = [["finish", "a", 1], ["save", "2"], ["finish", "b", 0], ["save", "3"]]
    replay = replay_of(log, [*BEGUN, *more], saves=2)
    assert replay.in_model == {"a"}
    assert replay.not_in_model == {"b": (LoggedSequence([0.5], [None]), 0)}
    everything = LogReplay.of(log.read(), log.path)
    assert list(everything.not_in_model) == ["a", "b"]


def test_records_of_one_kind(log):
    for record in (["observe", "save", 1.5, None], ["finish", "save", 1], ["save", "2"]):
        log.append(record)
    assert list(log.read("save")) == [["save", "2"]]


def test_a_long_log_takes_the_memory_of_what_is_not_known_yet(log):
    for k in range(300):
        for _ in range(25):
            log.append(["observe", f"match {k}", 1.2345678901234567, float(k)])
        log.append(["finish", f"match {k}", 1])
    log.append(["save", "1"])
    peaks = []
    for saves in (0, 1):
        tracemalloc.start()
        replay = LogReplay.of(log.read(), log.path, saves=saves)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert len(replay.in_model) + len(replay.not_in_model) == 300
    assert peaks[1] < peaks[0] / 5

"""What is refused in a sentence, and leaves everything as it was."""

import numpy as np
import pytest

from tempocal.errors import InputError
from tempocal.live import Monitor

ROWS = {"time": [0, 0], "sequence": ["x", "y"]}


@pytest.fixture
def monitor():
    """One sequence under way, one that is over and waits for it."""
    monitor = Monitor([5], max_waiting=6)
    monitor.predict("a", 0.5, 2)
    monitor.predict("b", 0.5, 2)
    monitor.finish("b", 1)
    return monitor


def bytes_of(monitor, folder):
    monitor.save(folder / "m.json")
    return (folder / "m.json").read_bytes()


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda m: m.finish("c", 1), "'c' is not known: nothing was predicted for it"),
        (lambda m: m.finish("b", 1), "'b' is finished: it has its label"),
        (lambda m: m.abandon("b"), "'b' is finished"),
        (lambda m: m.abandon("c"), "'c' is not known"),
        (lambda m: m.predict("b", 0.5, 3), "'b' is finished"),
        (
            lambda m: m.predict("a", 0.5, 1.5),
            "runs backwards in the sequence 'a': 1.5 comes after 2",
        ),
        (lambda m: m.finish("a", 2), r"label is 2, which is not among the classes \[0, 1\]"),
        (lambda m: m.finish("a", [1]), "not among the classes"),
        (lambda m: m.finish("a", None), "not among the classes"),
        (lambda m: m.finish("a", float("nan")), "not among the classes"),
        (lambda m: m.predict("a", float("nan"), 3), "proba contains NaN"),
        (
            lambda m: m.predict("a", 1.2, 3),
            "must lie in .* a monitor takes probabilities, not logits",
        ),
        (lambda m: m.predict("a", "0.5", 3), "proba must be numbers"),
        (lambda m: m.predict("a", True, 3), "proba must be numbers"),
        (lambda m: m.predict("a", None, 3), "proba contains NaN"),
        (lambda m: m.predict("a", [0.2, 0.2, 0.6], 3), "proba has 3 classes and the monitor 2"),
        (lambda m: m.predict("a", [0.2, 0.2], 3), "must sum to 1"),
        (lambda m: m.predict("a", [], 3), "proba"),
        (lambda m: m.predict("a", 0.5, float("nan")), "time contains NaN"),
        (lambda m: m.predict("a", 0.5, float("inf")), "time contains infinity"),
        (lambda m: m.predict("a", 0.5, "noon"), "time must be numbers"),
        (lambda m: m.predict("a", 0.5, None), "no time may be missing"),
        (lambda m: m.predict("a", 0.5, np.datetime64("2026-05-01")), "all times of a monitor are"),
        (lambda m: m.predict("a\ud800", 0.5, 3), r"half of a surrogate pair.*'a\\ud800'"),
        (
            lambda m: m.predict(1.5, 0.5, 3),
            "sequence must be text or a whole number, but it is 1.5",
        ),
        (lambda m: m.predict(None, 0.5, 3), "sequence must be text or a whole number"),
        (lambda m: m.predict(True, 0.5, 3), "sequence must be text or a whole number"),
        (lambda m: m.predict(["a"], 0.5, 3), "sequence must be text or a whole number"),
        (lambda m: m.replay([0.5, 0.5], [0, 2], **ROWS), "label is 2"),
        (lambda m: m.replay([0.5, 0.5], [0], **ROWS), "y has 1 entries"),
        (lambda m: m.replay([0.5], [0], **ROWS), "2 entries"),
        (
            lambda m: m.replay([0.5, 0.4], [0, 1], time=[0, 0], sequence=["x", "x"]),
            "y differs within",
        ),
        (lambda m: m.replay([0.5, 0.4], None, time=[3, 0], sequence=["x", "x"]), "runs backwards"),
        (
            lambda m: m.replay([0.5] * 3, None, time=[3, 3, 4], sequence=["x", "b", "b"]),
            r"2 of the rows are of sequences that are finished .* \(1, the first of them 'b'\)",
        ),
        (lambda m: m.predict("a" * 1001, 0.5, 3), "sequence is a text of 1,001 characters"),
        (lambda m: m.predict(10**640, 0.5, 3), "sequence is a number of more than 640 digits"),
        (lambda m: m.predict(-(10**5000), 0.5, 3), "a number of more than 640 digits"),
        (lambda m: m.finish(10**5000, 1), "a number of more than 640 digits"),
        (
            lambda m: m.replay([0.5], None, time=[3], sequence=[10**5000]),
            "a number of more than 640 digits",
        ),
        (lambda m: m.replay([0.5, 0.4], None, **ROWS), "max_waiting is 6.*'a' holds up"),
    ],
)
def test_a_refusal_changes_nothing(monitor, tmp_path, call, said):
    before = bytes_of(monitor, tmp_path)
    with pytest.raises(InputError, match=said):
        call(monitor)
    assert bytes_of(monitor, tmp_path) == before


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"edges": [5, 5]}, "edges must increase"),
        ({"edges": 5}, "edges must be one-dimensional"),
        ({"classes": 5}, "classes must list"),
        ({"edges": [5, float("nan")]}, "edges contains NaN"),
        ({"edges": ["a"]}, "edges must be numbers"),
        ({"classes": [1]}, "classes must be two or more"),
        ({"classes": [1, 1]}, "lists a class twice"),
        ({"alpha": 0.0}, "alpha must be a number between 0 and 1"),
        ({"alpha": "5 %"}, "alpha must be a number between 0 and 1"),
        ({"movement": "no"}, "movement must be True or False, but it is 'no'"),
        ({"max_waiting": 0}, "max_waiting must be a whole number"),
        (
            {"edges": [5], "movement_until": np.datetime64("2026-05-01")},
            "movement_until is datetime",
        ),
    ],
)
def test_settings_that_cannot_be(settings, said):
    with pytest.raises(InputError, match=said):
        Monitor(**settings)


def test_a_refused_first_prediction_does_not_settle_the_kind_of_time():
    monitor = Monitor()
    with pytest.raises(InputError, match="proba"):
        monitor.predict("a", 2.0, np.datetime64("2026-05-01"))
    monitor.predict("a", 0.5, 3)


@pytest.mark.parametrize("is_loaded", [False, True])
@pytest.mark.parametrize("ended", ["settled", "given up"])
def test_a_sequence_that_is_done_with_takes_nothing_more(tmp_path, ended, is_loaded):
    monitor = Monitor()
    for name in ("settled", "given up"):
        monitor.predict(name, 0.5, 0)
    monitor.finish("settled", 1)
    monitor.abandon("given up")
    before = bytes_of(monitor, tmp_path)
    if is_loaded:
        monitor = Monitor.load(tmp_path / "m.json")
    for call in (
        lambda: monitor.predict(ended, 0.5, 1),
        lambda: monitor.finish(ended, 1),
        lambda: monitor.abandon(ended),
    ):
        with pytest.raises(InputError, match=f"the sequence '{ended}' is finished"):
            call()
    with pytest.raises(InputError, match="1 of the rows are of sequences that are finished"):
        monitor.replay([0.5, 0.5], [1, 1], time=[0, 0], sequence=["new", ended])
    assert bytes_of(monitor, tmp_path) == before
    assert monitor.status().under_way == 0


def test_rows_that_come_again_do_not_count_again():
    rows = {"time": np.zeros(50), "sequence": np.arange(50)}
    monitor = Monitor().replay(np.full(50, 0.5), np.zeros(50), **rows)
    before = monitor.status()
    with pytest.raises(InputError, match=r"50 of the rows .* \(50, the first of them 0\)"):
        monitor.replay(np.full(50, 0.5), np.zeros(50), **rows)
    assert monitor.status() == before


def test_what_is_finished_can_be_asked():
    monitor = Monitor()
    monitor.predict("first", 0.5, 0)
    monitor.predict(7, 0.5, 0)
    monitor.finish(7, 1)  # and waits for the first
    asked = ("first", 7, "7", "unheard of")
    assert [monitor.is_finished(name) for name in asked] == [False, True, False, False]
    monitor.finish("first", 0)
    assert [monitor.is_finished(name) for name in asked] == [True, True, False, False]
    monitor.predict("7", 0.5, 0)  # text is no number


def test_the_longest_ids_are_saved(tmp_path):
    monitor = Monitor()
    for name in ("a" * 1000, 10**640 - 1, 1 - 10**640):
        monitor.predict(name, 0.5, 0)
    monitor.save(tmp_path / "m.json")
    assert Monitor.load(tmp_path / "m.json").status() == monitor.status()


def test_numpy_values_are_taken():
    monitor = Monitor(classes=np.array(["no", "yes"]))
    monitor.predict(np.int64(3), np.float32(0.5), np.int16(2))
    monitor.finish(3, np.array(["yes"])[0])
    assert monitor.status().finished == 1

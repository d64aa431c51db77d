"""What a forked process may do with a tracker, a monitor and the threads of a fit."""

import copy
import os
import pickle
import signal
import threading

import numpy as np
import pytest

import tempocal as tc
from tempocal.errors import InputError

if not hasattr(os, "fork"):
    pytest.skip("there are no forks here", allow_module_level=True)

M = tc.datasets.simulate_match(200)
CAL = tc.TemporalCalibrator(shrinkage=1.0).fit(M.logits, M.label, time=M.time, groups=M.sequence)
pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")


def in_fork(work):
    """Return what some work says in a forked process."""
    reader, writer = os.pipe()
    process = os.fork()
    if not process:
        signal.alarm(60)  # instead of a test that hangs
        try:
            said = str(work())
        except BaseException as error:
            said = f"{type(error).__name__}: {error}"
        os.write(writer, said.encode()[:4000])
        os._exit(0)
    os.close(writer)
    with open(reader, "rb") as file:
        said = file.read().decode()
    os.waitpid(process, 0)
    return said


@pytest.fixture
def tracker(tmp_path):
    with tc.live.SequenceTracker(tmp_path / "live", CAL) as tracker:
        tracker.observe("a", 1.5, time=3)
        yield tracker


@pytest.mark.parametrize(
    "call",
    [
        lambda t: t.observe("b", 1.5, time=3),
        lambda t: t.finish("a", 1),
        lambda t: t.abandon("a"),
        lambda t: t.save(),
        lambda t: t.history(),
        lambda t: t.n_finished,
        lambda t: t.n_observed("a"),
        lambda t: t.under_way,
    ],
)
def test_a_tracker_is_refused_in_a_fork(tracker, call):
    before = {file: file.read_bytes() for file in tracker.folder.iterdir()}
    said = in_fork(lambda: call(tracker))
    assert said.startswith(f"InputError: the tracker of {tracker.folder} was opened by process")
    assert {file: file.read_bytes() for file in tracker.folder.iterdir()} == before
    tracker.finish("a", 1)


def test_a_fork_does_not_wait_for_a_thread_that_it_does_not_have(tracker):
    held, done = threading.Event(), threading.Event()

    def hold():
        with tracker._lock:
            held.set()
            done.wait(60)

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait(60)
    said = in_fork(lambda: tracker.observe("b", 1.5, time=3))
    done.set()
    thread.join()
    assert "was opened by process" in said


def test_closing_it_in_a_fork_changes_nothing(tracker):
    before = {file: file.read_bytes() for file in tracker.folder.iterdir()}
    assert in_fork(tracker.close) == "None"
    assert {file: file.read_bytes() for file in tracker.folder.iterdir()} == before
    with pytest.raises(InputError, match="in use by another tracker"):
        tc.live.SequenceTracker(tracker.folder)


def test_a_fork_that_lives_on_does_not_keep_the_folder(tracker):
    reader, writer = os.pipe()
    process = os.fork()
    if not process:
        os.close(writer)
        signal.alarm(60)
        os.read(reader, 1)
        os._exit(0)
    tracker.close()
    tc.live.SequenceTracker(tracker.folder).close()
    os.close(writer)
    os.waitpid(process, 0)
    os.close(reader)


def test_a_tracker_that_the_fork_opened_is_its_own(tmp_path):
    def work():
        with tc.live.SequenceTracker(tmp_path / "own", CAL) as own:
            own.observe("a", 1.5, time=3)
            own.finish("a", 1)
            return own.n_finished

    assert in_fork(work) == "1"


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, pickle.dumps])
def test_a_tracker_cannot_be_copied(tracker, duplicate):
    with pytest.raises(TypeError, match="cannot be copied or pickled: a tracker belongs to"):
        duplicate(tracker)


def test_a_monitor_goes_on_in_a_fork_whatever_threads_were_at():
    monitor, over = tc.live.Monitor(), threading.Event()

    def feed():
        number = 0
        while not over.is_set():
            monitor.predict(number, 0.5, time=0)
            monitor.finish(number, number % 2)
            number += 1

    threads = [threading.Thread(target=feed) for _ in range(1)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(20):
            said = in_fork(
                lambda: (monitor.predict("own", 0.5, time=0), monitor.status().under_way)
            )
            assert said in ("(None, 1)", "(None, 2)")
    finally:
        over.set()
        for thread in threads:
            thread.join()


def test_a_fit_in_a_fork_is_the_same_to_the_bit():
    """Threads of the compiled loops and of NumPy's work are there in the fork as well."""
    m = tc.datasets.simulate_match(4000)
    over = threading.Event()

    def fit():
        cal = tc.TemporalCalibrator(tc.PlattScaling(), tc.Spline())
        cal.fit(m.logits, m.label, time=m.time, groups=m.sequence)
        return cal.predict_proba(m.logits, time=m.time)

    def keep_busy():
        while not over.is_set():
            fit()

    wanted = fit()
    thread = threading.Thread(target=keep_busy)
    thread.start()
    try:
        for _ in range(3):
            assert in_fork(lambda: np.array_equal(fit(), wanted)) == "True"
    finally:
        over.set()
        thread.join()

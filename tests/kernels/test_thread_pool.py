"""The thread pool."""

import os
import sys
import threading
import warnings
import weakref
from contextlib import suppress

import numpy as np
import pytest

from tempocal.kernels import thread_pool
from tempocal.kernels.thread_pool import map_on_cores


def test_results_come_in_order_and_threads_are_kept(monkeypatch):
    monkeypatch.setattr(thread_pool, "_available_cores", lambda: 3)
    assert map_on_cores(lambda x: x * x, range(50)) == [x * x for x in range(50)]
    for _ in range(20):
        map_on_cores(lambda x: x, range(50))
    own = [one for one in threading.enumerate() if one.name == thread_pool.NAME]
    assert len(own) >= 2
    map_on_cores(lambda x: x, range(50))
    assert {one for one in threading.enumerate() if one.name == thread_pool.NAME} == set(own)


def test_work_is_done_where_there_can_be_no_more_threads(monkeypatch):
    def no_more(**settings):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(thread_pool, "_available_cores", lambda: 3)
    monkeypatch.setattr(thread_pool, "Thread", no_more)
    monkeypatch.setattr(thread_pool, "_workers", lambda process: thread_pool._Workers())
    assert map_on_cores(lambda x: x * x, range(50)) == [x * x for x in range(50)]


def test_what_goes_wrong_on_another_core_is_told_here(monkeypatch):
    monkeypatch.setattr(thread_pool, "_available_cores", lambda: 3)
    done = []

    def work(x):
        if x == 2:
            raise ValueError("two")
        done.append(x)

    with pytest.raises(ValueError, match="two"):
        thread_pool.run_on_cores(work, range(3))
    assert sorted(done) == [0, 1]
    # And the next piece of work is as good as any.
    assert map_on_cores(lambda x: x, range(7)) == [*range(7)]


def test_overflow_is_ignored_on_other_cores_where_it_is_here(monkeypatch):
    monkeypatch.setattr(thread_pool, "_available_cores", lambda: 3)
    huge = np.full(3, 1e300)
    with np.errstate(over="ignore"):
        assert np.isinf(map_on_cores(lambda k: huge * huge[k], range(3))).all()
    with np.errstate(over="raise"), pytest.raises(FloatingPointError):
        map_on_cores(lambda k: huge * huge[k], range(3))


def test_more_items_than_cores_are_all_done(monkeypatch):
    monkeypatch.setattr(thread_pool, "_available_cores", lambda: 2)
    done = []
    thread_pool.run_on_cores(done.append, range(9))
    assert sorted(done) == [*range(9)]


def test_threads_of_the_caller_that_find_nobody_free_work_alone(monkeypatch):
    monkeypatch.setattr(thread_pool, "_available_cores", lambda: 2)
    found = {}

    def fit(number):
        for _ in range(50):
            found[number] = map_on_cores(lambda x: x + number, range(20))

    callers = [threading.Thread(target=fit, args=(k,)) for k in range(6)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert found == {k: [x + k for x in range(20)] for k in range(6)}


class Interrupted:
    """Interrupt the thread that enters this many lines of `thread_pool.py` from now."""

    def __init__(self, lines):
        self.left = lines

    def __call__(self, frame, event, argument):
        if not frame.f_code.co_filename.endswith("thread_pool.py"):
            return None
        if event == "line":
            self.left -= 1
            if self.left == 0:
                raise KeyboardInterrupt
        return self


@pytest.mark.parametrize("lines", range(1, 60))
def test_an_interrupt_anywhere_leaves_the_next_work_complete(monkeypatch, lines):
    monkeypatch.setattr(thread_pool, "_available_cores", lambda: 3)
    before = sys.gettrace()
    sys.settrace(Interrupted(lines))
    try:
        with suppress(KeyboardInterrupt):
            map_on_cores(lambda x: x, range(9))
    finally:
        sys.settrace(before)
    for _ in range(5):
        assert map_on_cores(lambda x: x * x, range(9)) == [x * x for x in range(9)]


def test_nothing_is_held_once_work_is_done(monkeypatch):
    monkeypatch.setattr(thread_pool, "_available_cores", lambda: 3)

    class Work:
        def __call__(self, number):
            pass

    for _ in range(20):
        work = Work()
        thread_pool.run_on_cores(work, range(3))
        held = weakref.ref(work)
        del work
        assert held() is None


def test_a_container_is_granted_so_many_cores(monkeypatch, tmp_path):
    monkeypatch.setattr(thread_pool, "QUOTA", tmp_path / "cpu.max")
    for text, wanted in (
        ("max 100000\n", sys.maxsize),
        ("200000 100000\n", 2),
        ("50000 100000\n", 1),
        ("250000 100000\n", 2),
        ("", sys.maxsize),
        ("nonsense", sys.maxsize),
    ):
        (tmp_path / "cpu.max").write_text(text)
        assert thread_pool._granted_cores.__wrapped__() == wanted
    (tmp_path / "cpu.max").unlink()
    assert thread_pool._granted_cores.__wrapped__() == sys.maxsize


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks")
def test_a_fork_has_threads_of_its_own(monkeypatch):
    monkeypatch.setattr(thread_pool, "_available_cores", lambda: 2)
    map_on_cores(lambda x: x, range(9))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        os._exit(0 if map_on_cores(lambda x: x, range(9)) == [*range(9)] else 1)
    assert os.waitpid(child, 0)[1] == 0


def test_work_within_work_does_not_wait_for_ever(monkeypatch):
    monkeypatch.setattr(thread_pool, "_available_cores", lambda: 2)
    rows = map_on_cores(lambda x: sum(map_on_cores(lambda y: x * y, range(5))), range(5))
    assert rows == [10 * x for x in range(5)]

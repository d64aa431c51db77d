"""A monitor that several threads share."""

import copy
import pickle
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from tempocal.live import Monitor

THREADS, EACH = 4, 60


@pytest.fixture
def hurried():
    """Threads that interrupt one another as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def work(monitor, thread):
    for k in range(EACH):
        for time in (0, 4, 6):
            monitor.predict(f"{thread}.{k}", 0.5, time)
        monitor.status()
        if k % 10 == 9:
            monitor.abandon(f"{thread}.{k}")
        else:
            monitor.finish(f"{thread}.{k}", k % 2)
        monitor.replay([0.5], [1], time=[0], sequence=[f"{thread}.{k} at once"])


def counts(monitor):
    status = monitor.status()
    lines = [(line.settled, line.waiting) for line in status.lines]
    return lines, status.finished, status.abandoned, status.under_way


def test_threads_count_what_one_thread_counts(hurried):
    alone, shared = Monitor([5]), Monitor([5])
    for thread in range(THREADS):
        work(alone, thread)
    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(lambda thread: work(shared, thread), range(THREADS)))
    assert counts(shared) == counts(alone)
    assert shared.status().finished == THREADS * (EACH + EACH * 9 // 10)


@pytest.mark.parametrize(
    "copied", [copy.copy, copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))]
)
def test_a_copy_goes_its_own_way(copied):
    monitor = Monitor([5])
    monitor.predict("a", 0.5, 0)
    other = copied(monitor)
    other.finish("a", 1)
    other.predict("b", 0.5, 0)
    assert (monitor.status().finished, other.status().finished) == (0, 1)
    assert not monitor.is_finished("a")
    assert other.is_finished("a")

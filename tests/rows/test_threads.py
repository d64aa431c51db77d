"""Work on all cores."""

import os
import threading
import warnings

import pytest

from tempocal.kernels import cores
from tempocal.kernels.cores import map_on_cores


def test_results_come_in_order_and_threads_are_kept(monkeypatch):
    monkeypatch.setattr(cores, "_available_cores", lambda: 3)
    assert map_on_cores(lambda x: x * x, range(50)) == [x * x for x in range(50)]
    for _ in range(20):
        map_on_cores(lambda x: x, range(50))
    own = [one for one in threading.enumerate() if one.name == cores.NAME]
    assert len(own) >= 2
    map_on_cores(lambda x: x, range(50))
    assert {one for one in threading.enumerate() if one.name == cores.NAME} == set(own)


def test_work_is_done_where_there_can_be_no_more_threads(monkeypatch):
    def no_more(*settings):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(cores, "_available_cores", lambda: 3)
    monkeypatch.setattr(cores, "_Worker", no_more)
    monkeypatch.setattr(cores, "_team", lambda process: cores._Team())
    assert map_on_cores(lambda x: x * x, range(50)) == [x * x for x in range(50)]


def test_what_goes_wrong_on_another_core_is_told_here(monkeypatch):
    monkeypatch.setattr(cores, "_available_cores", lambda: 3)
    done = []

    def work(x):
        if x == 2:
            raise ValueError("two")
        done.append(x)

    with pytest.raises(ValueError, match="two"):
        cores.run_on_cores(work, range(3))
    assert sorted(done) == [0, 1]
    # And the next piece of work is as good as any.
    assert map_on_cores(lambda x: x, range(7)) == [*range(7)]


def test_more_items_than_cores_are_all_done(monkeypatch):
    monkeypatch.setattr(cores, "_available_cores", lambda: 2)
    done = []
    cores.run_on_cores(done.append, range(9))
    assert sorted(done) == [*range(9)]


def test_threads_of_the_caller_that_find_nobody_free_work_alone(monkeypatch):
    monkeypatch.setattr(cores, "_available_cores", lambda: 2)
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


def test_an_interrupted_wait_leaves_no_work_behind(monkeypatch):
    monkeypatch.setattr(cores, "_available_cores", lambda: 2)
    team = cores._Team()
    monkeypatch.setattr(cores, "_team", lambda process: team)
    map_on_cores(lambda x: x, range(9))
    (worker,) = team._workers

    def interrupted(self):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(cores._Worker, "wait", interrupted)
        with pytest.raises(KeyboardInterrupt):
            cores.run_on_cores(lambda x: None, range(2))
    assert map_on_cores(lambda x: x, range(9)) == [*range(9)]
    assert worker not in team._workers


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks")
def test_a_fork_has_threads_of_its_own(monkeypatch):
    monkeypatch.setattr(cores, "_available_cores", lambda: 2)
    map_on_cores(lambda x: x, range(9))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        os._exit(0 if map_on_cores(lambda x: x, range(9)) == [*range(9)] else 1)
    assert os.waitpid(child, 0)[1] == 0


def test_work_within_work_does_not_wait_for_ever(monkeypatch):
    monkeypatch.setattr(cores, "_available_cores", lambda: 2)
    rows = map_on_cores(lambda x: sum(map_on_cores(lambda y: x * y, range(5))), range(5))
    assert rows == [10 * x for x in range(5)]

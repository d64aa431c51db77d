"""Work on all cores."""

import threading

from tempocal.kernels import cores
from tempocal.kernels.cores import map_on_cores


def test_results_come_in_order_and_threads_are_kept(monkeypatch):
    monkeypatch.setattr(cores, "_available_cores", lambda: 3)
    assert map_on_cores(lambda x: x * x, range(50)) == [x * x for x in range(50)]
    for _ in range(20):
        map_on_cores(lambda x: x, range(50))
    own = [one for one in threading.enumerate() if one.name.startswith(cores.NAME)]
    assert 1 <= len(own) <= 5  # 3 of these, 2 of an earlier pool


def test_work_is_done_where_there_can_be_no_more_threads(monkeypatch):
    class Spent:
        def submit(self, *work):
            raise RuntimeError("cannot schedule new futures after shutdown")

    monkeypatch.setattr(cores, "_available_cores", lambda: 3)
    monkeypatch.setattr(cores, "_pool", lambda *settings: Spent())
    assert map_on_cores(lambda x: x * x, range(50)) == [x * x for x in range(50)]


def test_work_within_work_does_not_wait_for_ever(monkeypatch):
    monkeypatch.setattr(cores, "_available_cores", lambda: 2)
    rows = map_on_cores(lambda x: sum(map_on_cores(lambda y: x * y, range(5))), range(5))
    assert rows == [10 * x for x in range(5)]

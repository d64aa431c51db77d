"""Work on all cores."""

import os
import sys
from _thread import allocate_lock
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import lru_cache
from threading import Thread, current_thread
from typing import Any, TypeVar

from tempocal.kernels import native

Item = TypeVar("Item")
Result = TypeVar("Result")

NAME = "tempocal-rows"
# Numbers that are worth a thread: with fewer it would take as long to wake it.
NUMBERS_A_THREAD = 2**16
# The compiled loops have threads of their own, which are not woken: parts can be smaller.
ROWS_A_PART = 2**13


def map_on_cores(work: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
    """Do some work for each item, on all cores; results come in the order of the items."""
    size = max(1, -(-len(items) // free_cores()))
    parts = [items[start : start + size] for start in range(0, len(items), size)]
    results: list[list[Result]] = [[] for _ in parts]

    def work_on(number: int) -> None:
        results[number] = [work(item) for item in parts[number]]

    run_on_cores(work_on, range(len(parts)))
    return [result for some in results for result in some]


def run_on_cores(work: Callable[[Item], None], items: Sequence[Item]) -> None:
    """Do some work for each item, the first of them here and the others on other cores."""
    n_others = min(len(items), free_cores()) - 1
    # While the interpreter ends nobody else is there.
    if n_others > 0 and not sys.is_finalizing():
        team = _team(os.getpid())
        if team.is_free.acquire(blocking=False):
            try:
                team.run(work, items, n_others)
            finally:
                team.is_free.release()
            return
    for item in items:
        work(item)


class _Worker:
    """A thread that is kept, for to start one takes as long as a block of rows.

    It is woken by a lock: queues and futures would take longer than many a piece of work does.
    """

    def __init__(self) -> None:
        self._asked, self._done = allocate_lock(), allocate_lock()
        self._asked.acquire()
        self._done.acquire()
        self._is_dismissed = False
        self._error: BaseException | None = None
        Thread(target=self._live, name=NAME, daemon=True).start()

    def ask(self, work: Callable[[Any], None], items: Sequence[Any]) -> None:
        """Let it do some work for each item."""
        self._work, self._items = work, items
        self._asked.release()

    def wait(self) -> BaseException | None:
        """Wait until that is done; return what went wrong."""
        self._done.acquire()
        error, self._error = self._error, None
        return error

    def dismiss(self) -> None:
        """Let the thread end, once it is done with what it is at."""
        self._is_dismissed = True
        with suppress(RuntimeError):  # asked a moment ago
            self._asked.release()

    def _live(self) -> None:
        _stay_alone(True)
        while True:
            self._asked.acquire()
            if self._is_dismissed:
                return
            try:
                for item in self._items:
                    self._work(item)
            except BaseException as error:
                self._error = error
            # Nothing of the caller's is held on to.
            del self._work, self._items
            self._done.release()


class _Team:
    """Workers on other cores, as many as were ever asked for."""

    def __init__(self) -> None:
        self.is_free = allocate_lock()
        self._workers: list[_Worker] = []

    def run(self, work: Callable[[Item], None], items: Sequence[Item], n_others: int) -> None:
        """Do some work for each item, a share of them here."""
        with suppress(RuntimeError):  # where there can be no more threads, fewer will do
            while len(self._workers) < n_others:
                self._workers.append(_Worker())
        asked = self._workers[:n_others]
        count = len(asked) + 1
        for k, worker in enumerate(asked, 1):
            worker.ask(work, items[k::count])
        _stay_alone(True)
        try:
            for item in items[::count]:
                work(item)
        finally:
            _stay_alone(False)
            errors = self._wait(asked)
        for error in errors:
            raise error

    def _wait(self, asked: list[_Worker]) -> list[BaseException]:
        try:
            return [error for worker in asked if (error := worker.wait()) is not None]
        except BaseException:
            # Interrupted: some are still at work, and nobody will wait for them.
            for worker in self._workers:
                worker.dismiss()
            self._workers = []
            raise


@lru_cache(maxsize=1)
def _team(process: int) -> _Team:
    """Threads that are kept; a fork has its own."""
    return _Team()


def parts_for(n_rows: int) -> int:
    """In how many parts the compiled loops cut some rows, whatever the number of cores."""
    return max(1, n_rows // ROWS_A_PART)


def free_cores() -> int:
    """How many threads can help: none but itself if this one is a worker already."""
    # A worker that waits for other workers would wait for ever.
    return 1 if current_thread().name == NAME else _available_cores()


def shares(count: int, width: int = 1, least: int = NUMBERS_A_THREAD) -> Iterator[slice]:
    """Give every thread that can help about as many of ``count`` rows of ``width`` numbers.

    With fewer than ``least`` numbers it is not worth a thread.
    """
    n_threads = max(1, min(free_cores(), count * width // least))
    size = max(1, -(-count // n_threads))
    for start in range(0, count, size):
        yield slice(start, min(start + size, count))


def _stay_alone(is_so: bool) -> None:
    """Keep the compiled loops that this thread calls to itself: the other cores are at work."""
    if native is not None:
        native.alone(is_so)


def use_all_cores() -> None:
    """Tell the compiled loops how many cores there are."""
    if native is not None:
        native.cores(_available_cores())


def _available_cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


use_all_cores()

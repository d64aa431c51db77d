"""Work on all cores."""

import os
import sys
from _thread import allocate_lock
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from queue import SimpleQueue
from threading import Thread, current_thread
from typing import Any, TypeVar

from tempocal.kernels import native

Item = TypeVar("Item")
Result = TypeVar("Result")

NAME = "tempocal-rows"
# Microseconds of all cores together, and in how many, on Linux.
QUOTA = Path("/sys/fs/cgroup/cpu.max")
# Numbers that are worth a thread: with fewer it would take as long to wake it.
NUMBERS_A_THREAD = 2**16
# The compiled loops have threads of their own, which are not woken: parts can be smaller. (Those
# that know by themselves how to cut rows do so as well, in threads.h.)
ROWS_A_PART = 2**13


def map_on_cores(work: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
    """Do some work for each item, on all cores; results come in the order of the items."""
    if len(items) == 1:
        return [work(items[0])]
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
    if n_others < 1 or sys.is_finalizing():
        for item in items:
            work(item)
        return
    tasks = [_Task(work, items[k :: n_others + 1]) for k in range(n_others + 1)]
    try:
        _stay_alone(True)
        _workers(os.getpid()).ask(tasks[1:])
        for task in tasks:
            # What nobody has begun is done here, and waited for is what somebody has.
            task.run()
            task.done.acquire()
    finally:
        _stay_alone(False)
    for task in tasks:
        if task.error is not None:
            raise task.error


class _Task:
    """Work that whoever comes first does. Each has its own end: none is mistaken for another's."""

    def __init__(self, work: Callable[[Any], None], items: Sequence[Any]) -> None:
        self.error: BaseException | None = None
        self.done, self._begun = allocate_lock(), allocate_lock()
        self.done.acquire()
        self._work, self._items = work, items

    def run(self) -> None:
        """Do the work, unless somebody is at it."""
        if not self._begun.acquire(blocking=False):
            return
        # Nothing of the caller's is held by a task that waits for its turn in vain.
        work, items = self._work, self._items
        del self._work, self._items
        try:
            for item in items:
                work(item)
        except BaseException as error:
            self.error = error
        finally:
            del work, items
            self.done.release()


class _Workers:
    """Threads that are kept, for to start one takes as long as a block of rows.

    As many as were ever asked for. They end with the interpreter.
    """

    def __init__(self) -> None:
        self._tasks: SimpleQueue[_Task] = SimpleQueue()
        self._guard, self._count = allocate_lock(), 0

    def ask(self, tasks: Sequence[_Task]) -> None:
        """Let others begin with some tasks, if there are any."""
        with self._guard, suppress(RuntimeError):  # there may be no more threads to be had
            while self._count < len(tasks):
                Thread(target=self._live, name=NAME, daemon=True).start()
                self._count += 1
        for task in tasks:
            self._tasks.put(task)

    def _live(self) -> None:
        _stay_alone(True)
        while True:
            self._tasks.get().run()


@lru_cache(maxsize=1)
def _workers(process: int) -> _Workers:
    """Those of this process; a fork has its own."""
    return _Workers()


def parts_for(n_rows: int) -> int:
    """In how many parts the compiled loops cut some rows, whatever the number of cores."""
    return max(1, n_rows // ROWS_A_PART)


def free_cores() -> int:
    """How many threads can help: none but itself if this one is a worker already."""
    # A worker that waits for other workers would wait for ever.
    return 1 if current_thread().name == NAME else _available_cores()


def shares(count: int, width: int = 1) -> Iterator[slice]:
    """Give every thread that can help about as many of ``count`` rows of ``width`` numbers."""
    enough_for = count * width // NUMBERS_A_THREAD
    n_threads = min(free_cores(), enough_for) if enough_for > 1 else 1
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
    here = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(here, _granted_cores())


@lru_cache(maxsize=1)
def _granted_cores() -> int:
    """How many cores a container may use at a time, though it may see more of them."""
    with suppress(OSError, ValueError):
        quota, period = QUOTA.read_text().split()
        if quota != "max":
            return max(1, round(int(quota) / int(period)))
    return sys.maxsize


use_all_cores()

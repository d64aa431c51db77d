"""A thread pool for loops over rows.

NumPy and the compiled loops release the GIL, so that Python threads run in parallel.
"""

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

import numpy as np

Item = TypeVar("Item")
Result = TypeVar("Result")

NAME = "tempocal-rows"
# CPU quota of a container on Linux: microseconds of CPU time per period, and the period.
QUOTA = Path("/sys/fs/cgroup/cpu.max")
# With fewer numbers per thread it would take as long to wake it.
NUMBERS_PER_THREAD = 2**16


def map_on_cores(work: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
    """Apply ``work`` to each item, on all cores; results are in the order of the items."""
    if len(items) == 1:
        return [work(items[0])]
    size = max(1, -(-len(items) // free_cores()))
    parts = [items[start : start + size] for start in range(0, len(items), size)]
    results: list[list[Result]] = [[] for _ in parts]

    def work_on(number: int) -> None:
        results[number] = [work(item) for item in parts[number]]

    run_on_cores(work_on, range(len(parts)))
    return [result for part in results for result in part]


def run_on_cores(work: Callable[[Item], None], items: Sequence[Item]) -> None:
    """Apply ``work`` to each item, in this thread and in others."""
    n_others = min(len(items), free_cores()) - 1
    # Daemon threads are gone when the interpreter shuts down.
    if n_others < 1 or sys.is_finalizing():
        for item in items:
            work(item)
        return
    tasks = [_Task(work, items[k :: n_others + 1]) for k in range(n_others + 1)]
    _workers(os.getpid()).submit(tasks[1:])
    for task in tasks:
        # A task that no worker has started is run here; then wait for those that have.
        task.run()
        task.done.acquire()
    for task in tasks:
        if task.error is not None:
            raise task.error


class _Task:
    """Work that the first thread to take it does, with a lock that is released when it is done."""

    def __init__(self, work: Callable[[Any], None], items: Sequence[Any]) -> None:
        self.error: BaseException | None = None
        self.done, self._started = allocate_lock(), allocate_lock()
        self.done.acquire()
        self._work, self._items = work, items
        # NumPy keeps for each thread what it does about overflow.
        self._on_error = np.geterr()

    def run(self) -> None:
        """Do the work, unless another thread has started it."""
        if not self._started.acquire(blocking=False):
            return
        # A finished task may stay in the queue: it must not keep the caller's arrays alive.
        work, items = self._work, self._items
        del self._work, self._items
        try:
            with np.errstate(**self._on_error):
                for item in items:
                    work(item)
        except BaseException as error:
            self.error = error
        finally:
            del work, items
            self.done.release()


class _Workers:
    """Daemon threads that are reused, since starting one takes as long as a block of rows.

    There are as many as were ever needed at the same time.
    """

    def __init__(self) -> None:
        self._tasks: SimpleQueue[_Task] = SimpleQueue()
        self._lock, self._count = allocate_lock(), 0

    def submit(self, tasks: Sequence[_Task]) -> None:
        """Queue tasks, and start a thread for each if there are fewer."""
        with self._lock, suppress(RuntimeError):  # the limit of threads may be reached
            while self._count < len(tasks):
                Thread(target=self._run, name=NAME, daemon=True).start()
                self._count += 1
        for task in tasks:
            self._tasks.put(task)

    def _run(self) -> None:
        while True:
            self._tasks.get().run()


@lru_cache(maxsize=1)
def _workers(process: int) -> _Workers:
    """Return the workers of a process: threads do not survive a fork."""
    return _Workers()


def free_cores() -> int:
    """Count the threads that this thread may use: only itself if it is a worker."""
    # Workers that wait for other workers could deadlock.
    return 1 if current_thread().name == NAME else _available_cores()


def shares(count: int, width: int = 1) -> Iterator[slice]:
    """Split ``count`` rows of ``width`` numbers evenly over the free cores."""
    enough_for = count * width // NUMBERS_PER_THREAD
    n_threads = min(free_cores(), enough_for) if enough_for > 1 else 1
    size = max(1, -(-count // n_threads))
    for start in range(0, count, size):
        yield slice(start, min(start + size, count))


def _available_cores() -> int:
    visible = (
        len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    )
    return min(visible, _granted_cores())


@lru_cache(maxsize=1)
def _granted_cores() -> int:
    """Count the cores that a container may use, which can be fewer than it sees."""
    with suppress(OSError, ValueError):
        quota, period = QUOTA.read_text().split()
        if quota != "max":
            return max(1, round(int(quota) / int(period)))
    return sys.maxsize

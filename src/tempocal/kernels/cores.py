"""Work on all cores."""

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import suppress
from functools import lru_cache
from threading import current_thread
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

NAME = "tempocal-rows"
# Numbers that are worth a thread: with fewer it would take as long to wake it.
NUMBERS_A_THREAD = 2**16


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
    if len(items) < 2 or free_cores() < 2:
        for item in items:
            work(item)
        return
    pool = _pool(_available_cores(), os.getpid())
    others: list[Future[None]] = []
    # While the interpreter ends, or where there can be no more threads, none is to be had.
    with suppress(RuntimeError):
        for item in items[1:]:
            others.append(pool.submit(work, item))  # noqa: PERF401 - those before it count
    try:
        for item in [items[0], *items[1 + len(others) :]]:
            work(item)
    finally:
        wait(others)
    for other in others:
        other.result()


@lru_cache(maxsize=1)
def _pool(n_threads: int, process: int) -> ThreadPoolExecutor:
    """Threads that are kept, for to start them takes as long as a block; a fork has its own."""
    return ThreadPoolExecutor(n_threads, thread_name_prefix=NAME)


def free_cores() -> int:
    """How many threads can help: none but itself if this one is a worker already."""
    # A worker that waits for other workers would wait for ever.
    return 1 if current_thread().name.startswith(NAME) else _available_cores()


def shares(count: int, width: int = 1, least: int = NUMBERS_A_THREAD) -> Iterator[slice]:
    """Give every thread that can help about as many of ``count`` rows of ``width`` numbers.

    With fewer than ``least`` numbers it is not worth a thread.
    """
    n_threads = max(1, min(free_cores(), count * width // least))
    size = max(1, -(-count // n_threads))
    for start in range(0, count, size):
        yield slice(start, min(start + size, count))


def _available_cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1

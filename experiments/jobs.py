"""Jobs run side by side, one thread each; what is finished is never run again."""

import multiprocessing
import os
import sys
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

# Seconds after which something is said even if nothing has ended.
SILENCE = 60.0
# Jobs that can be given at once.
MOST_JOBS = 10_000


@dataclass(frozen=True)
class Job:
    """A piece of work that leaves one file behind."""

    name: str
    path: Path
    # Called with the arguments, the path, and a function that is told how much is done, from 0 to
    # 1; writes the file whole or not at all.
    work: Callable[..., None]
    arguments: tuple[Any, ...]


class JobError(Exception):
    """A job that failed."""


class Workers:
    """Processes that run jobs side by side, until they are closed.

    Parameters
    ----------
    count : int
        How many.
    """

    def __init__(self, count: int) -> None:
        context = multiprocessing.get_context("spawn")
        self._shares = context.Array("d", MOST_JOBS, lock=False)
        self._pool = ProcessPoolExecutor(
            count, mp_context=context, initializer=_prepare, initargs=(self._shares,)
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        # After an error, what waits is not begun, but what runs is waited for.
        self._pool.shutdown(cancel_futures=True)

    def finish(self, jobs: Sequence[Job]) -> None:
        """Run the jobs whose file is not there yet, and tell on stderr how far they are."""
        left = [job for job in jobs if not job.path.exists()]
        self._shares[: len(left)] = [0.0] * len(left)
        futures = {self._pool.submit(_run, job, number): number for number, job in enumerate(left)}
        try:
            _watch(futures, left, self._shares)
        except BaseException as error:
            print(f"stopping: {error}", file=sys.stderr, flush=True)
            raise


# In a worker: how much of each job is done.
_shares: Any = None


def _prepare(shares: Any) -> None:
    """Give a worker one thread, and let it end with its parent.

    Jobs side by side are faster than threads, and give the same numbers on any machine. A parent
    that is killed cannot end its workers, which would go on beside those of the next run.
    """
    import torch  # noqa: PLC0415 - only workers need it

    global _shares  # noqa: PLW0603 - shared memory reaches a worker only when it starts
    _shares = shares
    torch.set_num_threads(1)
    parent = multiprocessing.parent_process()
    assert parent is not None

    def follow() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=follow, daemon=True).start()


def _run(job: Job, number: int) -> None:
    def report(share: float) -> None:
        _shares[number] = share

    try:
        job.work(*job.arguments, job.path, report)
    except Exception as error:
        raise JobError(f"{job.name}: {type(error).__name__}: {error}") from error
    if not job.path.exists():
        raise JobError(f"{job.name} left no file {job.path}")


def _watch(futures: dict[Future[None], int], jobs: Sequence[Job], shares: Any) -> None:
    """Say how much is done and how long the rest will take, until all is done."""
    start = said = time.monotonic()
    running = set(futures)
    while running:
        done, running = wait(running, timeout=2)
        for future in done:
            future.result()
            shares[futures[future]] = 1.0
        share = sum(shares[: len(jobs)]) / len(jobs)
        passed = time.monotonic() - start
        rest = f"{passed / share * (1 - share) / 60:.0f} min left" if share > 0 else "..."
        line = f"{len(jobs) - len(running)} of {len(jobs)} jobs, {share:.0%}, {rest}"
        finished = ", ".join(jobs[futures[future]].name for future in done)
        if sys.stderr.isatty():
            end = f"; done: {finished}\n" if finished else ""
            print(f"\r\033[K{line}", end=end, file=sys.stderr, flush=True)
        elif finished or time.monotonic() - said > SILENCE:
            said = time.monotonic()
            print(f"{line}; done: {finished or 'none since'}", file=sys.stderr, flush=True)


def cores() -> int:
    """Return the cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1

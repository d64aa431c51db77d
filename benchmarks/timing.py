"""Time a function, and print a table of times."""

import math
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from time import perf_counter

# A function runs for so many seconds at least; after so many, fewer runs than asked for will do.
SHORT, LONG = 1.0, 20.0
# Seconds by name of all tables printed so far, for --save.
PRINTED: dict[str, dict[str, float]] = {}


@dataclass(frozen=True)
class Timed:
    """The lowest time of several runs, and what the last of them returned."""

    name: str
    seconds: float
    value: float


def lowest_time(name: str, run: Callable[[], float], repeats: int = 5) -> Timed:
    """Run a function a few times, fewer if it is slow, and for a second at least."""
    times: list[float] = []
    while (len(times) < repeats and sum(times) < LONG) or sum(times) < SHORT:
        start = perf_counter()
        value = run()
        times.append(perf_counter() - start)
    return Timed(name, min(times), value)


@contextmanager
def on_one_core() -> Iterator[None]:
    """Leave this process one of its cores, where it can be told so (Linux)."""
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    all_of_them = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(all_of_them)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, all_of_them)


def print_table(title: str, measure: str, timed: list[Timed]) -> None:
    """Print times, how many times as long as the first each took, and what they found, if that."""
    PRINTED[title] = {one.name: one.seconds for one in timed}
    print(f"\n{title}")
    for one in timed:
        ratio = one.seconds / timed[0].seconds
        found = "" if math.isnan(one.value) else f"{measure} {one.value:.9f}"
        print(f"  {one.name:52}{1e3 * one.seconds:10.1f} ms {ratio:8.1f}x   {found}")

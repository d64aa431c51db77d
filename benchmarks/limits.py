"""How far from what the machine allows: ``python -m benchmarks.limits``.

Probabilities beside a copy of them, time for each row as rows and steps grow, peak memory, and the
time of an import.
"""

import argparse
import subprocess
import sys
import tracemalloc
from collections.abc import Callable

import numpy as np

import tempocal as tc
from benchmarks.fits import simulate
from benchmarks.timing import Timed, lowest_time, on_one_core, print_table

# Steps of fewer rows are often separated, and have no finite optimum.
LEAST_ROWS = 100
FIRST_FIT = """
from time import perf_counter
start = perf_counter()
import sklearn
imported = perf_counter()
import numpy as np
import tempocal as tc
tc.TemperatureScaling().fit(np.linspace(-2, 2, 1000), np.arange(1000) % 3 > 0)
print((perf_counter() - start) / (imported - start))
"""


def applied(n: int) -> None:
    """Probabilities of one column of logits, and copies of what is read and what is written."""
    z, y = simulate(n, 2)
    fitted = tc.TemperatureScaling(shrinkage=0).fit(z[:1000], y[:1000])
    proba = fitted.predict_proba(z)
    timed = [
        lowest_time("tempocal predict_proba", lambda: float(fitted.predict_proba(z)[0, 0])),
        lowest_time("np.copy of the probabilities", lambda: float(np.copy(proba)[0, 0])),
        lowest_time("np.copy of the logits", lambda: float(np.copy(z)[0])),
    ]
    print_table(f"Probabilities, {n:,} rows", "first", timed)


def along_rows(largest: int) -> None:
    """Nanoseconds for each row, as rows grow, on all cores and on one of them."""
    print("\nTime for each row, temperature by maximum likelihood")
    fit = tc.TemperatureScaling(shrinkage=0).fit
    for power in range(5, 9):
        n = 10**power
        if n <= largest:
            z, y = simulate(n, 2)
            _print_per_row(n, _fit(fit, z, y), "rows")
            with on_one_core():
                _print_per_row(n, _fit(fit, z, y), "rows on one core")


def along_steps(n: int) -> None:
    """Nanoseconds for each row, as steps grow."""
    print(f"\nTime for each of {n:,} rows, one temperature for each step")
    z, y = simulate(n, 2)
    fit = tc.TemporalCalibrator(tc.TemperatureScaling(), tc.PerStep(), shrinkage=0).fit
    for n_steps in (10, 100, 1000, 10_000):
        if n_steps * LEAST_ROWS > n:
            break
        step = np.random.default_rng(0).integers(0, n_steps, n)
        _print_per_row(n, _fit(fit, z, y, time=step), f"rows, {n_steps:,} steps")


def _fit(fit: Callable[..., object], *data: object, **named: object) -> Timed:
    return lowest_time("", lambda: float(fit(*data, **named) is None))


def _print_per_row(n: int, timed: Timed, of: str) -> None:
    print(
        f"  {n:>12,} {of:20} {1e3 * timed.seconds:10.1f} ms {1e9 * timed.seconds / n:8.1f} ns a row"
    )


def memory(n: int) -> None:
    """Most memory that a call had beyond what it was given, and its ratio to that."""
    print(f"\nPeak extra memory, {n:,} rows")
    z, y = simulate(n, 2)
    step = np.random.default_rng(0).integers(0, 36, n)
    along_time = tc.TemporalCalibrator(tc.TemperatureScaling(), tc.PerStep()).fit
    in_order, proba = np.sort(step), 1 / (1 + np.exp(-z))
    rng = np.random.default_rng(0)
    fine, many = 50 * rng.random(n), rng.integers(0, 10_000, n)
    decay, single = tc.TemporalCalibrator(shrinkage=0).fit, z.astype(np.float32)
    groups, weights, each = np.arange(n) // 25, np.ones(n), tc.TemperatureScaling(shrinkage=0)
    anywhere = rng.permutation(3 * groups + 1)
    logits, label = simulate(n, 3)
    floats = logits.astype(np.float32)
    for name, given, call in (
        ("temperature", (z, y), lambda: tc.TemperatureScaling().fit(z, y)),
        ("3 classes", (logits, label), lambda: each.fit(logits, label)),
        ("3 classes, float32", (floats, label), lambda: each.fit(floats, label)),
        ("per step", (z, y, step), lambda: along_time(z, y, time=step)),
        ("per step, float32", (single, y, step), lambda: along_time(single, y, time=step)),
        ("per step, sorted", (z, y, step), lambda: along_time(z, y, time=in_order)),
        (
            "per step, weights",
            (z, y, step, weights),
            lambda: along_time(z, y, time=step, sample_weight=weights),
        ),
        (
            "per step, groups",
            (z, y, step, groups),
            lambda: along_time(z, y, time=step, groups=groups),
        ),
        (
            "per step, any groups",
            (z, y, step, anywhere),
            lambda: along_time(z, y, time=step, groups=anywhere),
        ),
        (
            "per step, 3 classes",
            (logits, label, step),
            lambda: along_time(logits, label, time=step),
        ),
        ("10,000 steps", (z, y, many), lambda: along_time(z, y, time=many)),
        ("exponential, any time", (z, y, fine), lambda: decay(z, y, time=fine)),
        (
            "exponential, groups",
            (z, y, fine, groups),
            lambda: decay(z, y, time=fine, groups=groups),
        ),
        ("ECE", (proba, y), lambda: tc.metrics.ece(y, proba)),
        ("isotonic", (z, y), lambda: tc.IsotonicCalibration().fit(z, y)),
    ):
        tracemalloc.start()
        call()
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        ratio = peak / sum(array.nbytes for array in given)
        print(f"  {name:22} {peak / 1e6:8.0f} MB {ratio:8.2f}x of the input")


def imports() -> None:
    """Time of an import and of the first fit, each in a process of its own."""
    ours, numpy = (
        lowest_time(f"import {name}", lambda name=name: _run(f"import {name}"))  # type: ignore[misc]
        for name in ("tempocal", "numpy")
    )
    nothing = lowest_time("python alone", lambda: _run("pass"))
    print_table("A process that imports", "", [numpy, ours, nothing])
    ratio = min(float(_output(FIRST_FIT)) for _ in range(5))
    print(f"\nImport of scikit-learn and a first fit: {ratio:.2f}x of that import")


def _output(code: str) -> bytes:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout


def _run(code: str) -> float:
    subprocess.run([sys.executable, "-c", code], check=True)
    return np.nan


def main() -> None:
    """Print one table after the other."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.limits", description=main.__doc__)
    parser.add_argument(
        "--largest", type=int, default=100_000_000, help="most rows of a fit (100 million)"
    )
    largest = parser.parse_args().largest
    imports()
    applied(min(10**7, largest))
    memory(min(10**7, largest))
    along_steps(min(10**6, largest))
    along_rows(largest)


if __name__ == "__main__":
    main()

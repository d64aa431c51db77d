"""Run the simulations, or what is left of them, and print their tables."""

import argparse
import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# One thread for each process: the simulations themselves run side by side.
for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

from validation import (  # noqa: E402 - threads are counted when NumPy is imported
    alarms,
    auto,
    coverage,
    decay,
    early,
    errors,
    excess,
    few,
    gains,
    icu,
    monitor,
    real,
)

Run = Callable[[dict[str, Any]], dict[str, Any]]


def coverage_tasks(sets: int) -> list[dict[str, Any]]:
    """Make sets of 200 sequences, and of 50 beside them."""
    return [
        {"sequences": sequences, "seed": seed} for sequences in (200, 50) for seed in range(sets)
    ]


def excess_tasks(sets: int) -> list[dict[str, Any]]:
    """Make sets of 50 to 2,000 sequences for a model that is off, to 500 for one that is not."""
    sizes = {"distorted": (50, 150, 500, 2000), "calibrated": (50, 150, 500)}
    return [
        {"model": model, "sequences": sequences, "seed": seed}
        for model, counts in sizes.items()
        for seed in range(sets)
        for sequences in counts
    ]


def auto_tasks(sets: int) -> list[dict[str, Any]]:
    """Make sets of 20 to 500 sequences, of two simulators."""
    return [
        {"simulator": simulator, "model": model, "sequences": sequences, "seed": seed}
        for seed in range(sets)
        for sequences in auto.SIZES
        for simulator in auto.SIMULATORS
        for model in auto.MODELS
    ]


def error_tasks(sets: int) -> list[dict[str, Any]]:
    """Make sets of three models."""
    return [
        {"model": model, "sequences": sequences, "seed": seed}
        for model in errors.MODELS
        for sequences in (200, 1000)
        for seed in range(sets)
    ]


def alarm_tasks(sets: int) -> list[dict[str, Any]]:
    """Make sets of calibrated predictions of several kinds, and of some that are off."""
    return [
        {"predictions": kind, "sequences": sequences, "seed": seed}
        for kind in alarms.KINDS
        for sequences in (200, 1000)
        for seed in range(sets)
    ]


def monitor_tasks(sets: int) -> list[dict[str, Any]]:
    """Make sets of forecasts that are right."""
    return [{"forecasts": name, "seed": seed} for name in monitor.RIGHT for seed in range(sets)]


def change_tasks(sets: int) -> list[dict[str, Any]]:
    """Make matches with a change after some time."""
    return [
        {"change": name, "movement": movement, "seed": seed}
        for name in monitor.CHANGES
        for movement in (True, False)
        for seed in range(sets)
    ]


def few_tasks(sets: int) -> list[dict[str, Any]]:
    """Make sets of 20 to 2,000 sequences of every simulator, distorted and calibrated."""
    return [
        {"simulator": simulator, "model": model, "sequences": sequences, "seed": seed}
        for seed in range(sets)
        for simulator in few.SIMULATORS
        for model in few.MODELS
        for sequences in few.COUNTS
    ]


def few_bands_tasks(sets: int) -> list[dict[str, Any]]:
    """Make sets of 50 and 200 sequences that bands are right for."""
    return [
        {"simulator": simulator, "model": model, "sequences": sequences, "seed": seed}
        for seed in range(sets)
        for simulator, model in few.BANDS_OF
        for sequences in (50, 200)
    ]


def decay_tasks(sets: int) -> list[dict[str, Any]]:
    """Make sets of sequences with equal and irregular steps."""
    return [
        {"simulator": simulator, "seed": seed}
        for simulator in decay.SIMULATORS
        for seed in range(sets)
    ]


@dataclass(frozen=True)
class Kind:
    """A simulation: how many sets, which tasks, what runs one and what prints all."""

    sets: int
    tasks: Callable[[int], list[dict[str, Any]]]
    run: Run
    table: Callable[[list[dict[str, Any]]], str]


KINDS = {
    "icu": Kind(200, icu.tasks, icu.run, icu.table),
    "real": Kind(100, real.tasks, real.run, real.table),
    "early": Kind(50, early.tasks, early.run, early.table),
    "coverage": Kind(2000, coverage_tasks, coverage.run, coverage.table),
    "excess": Kind(200, excess_tasks, excess.run, excess.table),
    "auto": Kind(200, auto_tasks, auto.run, auto.table),
    "errors": Kind(500, error_tasks, errors.run, errors.table),
    "alarms": Kind(400, alarm_tasks, alarms.run, alarms.table),
    "monitor": Kind(1000, monitor_tasks, monitor.run, monitor.table),
    "changes": Kind(100, change_tasks, monitor.run_change, monitor.change_table),
    "few": Kind(400, few_tasks, few.run, few.table),
    "few-bands": Kind(2000, few_bands_tasks, few.run_bands, few.bands_table),
    "gains": Kind(1000, gains.tasks, gains.run, gains.table),
    "decay": Kind(200, decay_tasks, decay.run, decay.table),
}


def main() -> None:
    """Run what is left and print the tables."""
    parser = argparse.ArgumentParser(
        prog="python -m validation",
        description=__doc__,
        epilog="Example: python -m validation coverage --sets 100. Of one core, few takes about "
        "three hours, few-bands one, decay a few minutes.",
    )
    parser.add_argument("what", nargs="?", choices=("all", *KINDS), default="all")
    sizes = ", ".join(str(kind.sets) for kind in KINDS.values())
    parser.add_argument("--sets", type=int, help=f"simulated sets ({sizes})")
    parser.add_argument("--output", default="validation-output", help="where results are kept")
    parser.add_argument("--workers", type=int, help="processes (by default one for each core)")
    options = parser.parse_args()
    folder = Path(options.output)
    folder.mkdir(parents=True, exist_ok=True)
    for name, kind in KINDS.items():
        if options.what in ("all", name):
            path = folder / f"{name}.jsonl"
            tasks = kind.tasks(options.sets or kind.sets)
            print(kind.table(_finish(tasks, kind.run, path, options.workers)))


def _finish(
    tasks: list[dict[str, Any]], run: Run, path: Path, workers: int | None
) -> list[dict[str, Any]]:
    """Do the tasks that the file does not hold yet, and return the results of all of them."""
    if not tasks:
        return []
    known = {_name(result, tasks[0]): result for result in _read(path)}
    left = [task for task in tasks if _name(task, tasks[0]) not in known]
    start = time.monotonic()
    with ProcessPoolExecutor(workers) as pool, path.open("a") as file:
        futures = [pool.submit(run, task) for task in left]
        for done, future in enumerate(as_completed(futures), start=1):
            result = future.result()
            file.write(json.dumps(result) + "\n")
            file.flush()
            known[_name(result, tasks[0])] = result
            rest = (time.monotonic() - start) / done * (len(left) - done)
            print(
                f"\r{path.stem}: {done} of {len(left)}, {rest / 60:.0f} min left ",
                end="",
                file=sys.stderr,
            )
    print(file=sys.stderr)
    return [known[_name(task, tasks[0])] for task in tasks]


def _name(result: dict[str, Any], example: dict[str, Any]) -> str:
    return json.dumps({key: result[key] for key in sorted(example)})


def _read(path: Path) -> Iterator[dict[str, Any]]:
    """Results of earlier runs; a line that a kill cut short is done again."""
    if not path.exists():
        return
    text = path.read_text()
    if text and not text.endswith("\n"):
        text = text[: text.rfind("\n") + 1]
        path.write_text(text)
    for line in text.splitlines():
        yield json.loads(line)


if __name__ == "__main__":
    main()

"""What the compiled loops gain in default fits: the same fits with and without them.

Processor time of all cores, the lowest of three runs. `python -m benchmarks.loops`.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from time import process_time
from typing import Any

import tempocal as tc

MATCHES = (400, 10_000, 50_000)
CALIBRATORS = {
    "temperature": tc.TemperatureScaling(),
    "temperature, exponential": tc.TemporalCalibrator(),
    "Platt, spline": tc.TemporalCalibrator(tc.PlattScaling(), tc.Spline()),
    "Platt, random walk": tc.TemporalCalibrator(tc.PlattScaling(), tc.RandomWalk()),
    "Platt, per step": tc.TemporalCalibrator(tc.PlattScaling(), tc.PerStep()),
    "isotonic": tc.IsotonicCalibration(),
}


def measure() -> dict[str, float]:
    """Milliseconds of processor time of every fit, with the loops of this process."""
    found = {}
    for count in MATCHES:
        matches = tc.datasets.simulate_match(count)
        for name, calibrator in CALIBRATORS.items():
            given: dict[str, Any] = {"groups": matches.sequence} if name != "isotonic" else {}
            if isinstance(calibrator, tc.TemporalCalibrator):
                given["time"] = matches.time
            fit = partial(calibrator.fit, matches.logits, matches.label, **given)
            found[f"{len(matches.logits):,} rows: {name}"] = 1e3 * _lowest(fit)
    return found


def _lowest(run: Callable[[], Any]) -> float:
    run()
    times = []
    for _ in range(3):
        start = process_time()
        run()
        times.append(process_time() - start)
    return min(times)


def main() -> None:
    """Print the times with and without the loops, each measured in a process of its own."""
    if sys.argv[1:] == ["--json"]:
        print(json.dumps(measure()))
        return
    with_loops, without = (
        json.loads(
            subprocess.run(
                [sys.executable, "-m", "benchmarks.loops", "--json"],
                env={**os.environ, "TEMPOCAL_KERNELS": kernels},
                check=True,
                capture_output=True,
            ).stdout
        )
        for kernels in ("", "numpy")
    )
    for name, milliseconds in with_loops.items():
        ratio = without[name] / milliseconds
        print(f"{name:44}{milliseconds:10.1f} ms {without[name]:10.1f} ms {ratio:6.1f}x")


if __name__ == "__main__":
    main()

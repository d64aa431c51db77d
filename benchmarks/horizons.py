"""Fits that learn from the forecasts in between, beside fits by outcomes to the same rows."""

import argparse
from time import process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray

import tempocal as tc

Array = NDArray[np.float64]
CALIBRATORS = {
    "temperature": (tc.TemperatureScaling(), 2),
    "Platt": (tc.PlattScaling(), 2),
    "vector, 5 classes": (tc.VectorScaling(), 5),
}
CURVES = {"spline": tc.Spline(), "exponential": tc.ExponentialDecay(), "per step": tc.PerStep()}
HORIZON, LENGTH = 0.1, 20
# A fit is repeated until it took so many seconds of the processor.
LEAST = 0.3


def simulate(n: int, n_classes: int) -> dict[str, Any]:
    """Return sequences of 20 rows: log posteriors of what was seen so far, of twice their size."""
    rng = np.random.default_rng(0)
    count = n // LENGTH
    label = rng.integers(n_classes, size=count)
    seen = 0.5 * rng.normal(size=(count, LENGTH, n_classes))
    seen[np.arange(count), :, label] += 0.2
    logits = 2.0 * 0.8 * np.cumsum(seen, axis=1).reshape(-1, n_classes)
    return {
        "logits": logits[:, 1] - logits[:, 0] if n_classes == 2 else logits,
        "y": np.repeat(label, LENGTH),
        "time": np.tile(np.arange(LENGTH), count),
        "sequence": np.repeat(np.arange(count), LENGTH),
    }


def processor_time(calibrator: Any, curve: Any, rows: dict[str, Any], horizon: float) -> float:
    """Lowest processor time of a fit, over all cores."""
    times: list[float] = []
    while sum(times) < LEAST:
        start = process_time()
        tc.TemporalCalibrator(calibrator, curve, td_horizon=horizon).fit(**rows)
        times.append(process_time() - start)
    return min(times)


def main(largest: int = 10**6) -> None:
    """Print processor times in milliseconds, and their ratio."""
    print(f"{'rows':>9}  {'fit':32} {'outcomes':>9} {'horizon':>9}  ratio")
    for n in (10**3, 10**4, 10**5, 10**6):
        for name, (calibrator, n_classes) in CALIBRATORS.items():
            for curve_name, curve in CURVES.items():
                # Of a million rows one fit, the one that is promised.
                if n > largest or (n == 10**6 and (name, curve_name) != ("temperature", "spline")):
                    continue
                rows = simulate(n, n_classes)
                outcomes = processor_time(calibrator, curve, rows, np.inf)
                ours = processor_time(calibrator, curve, rows, HORIZON)
                print(
                    f"{n:9,}  {name + ', ' + curve_name:32} {1e3 * outcomes:9.0f} "
                    f"{1e3 * ours:9.0f}  {ours / outcomes:5.1f}",
                    flush=True,
                )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m benchmarks.horizons", description=__doc__)
    parser.add_argument("--largest", type=int, default=10**6, help="most rows")
    main(parser.parse_args().largest)

"""How often bands hold the true curve, on average over time by rows; and how far curves are off."""

import warnings
from typing import Any

import numpy as np

import tempocal as tc
from tempocal.datasets import Matches, simulate_match

CURVES: dict[str, Any] = {
    "per-step": tc.PerStep(),
    "exponential": tc.ExponentialDecay(),
    "spline": tc.Spline(),
    "random walk": tc.RandomWalk(),
}
LEVEL = 0.95


def run(task: dict[str, Any]) -> dict[str, Any]:
    """Fit every curve to one simulated set."""
    warnings.simplefilter("ignore", tc.errors.TempocalWarning)
    matches = simulate_match(task["sequences"], seed=task["seed"])
    return {**task, "curves": {name: _judge(curve, matches) for name, curve in CURVES.items()}}


def _judge(curve: Any, matches: Matches) -> dict[str, float]:
    calibrator = tc.TemporalCalibrator(tc.TemperatureScaling(), curve).fit(
        matches.logits, matches.label, time=matches.time, groups=matches.sequence
    )
    steps, rows = np.unique(matches.time, return_counts=True)
    truth = 1.0 - 0.7 * np.exp(-steps / 6.0)
    fitted = calibrator.parameters_at(steps)["inverse_temperature"]
    band = calibrator.interval_at(steps, LEVEL)["inverse_temperature"]
    share = rows / rows.sum()
    return {
        "coverage": float(share @ ((band.lower <= truth) & (truth <= band.upper))),
        "squared_error": float(share @ (fitted - truth) ** 2),
        "width": float(share @ (band.upper - band.lower)),
    }


def table(results: list[dict[str, Any]]) -> str:
    """Coverage, error and width for each number of sequences."""
    lines = [
        "| sequences | sets | curve | coverage of 95 % bands | +- | RMSE of curve | mean width |",
        "|---|---|---|---|---|---|---|",
    ]
    for sequences in sorted({one["sequences"] for one in results}):
        sets = [one for one in results if one["sequences"] == sequences]
        for name in CURVES:
            rows = [one["curves"][name] for one in sets]
            covered = np.array([row["coverage"] for row in rows])
            error = covered.std(ddof=1) / np.sqrt(len(rows))
            lines.append(
                f"| {sequences} | {len(rows)} | {name} | {100 * covered.mean():.1f} % | "
                f"{100 * error:.1f} % | "
                f"{np.sqrt(np.mean([row['squared_error'] for row in rows])):.3f} | "
                f"{np.mean([row['width'] for row in rows]):.3f} |"
            )
    return "\n".join(lines)

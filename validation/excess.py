"""How much worse than the truth predictions are, against the number of sequences fitted to."""

import warnings
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

import tempocal as tc
from tempocal.datasets import Matches, simulate_match

Array = NDArray[np.float64]
METHODS: dict[str, Any] = {
    "raw": lambda: tc.TemporalCalibrator(tc.Identity(), tc.Constant()),
    "global": lambda: tc.TemporalCalibrator(curve=tc.Constant()),
    "per-step": lambda: tc.TemporalCalibrator(curve=tc.PerStep()),
    "exponential": lambda: tc.TemporalCalibrator(curve=tc.ExponentialDecay()),
    "paper's exponential": lambda: tc.TemporalCalibrator(curve=tc.ExponentialDecay(), shrinkage=0),
    "spline": lambda: tc.TemporalCalibrator(curve=tc.Spline()),
    "random walk": lambda: tc.TemporalCalibrator(curve=tc.RandomWalk()),
    "choice": lambda: tc.AutoTemporalCalibrator(combine="choose", progress=False),
}
# Matches on which predictions are judged, of a seed that no fit has.
TEST_MATCHES, TEST_SEED = 4000, 10**9


def run(task: dict[str, Any]) -> dict[str, Any]:
    """Fit every method to one simulated set and judge it on fresh matches."""
    warnings.simplefilter("ignore", tc.errors.TempocalWarning)
    matches = simulate_match(task["sequences"], seed=task["seed"])
    excess: dict[str, float | None] = {}
    chosen = ""
    for name, make in METHODS.items():
        calibrator = make()
        try:
            calibrator.fit(
                _logits(matches, task["model"]),
                matches.label,
                time=matches.time,
                groups=matches.sequence,
            )
        except tc.errors.NoFiniteOptimumError:
            excess[name] = None
            continue
        excess[name] = _excess(calibrator, task["model"])
        if name == "choice":
            chosen = calibrator.comparison_.chosen.name
    return {**task, "excess": excess, "chosen": chosen}


def _logits(matches: Matches, model: str) -> Array:
    """Return what the model says: too sure early on, or the truth itself."""
    if model == "distorted":
        return matches.logits
    p = matches.true_probability
    return np.asarray(np.log(p) - np.log1p(-p))


@lru_cache(maxsize=1)
def _test() -> Matches:
    return simulate_match(TEST_MATCHES, seed=TEST_SEED)


def _excess(calibrator: Any, model: str) -> float:
    """Mean divergence of the predictions from the truth: the expected NLL beyond the truth's."""
    matches = _test()
    log_p = calibrator.predict_log_proba(_logits(matches, model), time=matches.time)
    true = np.stack([1.0 - matches.true_probability, matches.true_probability], axis=1)
    return float((true * (np.log(true) - log_p)).sum(axis=1).mean())


def table(results: list[dict[str, Any]]) -> str:
    """Mean excess for each model, number of sequences and method, in thousandths."""
    names = list(METHODS)
    lines = [
        "| model | sequences | sets | " + " | ".join(names) + " |",
        "|---|---|---|" + "---|" * len(names),
    ]
    for model in ("distorted", "calibrated"):
        of_model = [one for one in results if one["model"] == model]
        for sequences in sorted({one["sequences"] for one in of_model}):
            sets = [one["excess"] for one in of_model if one["sequences"] == sequences]
            cells = [_cell([one[name] for one in sets]) for name in names]
            lines.append(f"| {model} | {sequences} | {len(sets)} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _cell(values: list[float | None]) -> str:
    known = np.array([value for value in values if value is not None])
    error = known.std(ddof=1) / np.sqrt(len(known))
    failed = f" ({len(values) - len(known)} without)" if len(known) < len(values) else ""
    return f"{1000 * known.mean():.2f} +- {1000 * error:.2f}{failed}"

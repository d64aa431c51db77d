"""What `summary` says of the gain on new rows, against the gain that can be computed.

The true gain of a fit is the mean over many new sequences of the expected difference of the log
likelihood, under the true probabilities.
"""

import warnings
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

import tempocal as tc
from validation import auto, few
from validation.evidence import Forecasts

Array = NDArray[np.float64]
SIMULATORS, MODELS = ("matches", "walks", "evidence, 3 classes"), ("calibrated", "distorted")
COUNTS = (50, 200)
HORIZONS: dict[str, Any] = {"outcomes": np.inf, "forecasts": "auto"}
FITS: dict[str, Any] = {
    "global temperature": (tc.TemperatureScaling(), tc.Constant()),
    "temperature, exponential": (tc.TemperatureScaling(), tc.ExponentialDecay()),
    "Platt or vector, spline": (None, tc.Spline()),
}
TEST_SEQUENCES, TEST_SEED = 400, 10**9
# A difference that is no more than rounding to the digits that are printed.
NOTHING = 1e-5


def tasks(sets: int) -> list[dict[str, Any]]:
    """Draw sets; every fit and model has draws of its own."""
    cells = [
        {"simulator": simulator, "model": model, "sequences": n, "fit": fit, "horizon": horizon}
        for n in COUNTS
        for simulator in SIMULATORS
        for model in MODELS
        for fit in FITS
        for horizon in HORIZONS
    ]
    return [
        {**cell, "seed": 1000 * k + seed} for seed in range(sets) for k, cell in enumerate(cells)
    ]


def run(task: dict[str, Any]) -> dict[str, Any]:
    """Fit to one simulated set, and compute what was gained."""
    drawn = _draw(task["simulator"], task["model"], task["sequences"], task["seed"])
    calibrator, curve = FITS[task["fit"]]
    if calibrator is None:
        calibrator = tc.PlattScaling() if drawn.logits.ndim == 1 else tc.VectorScaling()
    fitted = tc.TemporalCalibrator(calibrator, curve, td_horizon=HORIZONS[task["horizon"]])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tc.errors.TempocalWarning)
        fitted.fit(drawn.logits, drawn.label, time=drawn.time, sequence=drawn.sequence)
        raw = tc.TemporalCalibrator(tc.Identity(), tc.Constant()).fit(
            drawn.logits, drawn.label, time=drawn.time, sequence=drawn.sequence
        )
    details = fitted.summary().details
    test = _test(task["simulator"], task["model"])
    log_p, before = (one.predict_log_proba(test.logits, time=test.time) for one in (fitted, raw))
    true = float((test.true_probability * (log_p - before)).sum(axis=1).mean())
    return {
        **task,
        "true": true,
        "own": details["gain"],
        "new": details["gain_on_new_rows"],
        "interval": details["gain_on_new_rows_interval"],
    }


def _draw(simulator: str, model: str, count: int, seed: int) -> Forecasts:
    if simulator != "walks":
        return few._draw(simulator, model, count, seed)
    logits, label, time, sequence, p = auto.simulate("walks", model, count, seed)
    return Forecasts(logits, label, time, sequence, np.stack([1.0 - p, p], axis=1))


@cache
def _test(simulator: str, model: str) -> Forecasts:
    return _draw(simulator, model, TEST_SEQUENCES, TEST_SEED)


def table(results: list[dict[str, Any]]) -> str:
    """Mean difference to the true gain in thousandths, and coverage of the interval."""
    lines = [
        "| model | sequences | learns from | sets | true gain | on its own rows, less the true "
        "| on new rows, less the true | interval covers |",
        "|---|---|---|---|---|---|---|---|",
    ]
    names = ("model", "sequences", "horizon")
    cells: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for one in results:
        cells.setdefault(tuple(one[name] for name in names), []).append(one)
    for key, sets in sorted(cells.items()):
        numbers = " | ".join(_numbers(sets))
        lines.append("| " + " | ".join([*map(str, key), str(len(sets)), numbers]) + " |")
    return "\n".join(lines)


def _numbers(sets: list[dict[str, Any]]) -> list[str]:
    true, own, new = (
        1000 * np.array([one[name] for one in sets]) for name in ("true", "own", "new")
    )
    covers = [
        one["interval"][0] - NOTHING <= one["true"] <= one["interval"][1] + NOTHING for one in sets
    ]
    return [f"{true.mean():.2f}", _mean(own - true), _mean(new - true), f"{np.mean(covers):.0%}"]


def _mean(values: Array) -> str:
    error = values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.nan
    return f"{values.mean():+.2f} +- {error:.2f}"

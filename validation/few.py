"""Fits to few sequences: by outcomes, and by the forecasts in between.

How much worse than the truth predictions are, how often "auto" gives up learning from forecasts,
and how often bands cover the true curve.
"""

import warnings
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

import tempocal as tc
from tempocal.datasets import simulate_match
from tempocal.temporal.horizon import usual_horizon
from validation import evidence
from validation.evidence import Forecasts

Array = NDArray[np.float64]
HORIZONS: dict[str, Any] = {"outcomes": np.inf, "auto": "auto", "0.1": 0.1, "0.25": 0.25}
# The fixed ones are fitted to so many of the sets only.
FIXED, FIXED_SETS = ("0.1", "0.25"), 60
MODELS, COUNTS = ("distorted", "calibrated"), (20, 50, 150, 500, 2000)
# Sequences on which predictions are judged, of a seed that no fit has.
TEST_SEQUENCES, TEST_SEED = 1500, 10**9
LEVEL = 0.95


def _matches(count: int, seed: int, *, distorted: bool) -> Forecasts:
    matches = simulate_match(count, seed=seed)
    p = matches.true_probability
    logits = matches.logits if distorted else np.log(p) - np.log1p(-p)
    true = np.stack([1.0 - p, p], axis=1)
    return Forecasts(logits, matches.label, matches.time, matches.sequence, true)


def _evidence(n_classes: int = 2, **weights: float) -> Callable[..., Forecasts]:
    def draw(count: int, seed: int, *, distorted: bool) -> Forecasts:
        return evidence.simulate(count, n_classes, seed=seed, distorted=distorted, **weights)

    return draw


SIMULATORS: dict[str, Callable[..., Forecasts]] = {
    "matches": _matches,
    "evidence, 2 classes": _evidence(2),
    "evidence, 3 classes": _evidence(3),
    "fades slowly": _evidence(kept=0.95),
    "fades": _evidence(kept=0.8),
    "knows the last step": _evidence(kept=0.0),
    "reacts slowly": _evidence(reaction=0.3),
}


def run(task: dict[str, Any]) -> dict[str, Any]:
    """Fit by every horizon to one simulated set and judge it on other sequences."""
    forecasts = _draw(task["simulator"], task["model"], task["sequences"], task["seed"])
    auto = _fit(forecasts, "auto")
    taken = None if auto is None else auto.td_horizon_
    excess: dict[str, float | None] = {}
    for name, horizon in HORIZONS.items():
        if name in FIXED and task["seed"] >= FIXED_SETS:
            continue
        # What "auto" takes is that fit.
        fitted = auto if horizon in ("auto", taken) else _fit(forecasts, horizon)
        excess[name] = None if fitted is None else _excess(fitted, task)
    return {**task, "excess": excess, "taken": "outcomes" if taken == np.inf else taken}


def _draw(simulator: str, model: str, count: int, seed: int) -> Forecasts:
    return SIMULATORS[simulator](count, seed, distorted=model == "distorted")


def _fit(forecasts: Forecasts, horizon: Any) -> Any:
    """Return the fit, or None if there is none."""
    calibrator = tc.TemporalCalibrator(tc.TemperatureScaling(), tc.Spline(), td_horizon=horizon)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tc.errors.TempocalWarning)
        try:
            return calibrator.fit(
                forecasts.logits,
                forecasts.label,
                time=forecasts.time,
                sequence=forecasts.sequence,
            )
        except tc.errors.NoFiniteOptimumError:
            return None


@cache
def _test(simulator: str, model: str) -> Forecasts:
    return _draw(simulator, model, TEST_SEQUENCES, TEST_SEED)


def _excess(fitted: Any, task: dict[str, Any]) -> float:
    """Mean divergence of the predictions from the truth: the expected NLL beyond the truth's."""
    test = _test(task["simulator"], task["model"])
    log_p = fitted.predict_log_proba(test.logits, time=test.time)
    p = test.true_probability
    return float((p * (np.log(p) - log_p)).sum(axis=1).mean())


def table(results: list[dict[str, Any]]) -> str:
    """Mean excess in thousandths, and how often "auto" left its usual horizon."""
    lines = [
        f"| simulator | model | sequences | sets | {' | '.join(HORIZONS)} "
        '| "auto" takes a longer horizon | outcomes |',
        "|---|---|---|---|" + "---|" * (len(HORIZONS) + 2),
    ]
    for key, sets in _cells(results):
        numbers = [_cell(sets, name) for name in HORIZONS]
        usual = usual_horizon(key[2])
        outcomes = np.mean([one["taken"] == "outcomes" for one in sets])
        longer = np.mean([one["taken"] != usual for one in sets]) - outcomes
        shares = [f"{100 * longer:.0f} %", f"{100 * outcomes:.0f} %"]
        lines.append("| " + " | ".join([*map(str, key), str(len(sets)), *numbers, *shares]) + " |")
    return "\n".join(lines)


def _cells(
    results: list[dict[str, Any]],
) -> list[tuple[tuple[str, str, int], list[dict[str, Any]]]]:
    """Results by simulator, model and number of sequences."""
    found: dict[tuple[str, str, int], list[dict[str, Any]]] = {}
    for one in results:
        found.setdefault((one["simulator"], one["model"], one["sequences"]), []).append(one)
    names = list(SIMULATORS)
    return sorted(found.items(), key=lambda cell: (names.index(cell[0][0]), *cell[0][1:]))


def _cell(sets: list[dict[str, Any]], name: str) -> str:
    values = [one["excess"][name] for one in sets if name in one["excess"]]
    known = np.array([value for value in values if value is not None])
    if len(known) < 2:
        return "-"
    error = known.std(ddof=1) / np.sqrt(len(known))
    failed = f" ({len(values) - len(known)} without)" if len(known) < len(values) else ""
    return f"{1000 * known.mean():.2f} +- {1000 * error:.2f}{failed}"


BANDS = {"outcomes": np.inf, "auto": "auto"}
BANDS_OF = (
    ("matches", "distorted"),
    ("matches", "calibrated"),
    ("evidence, 2 classes", "distorted"),
)


def run_bands(task: dict[str, Any]) -> dict[str, Any]:
    """Judge the bands of single fits to one simulated set."""
    forecasts = _draw(task["simulator"], task["model"], task["sequences"], task["seed"])
    times, rows = np.unique(forecasts.time, return_counts=True)
    truth = _true_slope(task, times)
    share = rows / rows.sum()
    found: dict[str, Any] = {}
    for name, horizon in BANDS.items():
        fitted = _fit(forecasts, horizon)
        if fitted is None:
            found[name] = None
            continue
        slope = fitted.parameters_at(times)["inverse_temperature"]
        band = fitted.interval_at(times, LEVEL)["inverse_temperature"]
        found[name] = {
            "coverage": float(share @ ((band.lower <= truth) & (truth <= band.upper))),
            "squared_error": float(share @ (slope - truth) ** 2),
            "width": float(share @ (band.upper - band.lower)),
        }
    return {**task, "bands": found}


def _true_slope(task: dict[str, Any], times: Array) -> Array:
    if task["model"] == "calibrated":
        return np.ones(len(times))
    if task["simulator"] == "matches":
        return np.asarray(1.0 - 0.7 * np.exp(-times / 6.0))
    return evidence.true_slope(times)


def bands_table(results: list[dict[str, Any]]) -> str:
    """Coverage, error and width for each simulator, number of sequences and horizon."""
    lines = [
        "| simulator | model | sequences | sets | learns from | coverage of 95 % bands | +- "
        "| RMSE of curve | mean width |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for (simulator, model, sequences), sets in _cells(results):
        for name in BANDS:
            bands = [one["bands"][name] for one in sets if one["bands"][name] is not None]
            covered = np.array([one["coverage"] for one in bands])
            error = covered.std(ddof=1) / np.sqrt(len(bands))
            lines.append(
                f"| {simulator} | {model} | {sequences} | {len(bands)} | {name} | "
                f"{100 * covered.mean():.1f} % | {100 * error:.1f} % | "
                f"{np.sqrt(np.mean([one['squared_error'] for one in bands])):.3f} | "
                f"{np.mean([one['width'] for one in bands]):.3f} |"
            )
    return "\n".join(lines)

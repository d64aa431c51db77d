"""How often bands hold a true curve that is humped, waved, exponential or flat; step by step."""

import warnings
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

import tempocal as tc
from tempocal.datasets import simulate_match
from validation import evidence
from validation.evidence import Forecasts

Array = NDArray[np.float64]
CURVES: dict[str, Any] = {"spline": tc.Spline(), "per-step": tc.PerStep()}
TRUTHS: dict[str, Callable[[Array], Array]] = {
    "humped": lambda t: 0.5 + 0.7 * np.exp(-(((t - 12.0) / 4.0) ** 2)),
    "waved": lambda t: 0.9 + 0.4 * np.sin(2.0 * np.pi * t / 12.0),
    "exponential": lambda t: 1.0 - 0.7 * np.exp(-t / 6.0),
    "flat": lambda t: np.full(len(t), 0.6),
    "identity": lambda t: np.ones(len(t)),
}
SIZES, CLASSES = (200, 1000, 50), (2, 3)
STEPS = 25
# Coverage is given for steps with at least this share of the rows.
LEAST_SHARE = 0.03
LEVEL = 0.95
# Sequences that predictions are judged on, of a seed that no fit has.
TEST_SEQUENCES, TEST_SEED = 500, 10**9


def tasks(sets: int) -> list[dict[str, Any]]:
    """Make sets of every truth, number of classes and of sequences."""
    return [
        {"truth": truth, "classes": classes, "sequences": sequences, "seed": seed}
        for seed in range(sets)
        for sequences in SIZES
        for classes in CLASSES
        for truth in TRUTHS
    ]


def run(task: dict[str, Any]) -> dict[str, Any]:
    """Fit every curve to one simulated set."""
    warnings.simplefilter("ignore", tc.errors.TempocalWarning)
    forecasts = _draw(task["classes"], task["truth"], task["sequences"], task["seed"])
    return {
        **task,
        "curves": {name: _judge(curve, forecasts, task) for name, curve in CURVES.items()},
    }


def _judge(curve: Any, forecasts: Forecasts, task: dict[str, Any]) -> dict[str, Any]:
    calibrator = tc.TemporalCalibrator(tc.TemperatureScaling(), curve).fit(
        forecasts.logits, forecasts.label, time=forecasts.time, groups=forecasts.sequence
    )
    steps = np.arange(STEPS, dtype=np.float64)
    truth = TRUTHS[task["truth"]](steps)
    band = calibrator.interval_at(steps, LEVEL)["inverse_temperature"]
    test = _draw(task["classes"], task["truth"], TEST_SEQUENCES, TEST_SEED)
    log_p = calibrator.predict_log_proba(test.logits, time=test.time)
    p = test.true_probability
    return {
        "covered": ((band.lower <= truth) & (truth <= band.upper)).tolist(),
        "width": float(_shares(task["classes"]) @ (band.upper - band.lower)),
        "excess": float((p * (np.log(p) - log_p)).sum(axis=1).mean()),
    }


def _draw(classes: int, truth: str, count: int, seed: int) -> Forecasts:
    """Draw sequences, with logits that are the true ones divided by a curve."""
    known = _test(classes) if seed == TEST_SEED else _calibrated(classes, count, seed)
    slope = TRUTHS[truth](known.time.astype(np.float64))
    logits = known.logits / (slope if classes == 2 else slope[:, None])
    return Forecasts(logits, known.label, known.time, known.sequence, known.true_probability)


@cache
def _test(classes: int) -> Forecasts:
    return _calibrated(classes, TEST_SEQUENCES, TEST_SEED)


def _calibrated(classes: int, count: int, seed: int) -> Forecasts:
    """Draw matches, or with more classes sequences that add up evidence step by step."""
    if classes > 2:
        found = evidence.simulate(count, classes, seed=seed, distorted=False)
        starts = np.flatnonzero(np.diff(found.sequence, prepend=-1))
        steps = np.arange(len(found.label)) - np.repeat(
            starts, np.diff([*starts, len(found.label)])
        )
        kept = steps < STEPS
        return Forecasts(
            found.logits[kept],
            found.label[kept],
            steps[kept],
            found.sequence[kept],
            found.true_probability[kept],
        )
    matches = simulate_match(count, seed=seed)
    p = matches.true_probability
    true = np.stack([1.0 - p, p], axis=1)
    return Forecasts(np.log(p) - np.log1p(-p), matches.label, matches.time, matches.sequence, true)


@cache
def _shares(classes: int) -> Array:
    counts = np.bincount(_test(classes).time, minlength=STEPS)
    return np.asarray(counts / counts.sum())


def table(results: list[dict[str, Any]]) -> str:
    """Coverage on average and at the worst step, width, and excess NLL in thousandths."""
    lines = [
        "| truth | classes | sequences | sets | curve | coverage of 95 % bands | +- | worst step "
        "| its coverage | mean width | excess NLL | +- |",
        "|---|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for key, sets in _cells(results):
        for name in CURVES:
            numbers = _numbers([one["curves"] for one in sets], name, key[1])
            lines.append("| " + " | ".join([*map(str, key), str(len(sets)), name, *numbers]) + " |")
    return "\n".join(lines)


Cell = tuple[tuple[str, int, int], list[dict[str, Any]]]


def _cells(results: list[dict[str, Any]]) -> list[Cell]:
    """Results by truth, number of classes and of sequences."""
    found: dict[tuple[str, int, int], list[dict[str, Any]]] = {}
    for one in results:
        found.setdefault((one["truth"], one["classes"], one["sequences"]), []).append(one)
    names = list(TRUTHS)
    return sorted(found.items(), key=lambda cell: (names.index(cell[0][0]), *cell[0][1:]))


def _numbers(sets: list[dict[str, Any]], name: str, classes: int) -> list[str]:
    covered = np.array([one[name]["covered"] for one in sets], dtype=np.float64)
    shares = _shares(classes)
    of_sets = covered @ shares
    by_step = np.where(shares >= LEAST_SHARE, covered.mean(axis=0), np.inf)
    excess = 1000 * np.array([one[name]["excess"] for one in sets])
    return [
        f"{100 * of_sets.mean():.1f} %",
        f"{100 * _error(of_sets):.1f} %",
        str(int(by_step.argmin())),
        f"{100 * by_step.min():.0f} %",
        f"{np.mean([one[name]['width'] for one in sets]):.3f}",
        f"{excess.mean():.2f}",
        f"{_error(excess):.2f}",
    ]


def _error(values: Array) -> float:
    """Return the standard error of the mean."""
    return float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else np.nan

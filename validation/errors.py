"""How often intervals of the calibration error over time hold the error of endless data."""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from tempocal.datasets import Matches, simulate_match
from tempocal.links import Array
from tempocal.metrics import ece, over_time, with_interval

STRETCHES, POPULATION = 5, 50_000


def _true_logits(matches: Matches) -> Array:
    return np.log(matches.true_probability) - np.log1p(-matches.true_probability)


MODELS: dict[str, Callable[[Matches], Array]] = {
    "too sure early": lambda matches: matches.logits,
    "timid and biased": lambda matches: 0.6 * _true_logits(matches) + 0.3,
    "calibrated": _true_logits,
}


def run(task: dict[str, Any]) -> dict[str, Any]:
    """Take the error of one simulated set over time, and over all rows."""
    matches = simulate_match(task["sequences"], seed=task["seed"])
    proba = _sigmoid(MODELS[task["model"]](matches))
    found = over_time(
        ece, matches.label, proba, matches.time, bins=STRETCHES, groups=matches.sequence
    )
    ends = list(zip(found.time_from, found.time_to, strict=True))
    truths = [_true_error(task["model"], *end) for end in ends]
    rows = [
        _row(truth, (found.lower[k], found.upper[k]), found.floor[k], bool(found.only_upper[k]))
        for k, truth in enumerate(truths)
    ]
    whole = with_interval(ece, matches.label, proba, groups=matches.sequence)
    mean = found.mean
    everything = _true_error(task["model"], -np.inf, np.inf)
    return {
        **task,
        "by stretch": rows,
        "mean": [
            _row(float(np.mean(truths)), (mean.lower, mean.upper), mean.floor, mean.only_upper)
        ],
        "all rows": [_row(everything, (whole.lower, whole.upper), whole.floor, whole.only_upper)],
    }


def table(results: list[dict[str, Any]]) -> str:
    """Coverage for each model, number of sequences and kind of error."""
    lines = [
        "| model | sequences | sets | error | truth over twice its floor | cover "
        "| intervals printed | cover | bounds printed | hold |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    keys = sorted({(one["model"], one["sequences"]) for one in results})
    for model, sequences in keys:
        sets = [one for one in results if (one["model"], one["sequences"]) == (model, sequences)]
        lines += [
            f"| {model} | {sequences} | {len(sets)} | {name} | {_judged(sets, key)} |"
            for name, key in (("by time bin", "by stretch"), ("mean", "mean"), ("all rows",) * 2)
        ]
    return "\n".join(lines)


def _judged(sets: list[dict[str, Any]], kind: str) -> str:
    """How often intervals hold the truth where it is clear, wherever one is printed; and bounds."""
    truth, lower, upper, floor, bound = (
        np.array([[row[name] for row in one[kind][:STRETCHES]] for one in sets])
        for name in ("truth", "lower", "upper", "floor", "only_upper")
    )
    clear = truth > 2.0 * floor.mean(axis=0)
    inside, below = (lower <= truth) & (truth <= upper), truth <= upper
    cases = ((clear, inside), (~bound, inside), (bound, below))
    return " | ".join(f"{where.sum()} | {_share(held[where])}" for where, held in cases)


def _share(held: Any) -> str:
    return f"{100 * held.mean():.1f} %" if len(held) else "-"


def _row(truth: float, ends: tuple[float, float], floor: float, only_upper: bool) -> dict[str, Any]:
    return {
        "truth": truth,
        "lower": float(ends[0]),
        "upper": float(ends[1]),
        "floor": float(floor),
        "only_upper": bool(only_upper),
    }


@cache
def _population() -> Matches:
    return simulate_match(POPULATION, seed=10**6)


@cache
def _true_error(model: str, first: float, last: float) -> float:
    """Error in the same bins, with true probabilities in place of labels."""
    matches = _population()
    inside = (matches.time >= first) & (matches.time <= last)
    proba, true = _sigmoid(MODELS[model](matches))[inside], matches.true_probability[inside]
    confidence = np.maximum(proba, 1.0 - proba)
    accuracy = np.where(proba > 0.5, true, 1.0 - true)
    bins = np.clip(np.ceil(confidence * 15).astype(int) - 1, 0, 14)
    return float(np.abs(np.bincount(bins, confidence - accuracy)).sum() / inside.sum())


def _sigmoid(logits: Array) -> Array:
    return np.asarray(1.0 / (1.0 + np.exp(-logits)))

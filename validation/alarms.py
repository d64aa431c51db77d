"""How often an assessment calls predictions off at some time, that are calibrated or not."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tempocal.assessment.error_spans import find_error_spans
from tempocal.datasets import simulate_match
from tempocal.links import Array
from tempocal.metrics import ece, over_time, overconfidence

STRETCHES = 10
Drawn = tuple[Array, NDArray[Any], NDArray[Any], NDArray[Any]]  # proba, label, time, sequence


def _independent(draw: Callable[[np.random.Generator, tuple[int, int]], Array]) -> Any:
    """Make predictions of an outcome of its own at every step, ten steps a sequence."""

    def make(sequences: int, random: np.random.Generator) -> Drawn:
        shape = (sequences, STRETCHES)
        proba = draw(random, shape)
        label = random.random(shape) < proba
        time, sequence = np.tile(np.arange(10), sequences), np.repeat(np.arange(sequences), 10)
        return proba.ravel(), label.ravel().astype(int), time, sequence

    return make


def _matches(power: float, *, true: bool) -> Any:
    """Make predictions of the outcome of matches, their log-odds times a power."""

    def make(sequences: int, random: np.random.Generator) -> Drawn:
        found = simulate_match(sequences, seed=int(random.integers(2**31)))
        odds = np.log(found.true_probability) - np.log1p(-found.true_probability)
        proba = 1.0 / (1.0 + np.exp(-power * (odds if true else found.logits)))
        return np.asarray(proba), found.label, found.time, found.sequence

    return make


KINDS: dict[str, Any] = {
    "calibrated, all 0.03": _independent(lambda random, shape: np.full(shape, 0.03)),
    "calibrated, rare events": _independent(lambda random, shape: random.beta(1.0, 15.0, shape)),
    "calibrated, 0.005 or 0.995": _independent(
        lambda random, shape: np.where(random.random(shape) < 0.5, 0.005, 0.995)
    ),
    "calibrated, of all sizes": _independent(lambda random, shape: random.random(shape)),
    "calibrated, matches": _matches(1.0, true=True),
    "off, too sure early": _matches(1.0, true=False),
    "off, log-odds times 0.6": _matches(0.6, true=True),
    "off, log-odds times 1.5": _matches(1.5, true=True),
}


def run(task: dict[str, Any]) -> dict[str, Any]:
    """Look for spells in one simulated set."""
    random = np.random.default_rng([task["seed"], task["sequences"]])
    proba, label, time, sequence = KINDS[task["predictions"]](task["sequences"], random)
    settings: Any = {"bins": STRETCHES, "groups": sequence, "classes": [0, 1]}
    errors = over_time(ece, label, proba, time, **settings)
    found = find_error_spans(errors, over_time(overconfidence, label, proba, time, **settings))
    return {**task, "called off": bool(found)}


def table(results: list[dict[str, Any]]) -> str:
    """Share of the sets that were called off."""
    lines = ["| predictions | sequences | sets | called off at some time |", "|---|---|---|---|"]
    for kind in KINDS:
        for sequences in sorted({one["sequences"] for one in results}):
            key = (kind, sequences)
            sets = [one for one in results if (one["predictions"], one["sequences"]) == key]
            share = np.mean([one["called off"] for one in sets])
            lines.append(f"| {kind} | {sequences} | {len(sets)} | {100 * share:.1f} % |")
    return "\n".join(lines)

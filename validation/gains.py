"""Whether intervals of gains over time hold the true gain, and how often "surely" is wrong.

Sequences of ten steps follow a random walk whose sign at the end is the outcome, so that the true
probability of each step is known, and with it the true gain of each step.
"""

from functools import cache, partial
from typing import Any

import numpy as np
from scipy.special import expit, log_ndtr

from tempocal.links import Array
from tempocal.metrics import brier, ece, gain_over_time, nll

STEPS, END = 10, 12
METRICS: dict[str, Any] = {"NLL": nll, "Brier": brier, "ECE": partial(ece, of="positive_class")}
SEQUENCES = (200, 1000)
# Sequences that the true gain is computed from, with the true probabilities in place of outcomes.
MANY = 200_000


def _walk(sequences: int, random: np.random.Generator) -> tuple[Array, Array]:
    """Draw true log-odds (sequences, STEPS), and the outcome of each sequence."""
    moves = random.standard_normal((sequences, END))
    level = np.cumsum(moves, axis=1)
    z = level[:, :STEPS] / np.sqrt(END - 1.0 - np.arange(STEPS))
    return log_ndtr(z) - log_ndtr(-z), (level[:, -1] > 0).astype(int)


def _even(odds: Array, random: np.random.Generator) -> tuple[Array, Array]:
    """Neither is better: of each sequence one is too high, and which of them is drawn."""
    sign = random.choice([-1.0, 1.0], size=(len(odds), 1))
    return odds + 0.5 * sign, odds - 0.5 * sign


def _alike(odds: Array, random: np.random.Generator) -> tuple[Array, Array]:
    """Neither is better, both are almost right and almost the same."""
    first, second = _even(odds, random)
    return odds + 0.1 * (first - odds), odds + 0.1 * (second - odds)


def _corrected(odds: Array, random: np.random.Generator) -> tuple[Array, Array]:
    """Too sure at the first steps, and corrected."""
    return odds * np.linspace(2.0, 1.0, STEPS), odds


def _spoiled(odds: Array, random: np.random.Generator) -> tuple[Array, Array]:
    """Too sure at the first steps; corrected there, and spoiled at the last ones."""
    return odds * np.linspace(2.0, 1.0, STEPS), odds * np.linspace(1.0, 1.4, STEPS)


PAIRS = {"even": _even, "alike": _alike, "corrected": _corrected, "spoiled": _spoiled}


def tasks(sets: int) -> list[dict[str, Any]]:
    """Make sets of 200 and 1,000 sequences, of every pair."""
    return [
        {"pair": pair, "sequences": sequences, "seed": seed}
        for seed in range(sets)
        for pair in PAIRS
        for sequences in SEQUENCES
    ]


def run(task: dict[str, Any]) -> dict[str, Any]:
    """Compare the intervals of one set with the true gains."""
    sequences = task["sequences"]
    random = np.random.default_rng([task["seed"], sequences, list(PAIRS).index(task["pair"])])
    odds, outcome = _walk(sequences, random)
    before, after = PAIRS[task["pair"]](odds, random)
    label, ids = np.repeat(outcome, STEPS), np.repeat(np.arange(sequences), STEPS)
    found = {}
    for name, metric in METRICS.items():
        table = gain_over_time(
            metric,
            label,
            before.ravel(),
            after.ravel(),
            np.tile(np.arange(STEPS), sequences),
            bins="steps",
            sequence=ids,
            inputs="logits",
            classes=[0, 1],
            seed=task["seed"],
        )
        found[name] = _compare(table, true_gains(task["pair"])[name])
    return {**task, "metrics": found}


@cache
def true_gains(pair: str) -> dict[str, Array]:
    """Gain at each step on very many sequences, with their true probabilities as soft labels."""
    if pair in ("even", "alike"):
        return {name: np.zeros(STEPS) for name in METRICS}
    random = np.random.default_rng(1)
    odds, _ = _walk(MANY, random)
    before, after = PAIRS[pair](odds, random)
    found: dict[str, Array] = {}
    for name, metric in METRICS.items():
        values = [
            [
                float(metric(expit(odds[:, t]), one[:, t], soft_label=True, inputs="logits"))
                for one in (before, after)
            ]
            for t in range(STEPS)
        ]
        found[name] = np.array([old - new for old, new in values])
    return found


def _compare(table: Any, truth: Array) -> dict[str, Any]:
    # A true gain below this is none: it is the noise of the many sequences.
    is_none = np.abs(truth) < 1e-9
    covered = (table.lower <= truth) & (truth <= table.upper)
    together = (table.lower_all <= truth) & (truth <= table.upper_all)
    return {
        "covered": float(covered.mean()),
        "mean_covered": bool(table.mean.lower <= truth.mean() <= table.mean.upper),
        "all_covered": bool(together.all()),
        "false_hurts": bool(((table.effect == "hurts") & ((truth > 0.0) | is_none)).any()),
        "false_helps": bool(((table.effect == "helps") & ((truth < 0.0) | is_none)).any()),
        "hurts": bool((table.effect == "hurts").any()),
        "width": float(np.mean(table.upper - table.lower)),
    }


def table(results: list[dict[str, Any]]) -> str:
    """Coverage and wrong claims of each pair, number of sequences and metric."""
    lines = [
        "| before and after | sequences | sets | metric | each step | mean over steps | "
        "all steps | wrongly hurts | wrongly helps | said to hurt |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    columns = ("covered", "mean_covered", "all_covered", "false_hurts", "false_helps", "hurts")
    for pair in PAIRS:
        for sequences in SEQUENCES:
            sets = [r for r in results if (r["pair"], r["sequences"]) == (pair, sequences)]
            for name in METRICS if sets else ():
                shares = [np.mean([one["metrics"][name][c] for one in sets]) for c in columns]
                numbers = " | ".join(f"{100 * share:.1f} %" for share in shares)
                lines.append(f"| {pair} | {sequences} | {len(sets)} | {name} | {numbers} |")
    return "\n".join(lines)

"""Forecasts of sequences that stay open, or do so for long if they are lost."""

from collections.abc import Callable
from typing import Any

import numpy as np

from tempocal.links import Array, sigmoid
from tempocal.live import Monitor

ALPHA = 0.05
# Age, in sequences begun since, at which a sequence that is still open is abandoned.
AGE = 20
# Mean durations of wins and losses, in the same unit.
WIN_TAKES, LOSS_TAKES = 5.0, 40.0
CUT = 50  # sequences between the dates at which those still open are left out


def slow_losses(random: np.random.Generator, proba: Array) -> tuple[Any, Array]:
    """Draw labels, and durations that are 8 times as long for a loss."""
    label = (random.random(len(proba)) < proba).astype(int)
    return label, random.exponential(np.where(label, WIN_TAKES, LOSS_TAKES))


def never(share_of_losses: float, share_of_wins: float) -> Any:
    """Return a function that draws labels, and infinite durations for some shares of them."""

    def draw(random: np.random.Generator, proba: Array) -> tuple[Any, Array]:
        label = (random.random(len(proba)) < proba).astype(int)
        share = np.where(label, share_of_wins, share_of_losses)
        lasts = np.where(random.random(len(proba)) < share, np.inf, 0.5)
        return label, lasts

    return draw


def watch(proba: Array, label: Any, lasts: Array, rule: str) -> Monitor:
    """Watch one sequence a moment, with a rule for those that stay open."""
    n = len(proba)
    monitor = Monitor(alpha=ALPHA, movement=False)
    ends = np.arange(n) + lasts
    order = np.argsort(ends, kind="stable")
    done = 0
    for k in range(n):
        while done < n and ends[order[done]] <= k:
            _finish(monitor, int(order[done]), label)
            done += 1
        if rule == "lowest":
            monitor.abandon_after(AGE)
        elif rule == "left out" and k >= AGE and not monitor.is_finished(k - AGE):
            monitor.abandon(k - AGE, unrelated_to_outcome=True)
        elif rule == "left out at dates" and k % CUT == 0:
            for one in range(max(0, k - 20 * CUT), k):
                if not monitor.is_finished(one):
                    monitor.abandon(one, unrelated_to_outcome=True)
        monitor.predict(k, proba[k], 0)
    for one in order[done:].tolist():
        if np.isfinite(ends[one]):
            _finish(monitor, one, label)
    return monitor


def _finish(monitor: Monitor, one: int, label: Any) -> None:
    if not monitor.is_finished(one):
        monitor.finish(one, label[one])


def abandoned(draw: Any) -> Any:
    """Return a run that settles open sequences at their lowest, and by the rules that are wrong."""

    def make(random: np.random.Generator, sequences: int) -> dict[str, Any]:
        proba = sigmoid(random.normal(size=sequences))
        label, lasts = draw(random, proba)
        return {
            "alarm": watch(proba, label, lasts, "lowest").status().alarm,
            "left out": watch(proba, label, lasts, "left out").status().alarm,
            "left out at dates": watch(proba, label, lasts, "left out at dates").status().alarm,
        }

    return make


def open_as_a_class(random: np.random.Generator, sequences: int) -> dict[str, Any]:
    """Forecast what comes true within the age, with "open" as a class."""
    proba = sigmoid(random.normal(size=sequences))
    return {"alarm": _three_classes(random, proba, 1.0).status().alarm}


def _three_classes(random: np.random.Generator, proba: Array, slope: float) -> Monitor:
    """Watch calibrated forecasts of loss, win and open, their log-odds of a win times a slope."""
    label, lasts = slow_losses(random, proba)
    said = sigmoid(slope * (np.log(proba) - np.log1p(-proba)))
    parts = [(1.0 - said) * _ends_in_time(LOSS_TAKES), said * _ends_in_time(WIN_TAKES)]
    forecasts = np.stack([*parts, 1.0 - parts[0] - parts[1]], axis=1)
    outcome = np.where(lasts <= AGE, label, 2)
    monitor = Monitor(classes=[0, 1, 2], alpha=ALPHA, movement=False)
    where: Any = {"time": np.zeros(len(proba)), "sequence": np.arange(len(proba))}
    return monitor.replay(forecasts, outcome, **where)


def _ends_in_time(takes: float) -> float:
    return float(1.0 - np.exp(-AGE / takes))


def bad_news_abandoned(random: np.random.Generator, sequences: int) -> dict[str, Any]:
    """Forecast sequences of four rows whose bad news take 8 times as long, in movement alone."""
    proba, moments = np.empty((sequences, 5)), np.empty((sequences, 5))
    proba[:, 0], moments[:, 0] = random.choice([0.25, 0.5, 0.75], sequences), np.arange(sequences)
    for k in range(4):
        rises = random.random(sequences) < proba[:, k]
        proba[:, k + 1] = rises if k == 3 else ((4 + k) * proba[:, k] + rises) / (5 + k)
        takes = np.where(rises, WIN_TAKES, LOSS_TAKES)
        moments[:, k + 1] = moments[:, k] + random.exponential(takes)
    monitor = Monitor([2], alpha=ALPHA, movement_until=10)
    for event in np.argsort(moments, axis=None).tolist():
        one, k = divmod(event, 5)
        if monitor.is_finished(one):
            continue
        if k == 4:
            monitor.finish(one, int(proba[one, 4]))
        else:
            monitor.predict(one, proba[one, k], k)
            monitor.abandon_after(4 * AGE)
    return {"alarm": monitor.status().alarm}


# Calibrated forecasts, and how many sequences; the same form as in `validation.monitor`.
RIGHT: dict[str, tuple[Callable[[np.random.Generator, int], dict[str, Any]], int]] = {
    "losses take 8 times as long, abandoned when 20 more have begun": (
        abandoned(slow_losses),
        1000,
    ),
    "half of the losses and 4 % of the wins never end, abandoned so": (
        abandoned(never(0.5, 0.04)),
        1000,
    ),
    "losses take 8 times as long, open at that age as a class": (open_as_a_class, 1000),
    "four rows, bad news take 8 times as long, abandoned when 80 more have begun": (
        bad_news_abandoned,
        500,
    ),
}

SEQUENCES, SLOPE = 1000, 2.0
FOUND: dict[str, Any] = {
    "all of them end": ("lowest", never(0.0, 0.0)),
    "1 % never end, abandoned": ("lowest", never(0.01, 0.01)),
    "5 % never end, abandoned": ("lowest", never(0.05, 0.05)),
    "27 % never end, most of them lost, abandoned": ("lowest", never(0.5, 0.04)),
    "losses take 8 times as long, abandoned": ("lowest", slow_losses),
    "losses take 8 times as long, nothing abandoned": ("wait", slow_losses),
    "losses take 8 times as long, open as a class": None,
}


def run_found(task: dict[str, Any]) -> dict[str, Any]:
    """Watch forecasts that are too sure, log-odds times 2, where some sequences stay open."""
    random = np.random.default_rng([task["seed"], list(FOUND).index(task["sequences"])])
    proba = sigmoid(random.normal(size=SEQUENCES))
    rule = FOUND[task["sequences"]]
    if rule is None:
        status = _three_classes(random, proba, SLOPE).status()
    else:
        label, lasts = rule[1](random, proba)
        said = sigmoid(SLOPE * (np.log(proba) - np.log1p(-proba)))
        status = watch(said, label, lasts, rule[0]).status()
    return {**task, "alarm": status.alarm, "since": status.stretches[0].since_settled}


def found_table(results: list[dict[str, Any]]) -> str:
    """Share of the sets with an alarm, and the median number of bets it took."""
    lines = ["| sequences | sets | found | median bets until the alarm |", "|---|---|---|---|"]
    for name in FOUND:
        sets = [one for one in results if one["sequences"] == name]
        found = [one["since"] for one in sets if one["alarm"]]
        median = f"{np.median(found):.0f}" if found else ""
        share = f"{100 * len(found) / len(sets):.0f} %"
        lines.append(f"| {name} | {len(sets)} | {share} | {median} |")
    return "\n".join(lines)

"""How often a monitor raises an alarm over forecasts that are right, and how soon over others."""

import heapq
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tempocal.datasets import simulate_match
from tempocal.links import Array, sigmoid
from tempocal.live import Monitor
from tempocal.live.bet_queue import Bet, BetQueue
from tempocal.live.evalues import Alternatives
from validation import open_sequences

ALPHA = 0.05
EDGES = (6, 12, 18)  # rounds of a match
# Mean number of sequences that start before one that is won ends.
WIN_TAKES = 5.0
# Matches between looks when a change is timed, those before it, and those after it.
LOOK, BEFORE, AFTER = 10, 300, 3000


def _one_after_another(random: np.random.Generator, sequences: int) -> dict[str, Any]:
    proba = sigmoid(random.normal(size=sequences))
    rows = (proba, random.random(sequences) < proba)
    monitor = Monitor(alpha=ALPHA, movement=False)
    where: Any = {"time": np.zeros(sequences), "sequence": np.arange(sequences)}
    return {"alarm": monitor.replay(*rows, **where).status().alarm}


def _three_classes(random: np.random.Generator, sequences: int) -> dict[str, Any]:
    proba = random.dirichlet([1.0, 1.0, 1.0], sequences)
    label = (random.random((sequences, 1)) > proba.cumsum(axis=1)).sum(axis=1)
    monitor = Monitor(classes=[0, 1, 2], alpha=ALPHA, movement=False)
    where: Any = {"time": np.zeros(sequences), "sequence": np.arange(sequences)}
    return {"alarm": monitor.replay(proba, label, **where).status().alarm}


def _matches(random: np.random.Generator, sequences: int) -> dict[str, Any]:
    """Forecast matches of which one starts every round, so that some twenty are under way."""
    m = simulate_match(sequences, seed=int(random.integers(2**31)))
    order = np.argsort(m.sequence + m.time, kind="stable")
    monitor = Monitor(EDGES, alpha=ALPHA)
    status = monitor.replay(
        m.true_probability[order], m.label[order], time=m.time[order], sequence=m.sequence[order]
    ).status()
    return {"alarm": status.alarm}


def _slow_losses(times: float) -> Any:
    """Forecast sequences whose losses take so many times as long as wins, event by event."""

    def make(random: np.random.Generator, sequences: int) -> dict[str, Any]:
        proba = sigmoid(random.normal(size=sequences))
        label = (random.random(sequences) < proba).astype(int)
        means = WIN_TAKES * np.array([times, 1.0])
        ends = np.arange(sequences) + random.exponential(means[label])
        monitor = Monitor(alpha=ALPHA, movement=False)
        for kind, k in _events(ends):
            if kind == "start":
                monitor.predict(k, proba[k], 0)
            else:
                monitor.finish(k, label[k])
        order = np.argsort(ends)
        naive = _naively(proba[order], label[order].astype(float))
        return {"alarm": monitor.status().alarm, "naive": naive}

    return make


def _slow_bad_news(random: np.random.Generator, sequences: int) -> dict[str, Any]:
    """Forecast sequences of four rows, of which one that falls comes later, as a loss does."""
    proba, moments = np.empty((sequences, 5)), np.empty((sequences, 5))
    proba[:, 0], moments[:, 0] = random.choice([0.25, 0.5, 0.75], sequences), np.arange(sequences)
    for k in range(4):
        # Polya's urn: up or down, with a mean of where it is; at the end it is the label.
        rises = random.random(sequences) < proba[:, k]
        proba[:, k + 1] = rises if k == 3 else ((4 + k) * proba[:, k] + rises) / (5 + k)
        means = WIN_TAKES * np.where(rises, 1.0, 8.0)
        moments[:, k + 1] = moments[:, k] + random.exponential(means)
    rows = np.argsort(moments[:, :4], axis=None)
    sequence, time = np.divmod(rows, 4)
    monitor = Monitor([2], alpha=ALPHA, movement_until=10)
    where: Any = {"time": time, "sequence": sequence}
    status = monitor.replay(proba[sequence, time], proba[sequence, 4], **where).status()
    order = np.argsort(moments[:, 1:], axis=None)
    return {"alarm": status.alarm, "naive": _naively(*_pairs(proba, order))}


def _common_fate(random: np.random.Generator, sequences: int) -> dict[str, Any]:
    """Forecast ten sequences at once that share one outcome, which nobody knows of."""
    proba = np.repeat(sigmoid(random.normal(size=sequences // 10)), 10)
    label = np.repeat(random.random(sequences // 10) < proba[::10], 10)
    monitor = Monitor(alpha=ALPHA, movement=False)
    where: Any = {"time": np.zeros(sequences), "sequence": np.arange(sequences)}
    return {"alarm": monitor.replay(proba, label, **where).status().alarm}


def _pairs(proba: Array, order: Any) -> tuple[Array, Array]:
    return proba[:, :-1].ravel()[order], proba[:, 1:].ravel()[order]


def _naively(proba: Array, outcome: Array) -> bool:
    """Tell whether there is an alarm if bets are settled in the order in which they are passed."""
    queue = BetQueue(Alternatives(2), float(np.log(1.0 / ALPHA)))
    both = [np.stack([1.0 - values, values], axis=1) for values in (proba, outcome)]
    queue.waiting.extend(Bet(0, *pair) for pair in zip(*both, strict=True))
    queue.settle()
    return queue.crossing is not None


def _events(ends: Array) -> Iterator[tuple[str, int]]:
    """Yield starts, one a moment, and ends, in the order of the clock; all have ended at last."""
    running: list[tuple[float, int]] = []
    for k, end in enumerate(ends.tolist()):
        while running and running[0][0] <= k:
            yield "end", heapq.heappop(running)[1]
        yield "start", k
        heapq.heappush(running, (end, k))
    while running:
        yield "end", heapq.heappop(running)[1]


# Forecasts that are right: how they are made, and how many sequences.
RIGHT: dict[str, tuple[Callable[[np.random.Generator, int], dict[str, Any]], int]] = {
    "one after another": (_one_after_another, 1000),
    "one after another, long": (_one_after_another, 20_000),
    "three classes": (_three_classes, 1000),
    "matches, about 20 under way": (_matches, 300),
    "losses take twice as long": (_slow_losses(2.0), 1000),
    "losses take 8 times as long": (_slow_losses(8.0), 1000),
    "four rows, bad news take 8 times as long": (_slow_bad_news, 500),
    "ten at once share one outcome (not promised)": (_common_fate, 1000),
    **open_sequences.RIGHT,
}
# What else a run may have tried on the same forecasts, and how the table calls it.
WRONG = {
    "naive": "the same, settled as they end (wrong)",
    "left out": "the same, left out at that age (wrong)",
    "left out at dates": "the same, left out if open when every 50th begins (wrong)",
}


def run(task: dict[str, Any]) -> dict[str, Any]:
    """Watch one set of forecasts that are right."""
    make, sequences = RIGHT[task["forecasts"]]
    random = np.random.default_rng([task["seed"], list(RIGHT).index(task["forecasts"])])
    return {**task, **make(random, sequences)}


def table(results: list[dict[str, Any]]) -> str:
    """Share of the sets with an alarm, and its interval."""
    lines = ["| calibrated forecasts | sequences | sets | false alarms | 95 % interval |"]
    lines.append("|---|---|---|---|---|")
    for name, (_, sequences) in RIGHT.items():
        sets = [one for one in results if one["forecasts"] == name]
        lines.append(_share(name, sequences, [one["alarm"] for one in sets]))
        for key, meaning in WRONG.items():
            if key in sets[0]:
                lines.append(_share(meaning, sequences, [one[key] for one in sets]))
    return "\n".join(lines)


def _share(name: str, sequences: int, alarms: list[bool]) -> str:
    from scipy.stats import binomtest  # noqa: PLC0415 - the simulations need no scipy

    test = binomtest(sum(alarms), len(alarms)).proportion_ci()
    share = f"{100 * np.mean(alarms):.1f} % | {100 * test.low:.1f} to {100 * test.high:.1f} %"
    return f"| {name} | {sequences:,} | {len(alarms)} | {share} |"


# What happens to the log-odds of forecasts of matches, at each time.
CHANGES: dict[str, Callable[[Array, Any], Array]] = {
    "too sure: log-odds times 1.5": lambda odds, time: 1.5 * odds,
    "too sure: log-odds times 2": lambda odds, time: 2.0 * odds,
    "too timid: log-odds divided by 1.5": lambda odds, time: odds / 1.5,
    "too timid: log-odds divided by 2": lambda odds, time: odds / 2.0,
    "too high: log-odds plus 0.3": lambda odds, time: odds + 0.3,
    "too sure before round 6 alone: times 2": lambda odds, time: (
        np.where(time < 6, 2.0, 1.0) * odds
    ),
}


def run_change(task: dict[str, Any]) -> dict[str, Any]:
    """Watch matches until the alarm after a change; None if it does not come."""
    m = simulate_match(BEFORE + AFTER, seed=task["seed"])
    odds = np.log(m.true_probability) - np.log1p(-m.true_probability)
    changed = CHANGES[task["change"]](odds, m.time)
    proba = sigmoid(np.where(m.sequence < BEFORE, odds, changed))
    monitor = Monitor(EDGES, alpha=ALPHA, movement=task["movement"])
    for first in range(0, BEFORE + AFTER, LOOK):
        rows = slice(*np.searchsorted(m.sequence, [first, first + LOOK]))
        where: Any = {"time": m.time[rows], "sequence": m.sequence[rows]}
        status = monitor.replay(proba[rows], m.label[rows], **where).status()
        if status.alarm:
            raised = next(line.name for line in status.lines if line.alarm)
            return {**task, "delay": first + LOOK - BEFORE, "line": raised}
    return {**task, "delay": None, "line": None}


def change_table(results: list[dict[str, Any]]) -> str:
    """Count matches from the change to the alarm; alarms before it are left out."""
    lines = ["| change | lines | sets | false alarms before | median delay | 90 % by | found |"]
    lines.append("|---|---|---|---|---|---|---|")
    for name in CHANGES:
        for movement in (True, False):
            key = (name, movement)
            sets = [one for one in results if (one["change"], one["movement"]) == key]
            delays = np.array([np.inf if one["delay"] is None else one["delay"] for one in sets])
            after = delays[delays > 0]
            half, most = np.quantile(after, [0.5, 0.9], method="inverted_cdf")
            found = f"{100 * np.isfinite(after).mean():.0f} %"
            which = "4 time bins and movement" if movement else "4 time bins"
            lines.append(
                f"| {name} | {which} | {len(sets)} | {len(sets) - len(after)} | {half:.0f} | "
                f"{most:.0f} | {found} |"
            )
    return "\n".join(lines)

"""Decay of the weight of later forecasts: by rows, or by elapsed time.

Both forms of the horizon are fitted by the same small solver, a straight transcription of the
estimating equation: temperature along a piecewise linear curve with a fixed ridge, no choice of
strengths. The simulators have equal steps, and irregular ones where evidence comes with each row,
or with the time that passed.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, log_expit

from tempocal.datasets import simulate_match

Array = NDArray[np.float64]
HORIZONS = (0.05, 0.1, 0.25)
RIDGE, KNOTS, ROUNDS, TOLERANCE = 5.0, 5, 50, 1e-10
TEST_SEQUENCES, TEST_SEED = 1000, 10**9
SEQUENCES = 50
# Evidence of a unit of time, or of a row.
GAP, SHORTEST, LONGEST = 0.4, 6, 30


@dataclass(frozen=True)
class Padded:
    """Sequences side by side: arrays (sequences, steps), with False in ``is_row`` after the end."""

    logits: Array
    true_logits: Array
    time: Array
    is_row: NDArray[np.bool_]
    label: Array  # (sequences, 1)


def _matches(count: int, seed: int) -> Padded:
    matches = simulate_match(count, seed=seed)
    p = matches.true_probability
    shape = (count, int(matches.time.max()) + 1)

    def padded(values: Any, fill: float = 0.0) -> Array:
        table = np.full(shape, fill)
        table[matches.sequence, matches.time] = values
        return table

    label = np.zeros((count, 1))
    label[matches.sequence, 0] = matches.label
    time = np.broadcast_to(np.arange(shape[1], dtype=float), shape)
    true = padded(np.log(p) - np.log1p(-p))
    return Padded(padded(matches.logits), true, time, padded(1.0) > 0.0, label)


def _evidence(count: int, seed: int, *, by_time: bool, bursts: bool) -> Padded:
    """Draw two classes at irregular times; with bursts most steps are short and some are long."""
    rng = np.random.default_rng(seed)
    lengths = rng.integers(SHORTEST, LONGEST + 1, (count, 1))
    gaps = rng.exponential(size=(count, LONGEST))
    if bursts:
        gaps *= np.where(rng.random(gaps.shape) < 0.2, 4.0, 0.25)
    time = np.cumsum(gaps, axis=1)
    label = rng.integers(0, 2, (count, 1)).astype(float)
    amount = gaps if by_time else np.ones_like(gaps)
    # Log-odds of a normal step with mean +-GAP**2 / 2 and variance GAP**2 for a unit of evidence.
    steps = GAP**2 * amount * (label - 0.5) + GAP * np.sqrt(amount) * rng.normal(size=gaps.shape)
    true = np.cumsum(steps, axis=1)
    slope = 1.0 - 0.7 * np.exp(-time / 6.0)
    return Padded(true / slope, true, time, np.arange(LONGEST) < lengths, label)


SIMULATORS: dict[str, Any] = {
    "matches": _matches,
    "evidence of rows": lambda n, seed: _evidence(n, seed, by_time=False, bursts=False),
    "evidence of rows, bursts": lambda n, seed: _evidence(n, seed, by_time=False, bursts=True),
    "evidence of time": lambda n, seed: _evidence(n, seed, by_time=True, bursts=False),
    "evidence of time, bursts": lambda n, seed: _evidence(n, seed, by_time=True, bursts=True),
}


def run(task: dict[str, Any]) -> dict[str, Any]:
    """Fit by both decays at every horizon to one simulated set."""
    draw = SIMULATORS[task["simulator"]]
    rows, test = draw(SEQUENCES, task["seed"]), draw(TEST_SEQUENCES, TEST_SEED)
    knots = np.quantile(rows.time[rows.is_row], np.linspace(0.0, 1.0, KNOTS))
    excess = {}
    for horizon in (*HORIZONS, np.inf):
        for name, decays in (("rows", _by_rows), ("time", _by_time)):
            theta = _fit(rows, _basis(rows.time, knots), decays(rows, horizon))
            excess[f"{name} {horizon}"] = _excess(test, _basis(test.time, knots), theta)
    return {**task, "excess": excess}


def _by_rows(rows: Padded, horizon: float) -> Array:
    mean_length = rows.is_row.sum() / len(rows.is_row)
    return np.full(rows.time.shape, np.exp(-1.0 / (horizon * mean_length)))


def _by_time(rows: Padded, horizon: float) -> Array:
    """Decay from each row to the next one; the outcome comes with the last row."""
    last = np.where(rows.is_row, rows.time, -np.inf).max(axis=1)
    mean_span = float(np.mean(last - rows.time[:, 0]))
    steps = np.diff(rows.time, axis=1, append=rows.time[:, -1:])
    return np.asarray(np.exp(-steps / (horizon * mean_span)))


def _basis(time: Array, knots: Array) -> Array:
    """Hat functions: (sequences, steps, knots)."""
    flat = np.stack([np.interp(time.ravel(), knots, one) for one in np.eye(len(knots))], axis=1)
    return flat.reshape(*time.shape, len(knots))


def _fit(rows: Padded, basis: Array, decays: Array) -> Array:
    """Solve the estimating equation by Newton's method, with steps halved where it grows."""
    features = basis * (rows.logits * rows.is_row)[..., None]
    is_last = rows.is_row & ~np.append(rows.is_row[:, 1:], np.zeros((len(basis), 1), bool), axis=1)
    traces = np.zeros_like(features)
    traces[:, 0] = features[:, 0]
    for k in range(1, features.shape[1]):
        traces[:, k] = decays[:, k - 1, None] * traces[:, k - 1] + features[:, k]
    traces *= rows.is_row[..., None]

    def psi(theta: Array) -> tuple[Array, Array]:
        p = expit(features @ theta)
        following = np.where(is_last, rows.label, np.roll(p, -1, axis=1))
        slopes = (p * (1.0 - p))[..., None] * features
        changes = np.where(is_last[..., None], 0.0, np.roll(slopes, -1, axis=1)) - slopes
        value = np.einsum("skq,sk->q", traces, (following - p) * rows.is_row)
        derivative = np.einsum("skq,skr->qr", traces, changes * rows.is_row[..., None])
        return value - RIDGE * (theta - 1.0), derivative - RIDGE * np.eye(len(theta))

    theta = np.ones(basis.shape[2])
    value, derivative = psi(theta)
    for _ in range(ROUNDS):
        step = -np.linalg.solve(derivative, value)
        for _ in range(20):
            new, new_derivative = psi(theta + step)
            if np.linalg.norm(new) <= np.linalg.norm(value):
                break
            step *= 0.5
        theta, value, derivative = theta + step, new, new_derivative
        if np.linalg.norm(value) < TOLERANCE * rows.is_row.sum():
            break
    return theta


def _excess(test: Padded, basis: Array, theta: Array) -> float:
    """Mean divergence from the true probabilities."""
    fitted, true = test.logits * (basis @ theta), test.true_logits
    p = expit(true)
    divergence = p * (log_expit(true) - log_expit(fitted))
    divergence += (1.0 - p) * (log_expit(-true) - log_expit(-fitted))
    return float(divergence[test.is_row].mean())


def table(results: list[dict[str, Any]]) -> str:
    """Mean excess in thousandths, and the paired difference of the two decays."""
    lines = [
        "| simulator | sets | horizon | by rows | by time | time - rows |",
        "|---|---|" + "---|" * 4,
    ]
    for simulator in SIMULATORS:
        sets = [one["excess"] for one in results if one["simulator"] == simulator]
        for horizon in (*HORIZONS, np.inf) if sets else ():
            by_rows, by_time = (
                1000 * np.array([one[f"{name} {horizon}"] for one in sets])
                for name in ("rows", "time")
            )
            gap = by_time - by_rows
            error = gap.std(ddof=1) / np.sqrt(len(gap))
            lines.append(
                f"| {simulator} | {len(sets)} | {horizon} | {by_rows.mean():.2f} | "
                f"{by_time.mean():.2f} | {gap.mean():+.2f} +- {error:.2f} |"
            )
    return "\n".join(lines)

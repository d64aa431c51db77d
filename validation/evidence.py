"""Simulated forecasts that add up evidence at irregular times, whose exact probabilities are known.

At each of its steps a sequence shows a normal vector, with mean `GAP` for the class that is true.
Log-odds are `GAP` times the sums of what was seen. A model may also fade, that is, weigh what it
saw by a power of its age, or react late, that is, give the newest step less weight than the others.
The exact probabilities given such a sum are known too, but the present one is then not all that
its sequence says about the outcome.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
# Separation of the classes at each step, and the shortest and longest sequence.
GAP, SHORTEST, LONGEST = 0.4, 6, 30


@dataclass(frozen=True)
class Forecasts:
    """Forecasts along sequences, a row for each step, and the true probabilities given them."""

    logits: Array  # (n,) of two classes, (n, classes) of more
    label: NDArray[np.int64]
    time: Array
    sequence: NDArray[np.int64]
    true_probability: Array  # (n, classes)


def true_slope(time: Array) -> Array:
    """By what a distorted model's logits have to be multiplied: a hump."""
    return np.asarray(0.5 + 0.7 * np.exp(-(((time - 8.0) / 4.0) ** 2)))


def simulate(
    n_sequences: int,
    n_classes: int,
    *,
    seed: int,
    distorted: bool,
    kept: float = 1.0,
    newest: float = 1.0,
) -> Forecasts:
    """Draw sequences; weights of what was seen fall by ``kept`` with each step.

    What was seen last has the weight ``newest`` instead of 1.
    """
    rng = np.random.default_rng(seed)
    lengths = rng.integers(SHORTEST, LONGEST + 1, n_sequences)
    sequence = np.repeat(np.arange(n_sequences), lengths)
    label = rng.integers(0, n_classes, n_sequences)
    time = np.cumsum(rng.exponential(size=(n_sequences, LONGEST)), axis=1)
    seen = rng.normal(size=(n_sequences, LONGEST, n_classes))
    seen[np.arange(n_sequences), :, label] += GAP
    weights = np.full(LONGEST, newest)
    squares = weights**2
    older, sums = np.zeros((n_sequences, n_classes)), np.empty_like(seen)
    for step in range(LONGEST):
        sums[:, step] = older + newest * seen[:, step]
        older = kept * (older + seen[:, step])
        weights[step] += (kept ** np.arange(1, step + 1)).sum()
        squares[step] += (kept ** (2 * np.arange(1, step + 1))).sum()
    is_row = np.arange(LONGEST) < lengths[:, None]
    true = (GAP * (weights / squares)[:, None] * sums)[is_row]
    times = time[is_row]
    logits = true / true_slope(times)[:, None] if distorted else true
    p = np.exp(true - true.max(axis=1, keepdims=True))
    return Forecasts(
        logits[:, 1] - logits[:, 0] if n_classes == 2 else logits,
        label[sequence],
        times,
        sequence,
        p / p.sum(axis=1, keepdims=True),
    )

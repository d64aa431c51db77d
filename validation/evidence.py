"""Simulated forecasts that add up evidence at irregular times, whose exact probabilities are known.

At each of its steps a sequence shows a normal vector, with mean `GAP` for the class that is true.
Log-odds are `GAP` times the sums of what was seen. A model may also fade, that is, weigh what it
saw by a power of its age, or react slowly, that is, give what is new less weight than what is old.
The exact probabilities given such a sum are known too, but the present one is then not all that
its sequence says about the outcome.
"""

from dataclasses import dataclass
from typing import Any

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
    time: NDArray[Any]
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
    reaction: float = 1.0,
) -> Forecasts:
    """Draw sequences; what was seen loses weight by ``kept`` with each step.

    With a ``reaction`` below 1 it first gains weight: a moving average of what a model would say
    that reacts at once.
    """
    rng = np.random.default_rng(seed)
    lengths = rng.integers(SHORTEST, LONGEST + 1, n_sequences)
    sequence = np.repeat(np.arange(n_sequences), lengths)
    label = rng.integers(0, n_classes, n_sequences)
    time = np.cumsum(rng.exponential(size=(n_sequences, LONGEST)), axis=1)
    seen = rng.normal(size=(n_sequences, LONGEST, n_classes))
    seen[np.arange(n_sequences), :, label] += GAP
    age = np.subtract.outer(np.arange(LONGEST), np.arange(LONGEST))
    weight = np.where(age >= 0, kept ** np.maximum(age, 0), 0.0)
    weight *= 1.0 - (1.0 - reaction) ** (age.clip(0) + 1)
    sums = np.einsum("kj,sjc->skc", weight, seen)
    weights, squares = weight.sum(axis=1), (weight**2).sum(axis=1)
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

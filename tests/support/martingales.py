"""Sequences of exact forecasts: evidence of each class adds up, so that the truth is known."""

from dataclasses import dataclass

import numpy as np

# Distance of what is seen of the true class from the others, in standard deviations.
GAP = 0.6


@dataclass(frozen=True)
class Forecasts:
    """Forecasts of sequences, a row for each step."""

    true_logits: np.ndarray  # (n, classes); of two classes (n,)
    label: np.ndarray
    time: np.ndarray
    sequence: np.ndarray


def simulate_forecasts(n_sequences, n_classes=2, *, seed=0, steps=12, forgets=False, reaction=1.0):
    """Draw sequences of random length at irregular times.

    Each step shows a normal vector with mean `GAP` for the class that is true: log-odds are `GAP`
    times the sums of what was seen. A model that forgets knows the last step only. One that reacts
    slowly says a moving average of its log-odds, which are then not exact.
    """
    rng = np.random.default_rng(seed)
    lengths = rng.integers(steps // 2, steps + 1, n_sequences)
    sequence = np.repeat(np.arange(n_sequences), lengths)
    label = rng.integers(0, n_classes, n_sequences)[sequence]
    seen = rng.normal(size=(len(label), n_classes))
    seen[np.arange(len(label)), label] += GAP
    evidence = GAP * seen
    if not forgets:
        starts = np.concatenate([[0], np.cumsum(lengths)[:-1]])
        sums = np.cumsum(evidence, axis=0)
        before = sums[starts] - evidence[starts]
        evidence = sums - before[sequence]
    for row in range(len(evidence)) if reaction < 1.0 else ():
        before = evidence[row - 1] if row and sequence[row] == sequence[row - 1] else 0.0
        evidence[row] = before + reaction * (evidence[row] - before)
    time = np.concatenate([np.cumsum(rng.exponential(size=length)) for length in lengths])
    logits = evidence[:, 1] - evidence[:, 0] if n_classes == 2 else evidence
    return Forecasts(logits, label, time, sequence)

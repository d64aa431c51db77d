"""Simulated matches whose exact win probability is known at every moment."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tempocal.inputs import check_positive_int
from tempocal.links import Array


@dataclass(frozen=True)
class Matches:
    """Predictions during matches, a row for every match and every round before it was decided."""

    logits: Array  # of a miscalibrated model, for a win of the first side
    label: NDArray[np.int64]  # 1 if the first side won the match, the same in all its rows
    time: NDArray[np.int64]  # rounds played so far
    sequence: NDArray[np.int64]  # id of the match
    true_probability: Array  # the probability of label 1, given the score and the two sides


def simulate_match(n_matches: int = 1000, *, wins: int = 13, seed: int = 0) -> Matches:
    """Simulate races to a number of round wins, and a model that is miscalibrated along time.

    The first side wins a round with a probability that is drawn once for each match. Its
    probability of winning the match from a given score is then known exactly. The model distorts
    it: it is far too sure early and calibrated late. Multiplying its logits by
    ``1 - 0.7 * exp(-time / 6)`` gives the true ones.

    Parameters
    ----------
    n_matches : int
        Number of matches.
    wins : int
        Rounds that a side needs to win the match.
    seed : int
        Seed of the random number generator.

    Examples
    --------
    >>> from tempocal.datasets import simulate_match
    >>> matches = simulate_match(100, wins=3)
    >>> int(matches.time.max())
    4
    """
    n_matches, wins = check_positive_int(n_matches, "n_matches"), check_positive_int(wins, "wins")
    rng = np.random.default_rng(seed)
    strength = 1.0 / (1.0 + np.exp(-0.3 * rng.normal(size=n_matches)))
    won = rng.random((n_matches, 2 * wins - 1)) < strength[:, None]
    # Scores before each round, of shape (matches, rounds).
    first: NDArray[np.int_] = np.cumsum(won, axis=1) - won
    second = np.arange(2 * wins - 1) - first
    sequence, time = np.nonzero((first < wins) & (second < wins))
    needed, other = wins - first[sequence, time], wins - second[sequence, time]
    true = _win_probability(strength[sequence], needed, other)
    label = (np.cumsum(won, axis=1)[:, -1] >= wins).astype(np.int64)
    scale = 1.0 - 0.7 * np.exp(-time / 6.0)
    return Matches(
        logits=(np.log(true) - np.log1p(-true)) / scale,
        label=label[sequence],
        time=time.astype(np.int64),
        sequence=sequence.astype(np.int64),
        true_probability=true,
    )


def _win_probability(strength: Array, needed: NDArray[np.int_], other: NDArray[np.int_]) -> Array:
    """Probability of winning ``needed`` rounds before the other side wins ``other``."""
    from scipy.special import betainc  # noqa: PLC0415 - datasets are imported without scipy

    return np.asarray(betainc(needed, other, strength), dtype=np.float64)

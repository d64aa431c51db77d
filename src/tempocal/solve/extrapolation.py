"""Extrapolation of a fixed-point iteration of penalty strengths (Anderson 1965).

Rounds that map strengths to better ones converge linearly. Near the fixed point the change that a
round makes is linear in the logarithms of the strengths, so that the changes of the last rounds
predict where it vanishes: for a single strength this is the secant method.
"""

import numpy as np

from tempocal.links import Array
from tempocal.solve.penalties import Strengths

# Changes of the logarithms above which the iteration is not yet linear.
MAX_CHANGE = 1.0
# An extrapolation reaches no farther than this many times the last change.
MAX_REACH = 10.0
# Changes of rounds that are this much alike say the same.
RANK_TOLERANCE = 1e-6
TINY = 1e-300


class Extrapolation:
    """The last rounds of an iteration: as many as strengths change."""

    def __init__(self) -> None:
        self._rounds: list[tuple[Array, Array]] = []  # updated logarithms, and their changes

    def next_strengths(self, before: Strengths, updated: Strengths) -> Strengths:
        """Return strengths to go on from, after a round that updated those ``before``."""
        # Strengths of zero are fixed.
        logs, change = np.log([pair for pair in zip(updated, before, strict=True) if pair[0] > 0.0]).T
        change = logs - change
        largest = float(np.abs(change).max(initial=0.0))
        if not 0.0 < largest < MAX_CHANGE:
            self._rounds.clear()
            return updated
        shift = np.zeros(len(logs))
        if self._rounds:
            values, changes = map(np.array, zip(*self._rounds, strict=True))
            weights = np.linalg.lstsq((changes - change).T, change, rcond=RANK_TOLERANCE)[0]
            shift = weights @ (logs - values)
        self._rounds = [*self._rounds, (logs, change)][-np.count_nonzero(change) :]
        shift *= min(1.0, MAX_REACH * largest / max(float(np.abs(shift).max()), TINY))
        shifted = iter(np.exp(shift).tolist())
        return tuple(new * next(shifted) if new > 0.0 else new for new in updated)

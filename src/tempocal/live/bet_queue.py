"""A queue of bets in the order of prediction.

A bet is settled once it and all bets before it have their outcome.
"""

from collections import deque
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tempocal.links import Array
from tempocal.live.evalues import Alternatives, log_running_after, log_values

SequenceId = str | int


@dataclass(eq=False)
class Bet:
    """A forecast that waits for its outcome, or for the outcomes of earlier ones."""

    sequence: SequenceId
    proba: Array  # (K,)
    outcome: Array | None = None  # (K,): the class that came true, or the next forecast
    is_lost: bool = False  # the outcome will never be known

    @property
    def is_ready(self) -> bool:
        """Whether it can be settled once those before it are."""
        return self.is_lost or self.outcome is not None


class Crossing(NamedTuple):
    """The bet at which the e-value first reached its threshold."""

    settled: int  # number of bets up to and including it
    sequence: SequenceId


class BetQueue:
    """Bets that wait for outcomes, and the e-value of those that were settled.

    Parameters
    ----------
    alternatives : Alternatives
        The alternatives to the forecasts.
    log_threshold : float
        Logarithm of the e-value that raises an alarm.
    """

    def __init__(self, alternatives: Alternatives, log_threshold: float) -> None:
        self.alternatives = alternatives
        self.log_threshold = log_threshold
        self.waiting: deque[Bet] = deque()
        self.settled = 0
        self.lost = 0  # of the settled ones, those at their lowest factor
        self.log_running = np.full(alternatives.count, -np.inf)
        self.log_value = 0.0
        self.log_highest = 0.0
        self.crossing: Crossing | None = None

    def settle(self) -> list[Bet]:
        """Settle and return the bets at the head of the queue that have their outcome."""
        ready: list[Bet] = []
        while self.waiting and self.waiting[0].is_ready:
            ready.append(self.waiting.popleft())
        if ready:
            self._update(ready)
        return ready

    @property
    def held_up(self) -> int:
        """Number of bets that could be settled but for those before them."""
        return sum(bet.is_ready for bet in self.waiting)

    def strongest_alternative(self) -> int:
        """Return the index of the alternative with the most evidence against the forecasts."""
        return int(np.argmax(self.log_running + self.alternatives.log_weights))

    def _update(self, ready: list[Bet]) -> None:
        proba = np.stack([bet.proba for bet in ready])
        factors = self._log_factors(ready, proba)
        trace = log_running_after(self.log_running, self.settled, factors)
        values = log_values(trace, self.settled, self.alternatives.log_weights)
        crossed = values >= self.log_threshold
        if self.crossing is None and crossed.any():
            first = int(np.argmax(crossed))
            self.crossing = Crossing(self.settled + first + 1, ready[first].sequence)
        self.log_running, self.log_value = trace[-1], float(values[-1])
        self.log_highest = max(self.log_highest, float(values.max()))
        self.settled += len(ready)
        self.lost += sum(bet.is_lost for bet in ready)

    def _log_factors(self, ready: list[Bet], proba: Array) -> Array:
        known = [bet.proba if bet.outcome is None else bet.outcome for bet in ready]
        factors = self.alternatives.log_factors(proba, np.stack(known))
        lost = np.array([bet.is_lost for bet in ready])
        if lost.any():
            factors[lost] = self.alternatives.lowest_log_factors(proba[lost])
        return factors

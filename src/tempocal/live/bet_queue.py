"""Bets in the order of prediction, each settled when it and all before it have their outcome."""

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


class Crossing(NamedTuple):
    """The bet at which a value first reached its threshold."""

    settled: int  # bets up to and with it
    sequence: SequenceId


class Line:
    """A queue of bets and what those that left it have shown.

    Parameters
    ----------
    alternatives : Alternatives
        What is bet on.
    log_threshold : float
        Logarithm of the value that raises an alarm.
    """

    def __init__(self, alternatives: Alternatives, log_threshold: float) -> None:
        self.alternatives = alternatives
        self.log_threshold = log_threshold
        self.waiting: deque[Bet] = deque()
        self.settled = 0
        self.log_running = np.full(alternatives.count, -np.inf)
        self.log_value = 0.0
        self.log_highest = 0.0
        self.crossing: Crossing | None = None

    def settle(self) -> list[Bet]:
        """Settle and return the bets at the head of the queue that have their outcome."""
        ready: list[Bet] = []
        while self.waiting and self.waiting[0].outcome is not None:
            ready.append(self.waiting.popleft())
        if ready:
            self._count(ready)
        return ready

    def leading(self) -> int:
        """Return the alternative that speaks most against the forecasts."""
        return int(np.argmax(self.log_running + self.alternatives.log_weights))

    def _count(self, ready: list[Bet]) -> None:
        proba = np.stack([bet.proba for bet in ready])
        outcome = np.stack([bet.outcome for bet in ready if bet.outcome is not None])
        factors = self.alternatives.log_factors(proba, outcome)
        trace = log_running_after(self.log_running, self.settled, factors)
        values = log_values(trace, self.settled, self.alternatives.log_weights)
        crossed = values >= self.log_threshold
        if self.crossing is None and crossed.any():
            first = int(np.argmax(crossed))
            self.crossing = Crossing(self.settled + first + 1, ready[first].sequence)
        self.log_running, self.log_value = trace[-1], float(values[-1])
        self.log_highest = max(self.log_highest, float(values.max()))
        self.settled += len(ready)

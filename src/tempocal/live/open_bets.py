"""Which sequences are under way, and which bets each of them has made.

Everything here is checked input: ids, probabilities of shape (K,), times in seconds.
"""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field

from tempocal.errors import InputError
from tempocal.links import Array
from tempocal.live.bet_queue import Bet, Line, SequenceId
from tempocal.live.finished_ids import Ended


@dataclass
class Sequence:
    """A sequence that is not done with: under way, or with bets that wait for earlier ones."""

    time: float  # of its last prediction
    stretch: int = -1  # the last one in which it has bet
    bets: list[Bet] = field(default_factory=list)  # on its label, one in each stretch
    step: Bet | None = None  # on its next forecast
    queued: int = 0  # bets, also those that have their outcome
    is_over: bool = False


class Book:
    """The lines of bets and the sequences that are in them.

    Parameters
    ----------
    stretches : list of Line
        The bets on labels, a line for each stretch of time.
    movement : Line or None
        The bets on the next forecast.
    movement_until : float
        Forecasts from this time on make no bet on the next one.
    max_waiting : int
        Most bets that may wait.
    """

    def __init__(
        self,
        stretches: list[Line],
        movement: Line | None,
        movement_until: float,
        max_waiting: int,
    ) -> None:
        self.stretches = stretches
        self.movement = movement
        self.movement_until = movement_until
        self.max_waiting = max_waiting
        self.sequences: dict[SequenceId, Sequence] = {}
        self.ended = Ended()
        self.finished = 0
        self.abandoned = 0

    @property
    def lines(self) -> list[Line]:
        """All lines, that of movement last."""
        return [*self.stretches, *([self.movement] if self.movement else [])]

    @property
    def waiting(self) -> int:
        """Bets that wait."""
        return sum(len(line.waiting) for line in self.lines)

    @property
    def under_way(self) -> int:
        """Sequences without a label."""
        return sum(not one.is_over for one in self.sequences.values())

    def is_finished(self, name: SequenceId) -> bool:
        """Tell whether a sequence has its label or was abandoned."""
        known = self.sequences.get(name)
        return name in self.ended if known is None else known.is_over

    def predict(self, name: SequenceId, proba: Array, time: float, stretch: int) -> None:
        """Take a forecast: it ends the last step of its sequence and makes new bets."""
        self._refuse_finished(name)
        _require_forwards(name, self.sequences.get(name), time)
        self._require_room()
        one = self.sequences.setdefault(name, Sequence(time))
        one.time = time
        if stretch > one.stretch:
            one.stretch = stretch
            one.bets.append(self._bet(self.stretches[stretch], name, one, proba))
        if one.step is not None:
            one.step.outcome, one.step = proba, None
        if self.movement is not None and time < self.movement_until:
            one.step = self._bet(self.movement, name, one, proba)

    def finish(self, name: SequenceId, outcome: Array) -> None:
        """Give all bets of a sequence that are open their outcome."""
        one = self._going_on(name)
        for bet in _open_bets(one):
            bet.outcome = outcome
        self._end(name, one)
        self.finished += 1

    def abandon(self, name: SequenceId) -> None:
        """Take the bets of a sequence that are open out of their queues."""
        one = self._going_on(name)
        opened = list(_open_bets(one))
        for line in self.lines:
            line.waiting = deque(bet for bet in line.waiting if bet not in opened)
        one.queued -= len(opened)
        self._end(name, one)
        self.abandoned += 1
        if not one.queued:
            del self.sequences[name]

    def settle(self) -> None:
        """Settle what is ready, and keep only the ids of sequences that are done with."""
        for line in self.lines:
            for bet in line.settle():
                one = self.sequences[bet.sequence]
                one.queued -= 1
                if one.is_over and not one.queued:
                    del self.sequences[bet.sequence]

    def _bet(self, line: Line, name: SequenceId, one: Sequence, proba: Array) -> Bet:
        bet = Bet(name, proba)
        line.waiting.append(bet)
        one.queued += 1
        return bet

    def _going_on(self, name: SequenceId) -> Sequence:
        self._refuse_finished(name)
        one = self.sequences.get(name)
        if one is None:
            raise InputError(f"the sequence {name!r} is not known: nothing was predicted for it")
        return one

    def _refuse_finished(self, name: SequenceId) -> None:
        if self.is_finished(name):
            raise InputError(
                f"the sequence {name!r} is finished: it has its label, or was abandoned, and "
                "counts once"
            )

    def _require_room(self) -> None:
        if self.waiting < self.max_waiting:
            return
        self.settle()
        if self.waiting >= self.max_waiting:
            first = next(line for line in self.lines if line.waiting).waiting[0].sequence
            raise InputError(
                f"{self.waiting} predictions wait for an outcome, and max_waiting is "
                f"{self.max_waiting}: the sequence {first!r} holds up those after it, so finish or "
                "abandon it"
            )

    def _end(self, name: SequenceId, one: Sequence) -> None:
        one.bets, one.step, one.is_over = [], None, True
        self.ended.add(name)


def _open_bets(one: Sequence) -> Iterator[Bet]:
    yield from one.bets
    if one.step is not None:
        yield one.step


def _require_forwards(name: SequenceId, known: Sequence | None, time: float) -> None:
    if known is not None and time < known.time:
        raise InputError(
            f"time runs backwards in the sequence {name!r}: {time:g} comes after {known.time:g}"
        )

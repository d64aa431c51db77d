"""Open sequences and the bets that each of them has placed.

All arguments are validated before: ids, probabilities of shape (K,), times in seconds.
"""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field

from tempocal.errors import InputError
from tempocal.links import Array
from tempocal.live.bet_queue import Bet, BetQueue, SequenceId
from tempocal.live.finished_ids import FinishedIds


@dataclass
class OpenSequence:
    """A sequence without a label, or with bets that wait for earlier ones to be settled."""

    time: float  # of its last prediction
    time_bin: int = -1  # the last one in which it has bet
    bets: list[Bet] = field(default_factory=list)  # on its label, one in each time bin
    step: Bet | None = None  # on its next forecast
    queued: int = 0  # number of bets in queues, with or without an outcome
    is_over: bool = False
    start: float = 0.0  # by the clock: at its first prediction


class OpenBets:
    """The queues of bets and the sequences that have bets in them.

    Parameters
    ----------
    label_queues : list of BetQueue
        The bets on labels, a queue for each time bin.
    movement : BetQueue or None
        The bets on the next forecast.
    movement_until : float
        Forecasts from this time on make no bet on the next one.
    max_waiting : int
        Maximum number of waiting bets.
    """

    def __init__(
        self,
        label_queues: list[BetQueue],
        movement: BetQueue | None,
        movement_until: float,
        max_waiting: int,
    ) -> None:
        self.label_queues = label_queues
        self.movement = movement
        self.movement_until = movement_until
        self.max_waiting = max_waiting
        self.sequences: dict[SequenceId, OpenSequence] = {}
        self.finished_ids = FinishedIds()
        self.finished = 0
        self.abandoned = 0
        self.begun = 0  # number of sequences so far
        self.now = 0.0  # by the clock: of the last prediction

    @property
    def queues(self) -> list[BetQueue]:
        """All queues, that of movement last."""
        return [*self.label_queues, *([self.movement] if self.movement else [])]

    @property
    def waiting(self) -> int:
        """Number of waiting bets."""
        return sum(len(queue.waiting) for queue in self.queues)

    @property
    def under_way(self) -> int:
        """Number of sequences without a label."""
        return sum(not sequence.is_over for sequence in self.sequences.values())

    def is_finished(self, name: SequenceId) -> bool:
        """Return whether a sequence has its label or was abandoned."""
        known = self.sequences.get(name)
        return name in self.finished_ids if known is None else known.is_over

    def predict(
        self,
        name: SequenceId,
        proba: Array,
        time: float,
        time_bin: int,
        clock: float | None = None,
    ) -> None:
        """Add a forecast: the outcome of the last step of its sequence, and new bets.

        Without a clock that of the sequences counts: how many have begun.
        """
        self._refuse_finished(name)
        _require_forwards(name, self.sequences.get(name), time)
        self._require_room()
        sequence = self._begun(name, clock)
        sequence.time = time
        if time_bin > sequence.time_bin:
            sequence.time_bin = time_bin
            sequence.bets.append(self._bet(self.label_queues[time_bin], name, sequence, proba))
        if sequence.step is not None:
            sequence.step.outcome, sequence.step = proba, None
        if self.movement is not None and time < self.movement_until:
            sequence.step = self._bet(self.movement, name, sequence, proba)

    def finish(self, name: SequenceId, outcome: Array) -> None:
        """Set the outcome of all pending bets of a sequence."""
        sequence = self._require_open(name)
        for bet in _pending_bets(sequence):
            bet.outcome = outcome
        self._mark_finished(name, sequence)
        self.finished += 1

    def abandon(self, name: SequenceId) -> None:
        """Settle the pending bets of a sequence at their lowest factor, when it is their turn."""
        sequence = self._require_open(name)
        for bet in _pending_bets(sequence):
            bet.is_lost = True
        self._mark_finished(name, sequence)
        self.abandoned += 1

    def leave_out(self, name: SequenceId) -> None:
        """Remove the pending bets of a sequence from their queues."""
        sequence = self._require_open(name)
        pending = list(_pending_bets(sequence))
        for queue in self.queues:
            queue.waiting = deque(bet for bet in queue.waiting if bet not in pending)
        sequence.queued -= len(pending)
        self._mark_finished(name, sequence)
        self.abandoned += 1
        if not sequence.queued:
            del self.sequences[name]

    def open_for(self, age: float) -> list[SequenceId]:
        """Return the open sequences that began so long ago, or longer."""
        return [
            name
            for name, sequence in self.sequences.items()
            if not sequence.is_over and self.now - sequence.start >= age
        ]

    def settle(self) -> None:
        """Settle the bets that are ready; drop finished sequences without bets in a queue."""
        for queue in self.queues:
            for bet in queue.settle():
                sequence = self.sequences[bet.sequence]
                sequence.queued -= 1
                if sequence.is_over and not sequence.queued:
                    del self.sequences[bet.sequence]

    def _begun(self, name: SequenceId, clock: float | None) -> OpenSequence:
        """Return a sequence, which begins now if it is new."""
        known = self.sequences.get(name)
        is_first = not self.begun
        self.begun += known is None
        now = float(self.begun) if clock is None else clock
        self.now = now if is_first else max(self.now, now)
        return known or self.sequences.setdefault(name, OpenSequence(0.0, start=now))

    def _bet(self, queue: BetQueue, name: SequenceId, sequence: OpenSequence, proba: Array) -> Bet:
        bet = Bet(name, proba)
        queue.waiting.append(bet)
        sequence.queued += 1
        return bet

    def _require_open(self, name: SequenceId) -> OpenSequence:
        self._refuse_finished(name)
        sequence = self.sequences.get(name)
        if sequence is None:
            raise InputError(f"the sequence {name!r} is not known: nothing was predicted for it")
        return sequence

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
            first = next(queue for queue in self.queues if queue.waiting).waiting[0].sequence
            raise InputError(
                f"{self.waiting} predictions wait for an outcome, and max_waiting is "
                f"{self.max_waiting}: the sequence {first!r} holds up those after it, so finish or "
                "abandon it"
            )

    def _mark_finished(self, name: SequenceId, sequence: OpenSequence) -> None:
        sequence.bets, sequence.step, sequence.is_over = [], None, True
        self.finished_ids.add(name)


def _pending_bets(sequence: OpenSequence) -> Iterator[Bet]:
    """Yield the bets of a sequence that have no outcome yet."""
    yield from sequence.bets
    if sequence.step is not None:
        yield sequence.step


def _require_forwards(name: SequenceId, known: OpenSequence | None, time: float) -> None:
    if known is not None and time < known.time:
        raise InputError(
            f"time runs backwards in the sequence {name!r}: {time:g} comes after {known.time:g}"
        )

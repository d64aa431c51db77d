"""The open bets of a monitor as the content of a file, and back.

Every number is validated on reading, so that an altered file is refused even if its checksum is
right: evidence stays finite, now and after more bets.
"""

from collections import deque
from sys import float_info
from typing import Any

import numpy as np

from tempocal.links import Array
from tempocal.live.bet_queue import Bet, BetQueue, Crossing
from tempocal.live.finished_ids import FinishedIds
from tempocal.live.open_bets import OpenBets, OpenSequence

# Out of reach: a bet changes the logarithm of evidence by some tens at most.
_LARGEST_LOG = 1e15
_LARGEST_COUNT = 2**62
# In place of the outcome of a bet that is settled at its lowest factor.
_LOST = "lost"
_SMALLEST_PROBABILITY, _SUM_TOLERANCE = 1e-17, 1e-9


def open_bets_to_dict(open_bets: OpenBets) -> dict[str, Any]:
    """Return all that changes while a monitor runs."""
    sequences = open_bets.sequences
    return {
        "finished": open_bets.finished,
        "abandoned": open_bets.abandoned,
        "begun": open_bets.begun,
        "now": open_bets.now,
        "ended": open_bets.finished_ids.to_text(),
        "lines": [_queue_to_dict(queue) for queue in open_bets.queues],
        "sequences": {
            "name": list(sequences),
            "time": [sequence.time for sequence in sequences.values()],
            "stretch": [sequence.time_bin for sequence in sequences.values()],
            "is_over": [sequence.is_over for sequence in sequences.values()],
            "start": [sequence.start for sequence in sequences.values()],
        },
    }


def schema_of(open_bets: OpenBets, clock_kind: str | None) -> int:
    """Return the lowest schema whose readers understand these open bets.

    Version 0.1 reads schema 1. It does not know bets that are to be settled at their lowest factor,
    and would go on without the clock.
    """
    has_lost = any(bet.is_lost for queue in open_bets.queues for bet in queue.waiting)
    return 2 if has_lost or clock_kind not in (None, "count") else 1


def restore_open_bets(open_bets: OpenBets, content: dict[str, Any]) -> None:
    """Fill new, empty open bets with what `open_bets_to_dict` returned."""
    open_bets.finished = _count(content["finished"])
    open_bets.abandoned = _count(content["abandoned"])
    open_bets.finished_ids = FinishedIds.from_text(content["ended"])
    columns, n_bins = content["sequences"], len(open_bets.label_queues)
    open_bets.begun, open_bets.now = _clock(content, len(columns["name"]))
    starts = columns.get("start", list(range(1, len(columns["name"]) + 1)))
    stored = (*(columns[key] for key in ("name", "time", "stretch", "is_over")), starts)
    for name, time, time_bin, is_over, start in zip(*stored, strict=True):
        _require(type(name) in (str, int) and type(is_over) is bool, "sequences")
        _require(type(time_bin) is int and -1 <= time_bin < n_bins, "stretches")
        seconds = _number(time, float_info.max)
        open_bets.sequences[name] = OpenSequence(
            seconds, time_bin, is_over=is_over, start=_number(start, float_info.max)
        )
    for queue, line in zip(open_bets.queues, content["lines"], strict=True):
        _restore_queue(queue, line)
        for bet in queue.waiting:
            _link_to_sequence(open_bets, queue, bet)


def _clock(content: dict[str, Any], known: int) -> tuple[int, float]:
    """Return how many sequences have begun, and the time; a file of 0.1 knows neither."""
    if "begun" not in content:
        return known, float(known)
    return _count(content["begun"]), _number(content["now"], float_info.max)


def _link_to_sequence(open_bets: OpenBets, queue: BetQueue, bet: Bet) -> None:
    sequence = open_bets.sequences[bet.sequence]
    sequence.queued += 1
    if bet.is_ready:
        return
    if queue is open_bets.movement:
        sequence.step = bet
    else:
        sequence.bets.append(bet)


def _queue_to_dict(queue: BetQueue) -> dict[str, Any]:
    return {
        "settled": queue.settled,
        "lost": queue.lost,
        "log_running": queue.log_running.tolist() if queue.settled else None,
        "log_value": queue.log_value,
        "log_highest": queue.log_highest,
        "crossing": list(queue.crossing) if queue.crossing else None,
        "waiting": {
            "sequence": [bet.sequence for bet in queue.waiting],
            "proba": [bet.proba.tolist() for bet in queue.waiting],
            "outcome": [_outcome_to_json(bet) for bet in queue.waiting],
        },
    }


def _outcome_to_json(bet: Bet) -> Any:
    if bet.is_lost:
        return _LOST
    return None if bet.outcome is None else bet.outcome.tolist()


def _restore_queue(queue: BetQueue, stored: dict[str, Any]) -> None:
    queue.settled = _count(stored["settled"])
    queue.lost = _count(stored.get("lost", 0))
    _require(queue.lost <= queue.settled, "bets that were lost")
    _require((stored["log_running"] is None) == (queue.settled == 0), "bets that were settled")
    if stored["log_running"] is not None:
        queue.log_running = _numbers(stored["log_running"], queue.log_running.size)
    queue.log_value = _number(stored["log_value"])
    queue.log_highest = _number(stored["log_highest"])
    _require(queue.log_highest >= max(queue.log_value, 0.0), "highest evidence")
    queue.crossing = None if stored["crossing"] is None else _crossing(*stored["crossing"])
    n_classes, waiting = queue.alternatives.n_classes, stored["waiting"]
    columns = (waiting["sequence"], waiting["proba"], waiting["outcome"])
    queue.waiting = deque(
        Bet(
            name,
            _probabilities(proba, n_classes, _SMALLEST_PROBABILITY),
            None if outcome in (None, _LOST) else _probabilities(outcome, n_classes, 0.0),
            outcome == _LOST,
        )
        for name, proba, outcome in zip(*columns, strict=True)
    )


def _crossing(settled: Any, sequence: Any) -> Crossing:
    _require(type(sequence) in (str, int), "alarm")
    return Crossing(_count(settled), sequence)


def _probabilities(values: Any, count: int, least: float) -> Array:
    """Return the probabilities of a forecast or an outcome, each at least ``least``."""
    proba = _numbers(values, count)
    in_range = bool(((proba >= least) & (proba <= 1.0)).all())
    _require(in_range and abs(proba.sum() - 1.0) <= _SUM_TOLERANCE, "probabilities")
    return proba


def _numbers(values: Any, count: int) -> Array:
    _require(isinstance(values, list) and len(values) == count, f"{count} numbers")
    return np.array([_number(value) for value in values])


def _number(value: Any, most: float = _LARGEST_LOG) -> float:
    _require(type(value) in (int, float) and abs(value) <= most, "numbers")
    return float(value)


def _count(value: Any) -> int:
    _require(type(value) is int and 0 <= value < _LARGEST_COUNT, "counts")
    return int(value)


def _require(holds: bool, what: str) -> None:
    if not holds:
        raise ValueError(f"the {what} cannot be read")

"""A monitor's book as content of a file, and back.

Every number is checked on the way back, so that a file that was altered, checksum and all, is
refused: what is loaded gives evidence that is a number, now and after more bets.
"""

from collections import deque
from sys import float_info
from typing import Any

import numpy as np

from tempocal.links import Array
from tempocal.live.bet_queue import Bet, Crossing, Line
from tempocal.live.finished_ids import Ended
from tempocal.live.open_bets import Book, Sequence

# Far beyond any: a bet changes the logarithm of evidence by some tens at most.
_LARGEST_LOG = 1e15
_LARGEST_COUNT = 2**62
_SMALLEST_SHARE, _SUM_TOLERANCE = 1e-17, 1e-9


def book_to_dict(book: Book) -> dict[str, Any]:
    """All that changes while a monitor runs."""
    sequences = book.sequences
    return {
        "finished": book.finished,
        "abandoned": book.abandoned,
        "ended": book.ended.to_text(),
        "lines": [_line_to_dict(line) for line in book.lines],
        "sequences": {
            "name": list(sequences),
            "time": [one.time for one in sequences.values()],
            "stretch": [one.stretch for one in sequences.values()],
            "is_over": [one.is_over for one in sequences.values()],
        },
    }


def fill_book(book: Book, content: dict[str, Any]) -> None:
    """Bring a new book to where another one was."""
    book.finished, book.abandoned = _count(content["finished"]), _count(content["abandoned"])
    book.ended = Ended.from_text(content["ended"])
    columns = content["sequences"]
    keys = ("name", "time", "stretch", "is_over")
    for name, time, stretch, is_over in zip(*(columns[key] for key in keys), strict=True):
        _require(type(name) in (str, int) and type(is_over) is bool, "sequences")
        _require(type(stretch) is int and -1 <= stretch < len(book.stretches), "stretches")
        book.sequences[name] = Sequence(_number(time, float_info.max), stretch, is_over=is_over)
    for line, stored in zip(book.lines, content["lines"], strict=True):
        _fill_line(line, stored)
        for bet in line.waiting:
            _link(book, line, bet)


def _link(book: Book, line: Line, bet: Bet) -> None:
    """Let a sequence know its bet again."""
    one = book.sequences[bet.sequence]
    one.queued += 1
    if bet.outcome is not None:
        return
    if line is book.movement:
        one.step = bet
    else:
        one.bets.append(bet)


def _line_to_dict(line: Line) -> dict[str, Any]:
    return {
        "settled": line.settled,
        "log_running": line.log_running.tolist() if line.settled else None,
        "log_value": line.log_value,
        "log_highest": line.log_highest,
        "crossing": list(line.crossing) if line.crossing else None,
        "waiting": {
            "sequence": [bet.sequence for bet in line.waiting],
            "proba": [bet.proba.tolist() for bet in line.waiting],
            "outcome": [
                None if bet.outcome is None else bet.outcome.tolist() for bet in line.waiting
            ],
        },
    }


def _fill_line(line: Line, stored: dict[str, Any]) -> None:
    line.settled = _count(stored["settled"])
    _require((stored["log_running"] is None) == (line.settled == 0), "bets that were settled")
    if stored["log_running"] is not None:
        line.log_running = _numbers(stored["log_running"], line.log_running.size)
    line.log_value, line.log_highest = _number(stored["log_value"]), _number(stored["log_highest"])
    _require(line.log_highest >= max(line.log_value, 0.0), "highest evidence")
    line.crossing = None if stored["crossing"] is None else _crossing(*stored["crossing"])
    n_classes, queue = line.alternatives.n_classes, stored["waiting"]
    columns = (queue["sequence"], queue["proba"], queue["outcome"])
    line.waiting = deque(
        Bet(
            name,
            _shares(proba, n_classes, _SMALLEST_SHARE),
            None if end is None else _shares(end, n_classes, 0.0),
        )
        for name, proba, end in zip(*columns, strict=True)
    )


def _crossing(settled: Any, sequence: Any) -> Crossing:
    _require(type(sequence) in (str, int), "alarm")
    return Crossing(_count(settled), sequence)


def _shares(values: Any, count: int, least: float) -> Array:
    """Return probabilities of a forecast or an outcome, none of them under the least."""
    shares = _numbers(values, count)
    in_range = bool(((shares >= least) & (shares <= 1.0)).all())
    _require(in_range and abs(shares.sum() - 1.0) <= _SUM_TOLERANCE, "probabilities")
    return shares


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

"""A monitor's book as content of a file, and back."""

from collections import deque
from typing import Any

import numpy as np

from tempocal.links import Array
from tempocal.live.book import Book, Sequence
from tempocal.live.ended import Ended
from tempocal.live.line import Bet, Crossing, Line


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
    book.finished, book.abandoned = content["finished"], content["abandoned"]
    book.ended = Ended.from_text(content["ended"])
    columns = content["sequences"]
    keys = ("name", "time", "stretch", "is_over")
    for name, time, stretch, is_over in zip(*(columns[key] for key in keys), strict=True):
        book.sequences[name] = Sequence(time, stretch, is_over=is_over)
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
    line.settled = stored["settled"]
    if stored["log_running"] is not None:
        line.log_running = _numbers(stored["log_running"], line.log_running.size)
    line.log_value, line.log_highest = stored["log_value"], stored["log_highest"]
    line.crossing = None if stored["crossing"] is None else Crossing(*stored["crossing"])
    n_classes, queue = line.alternatives.n_classes, stored["waiting"]
    columns = (queue["sequence"], queue["proba"], queue["outcome"])
    line.waiting = deque(
        Bet(name, _numbers(proba, n_classes), None if end is None else _numbers(end, n_classes))
        for name, proba, end in zip(*columns, strict=True)
    )


def _numbers(values: Any, count: int) -> Array:
    array = np.array(values, dtype=np.float64)
    if array.shape != (count,):
        raise ValueError(f"{count} numbers were expected")
    return array

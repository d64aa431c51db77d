"""The results of a monitor so far: e-values, p-value, alarms, and their text."""

import math
from dataclasses import dataclass
from typing import Any, Literal

from tempocal.live.bet_queue import BetQueue
from tempocal.live.notes import notes_on
from tempocal.notebook import FrameLibrary, HtmlTable, TextCell, as_frame, render

# Above this exp overflows a double.
_LARGEST_LOG = 709.0
_MIN_EVIDENCE_FOR_SUSPICION = 10.0
# Fewer settled bets raise an alarm only if forecasts are grossly wrong.
_FEW_SETTLED = 20
_HEADLINES = {"alarm": "ALARM", "no alarm": "no alarm", "too little": "too little to judge"}
# A change is detected after some hundred bets: so many must not be held up.
_MANY_HELD_UP = 500


@dataclass(frozen=True)
class LineStatus:
    """The evidence against the forecasts in one time bin, or in their movement.

    Attributes
    ----------
    name : str
        The time bin, such as "before 10", or "movement".
    e_value : float
        The evidence now: 1 at the start, near 0 after a long calibrated period, large if the
        forecasts are not calibrated, and infinite beyond the range of a double.
    highest : float
        The largest e-value so far.
    log_e_value, log_highest : float
        Their natural logarithms, which are always finite.
    settled : int
        Number of bets settled: sequences in a time bin, steps between forecasts in movement.
    waiting : int
        Number of bets that wait, for their own outcome or for those of earlier ones.
    suspicion : str
        The fault with the most evidence; empty while the evidence is below 10 and there was no
        alarm.
    alarm : bool
        Whether the e-value ever reached the threshold.
    since_settled : int or None
        Number of settled bets at the alarm.
    since_sequence : str, int or None
        The sequence of the last of them.
    held_up : int
        Of those that wait, the number with an outcome: they wait for earlier bets alone.
    behind : str, int or None
        The sequence that holds them up: the first one without an outcome. None if none is held up.
    """

    name: str
    e_value: float
    highest: float
    log_e_value: float
    log_highest: float
    settled: int
    waiting: int
    suspicion: str
    alarm: bool
    since_settled: int | None
    since_sequence: str | int | None
    held_up: int = 0
    behind: str | int | None = None

    @property
    def is_blind(self) -> bool:
        """Whether it does not judge most of what is known.

        That is, 20 outcomes or more are held up, and more than were settled, or than 500.
        """
        return self.held_up >= _FEW_SETTLED and self.held_up > min(self.settled, _MANY_HELD_UP)

    def to_dict(self) -> dict[str, Any]:
        """Return the attributes, ready for JSON: an infinite e-value is None."""
        content = {name: None if value == math.inf else value for name, value in vars(self).items()}
        return {**content, "is_blind": self.is_blind}

    def __str__(self) -> str:
        words = [f"{self.name}: evidence {self.e_value:.3g}, highest {self.highest:.3g}"]
        held_up = f" ({self.held_up:,} held up by {self.behind})" if self.held_up else ""
        words.append(f"{self.settled:,} settled, {self.waiting:,} waiting{held_up}")
        if self.suspicion:
            words.append(self.suspicion)
        if self.alarm:
            words.append(f"ALARM at {self.since_settled:,} (sequence {self.since_sequence})")
        return "; ".join(words)


@dataclass(frozen=True)
class Status:
    """The results of a monitor so far; print it to read them.

    Attributes
    ----------
    alpha : float
        Bound on the probability that calibrated forecasts ever raise an alarm.
    threshold : float
        The e-value that raises an alarm in a line: the number of lines divided by ``alpha``.
    stretches : tuple of LineStatus
        Calibration in each time bin.
    movement : LineStatus or None
        Movement of the forecasts within sequences; None if it is not tested.
    finished, abandoned, under_way : int
        Number of sequences with a label, abandoned, and without a label so far.
    settled_at_lowest : int
        Number of bets on labels settled at their lowest factor, since sequences were abandoned.
    """

    alpha: float
    threshold: float
    stretches: tuple[LineStatus, ...]
    movement: LineStatus | None
    finished: int
    abandoned: int
    under_way: int
    settled_at_lowest: int = 0

    @property
    def verdict(self) -> Literal["alarm", "no alarm", "too little"]:
        """The result in a word or two; "too little" has been seen to judge, if `is_blind`.

        It is "too little", too, while no line has 20 settled bets.
        """
        if self.alarm:
            return "alarm"
        return "too little" if self.is_blind or self.is_young else "no alarm"

    @property
    def is_blind(self) -> bool:
        """Whether open sequences hold up most of the outcomes of some line."""
        return any(line.is_blind for line in self.lines)

    @property
    def is_young(self) -> bool:
        """Whether no line has 20 settled bets yet."""
        return max(line.settled for line in self.lines) < _FEW_SETTLED

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences on what the results mean and what to do, if there is anything to say."""
        return tuple(notes_on(self))

    @property
    def lines(self) -> tuple[LineStatus, ...]:
        """All lines, that of movement last."""
        return (*self.stretches, *([self.movement] if self.movement else []))

    @property
    def alarm(self) -> bool:
        """Whether any line ever raised an alarm."""
        return any(line.alarm for line in self.lines)

    @property
    def p_value(self) -> float:
        """Anytime-valid p-value over all lines: at most ``alpha`` once there is an alarm.

        While the forecasts are calibrated the probability that it ever falls to x is at most x.
        """
        return min(1.0, len(self.lines) / max(line.highest for line in self.lines))

    def to_dict(self) -> dict[str, Any]:
        """Return all results, ready for strict JSON.

        An e-value beyond the range of a double is None; its logarithm is given as well. A
        ``p_value`` below that range is 0.
        """
        return {
            "alarm": self.alarm,
            "verdict": self.verdict,
            "p_value": self.p_value,
            "alpha": self.alpha,
            "threshold": self.threshold,
            "stretches": [line.to_dict() for line in self.stretches],
            "movement": self.movement and self.movement.to_dict(),
            "finished": self.finished,
            "abandoned": self.abandoned,
            "under_way": self.under_way,
            "settled_at_lowest": self.settled_at_lowest,
            "notes": list(self.notes),
        }

    def to_frame(self, library: FrameLibrary | None = None) -> Any:
        """Return a row for each line as a data frame.

        Parameters
        ----------
        library : {"pandas", "polars", "pyarrow"}, optional
            What makes it; by default the first of these that is installed.
        """
        lines = [{**vars(line), "is_blind": line.is_blind} for line in self.lines]
        for line in lines:  # ids of both kinds in one column are text
            line["since_sequence"], line["behind"] = (
                None if line[name] is None else str(line[name])
                for name in ("since_sequence", "behind")
            )
        return as_frame({name: [line[name] for line in lines] for name in lines[0]}, library)

    def _repr_html_(self) -> str:
        title, sequences, *_ = str(self).splitlines()
        names = ("line", "evidence", "highest", "settled", "waiting", "held up")
        head: list[str | TextCell] = [*names, TextCell("suspicion")]
        rows: list[list[str | TextCell]] = [
            [
                line.name,
                f"{line.e_value:.3g}",
                f"{line.highest:.3g}",
                *(f"{count:,}" for count in (line.settled, line.waiting, line.held_up)),
                TextCell(("ALARM: " if line.alarm else "") + line.suspicion),
            ]
            for line in self.lines
        ]
        alarms = frozenset(k for k, line in enumerate(self.lines) if line.alarm)
        return render(sequences, HtmlTable(title, head, rows, alarms), *self.notes)

    def __str__(self) -> str:
        verdict = _HEADLINES[self.verdict]
        abandoned = f", {self.abandoned:,} abandoned" if self.abandoned else ""
        return "\n".join(
            [
                f"{verdict}: anytime-valid p = {self.p_value:.3g}, alarm at {self.alpha:g} "
                f"(evidence of {self.threshold:.4g} in a line)",
                f"{self.finished:,} sequences finished, {self.under_way:,} under way{abandoned}",
                *map(str, self.lines),
                *(f"Note: {note}" for note in self.notes),
            ]
        )


def line_status(name: str, queue: BetQueue, classes: list[Any], *, moves: bool) -> LineStatus:
    """Return the evidence of the settled bets of a queue."""
    settled, sequence = queue.crossing or (None, None)
    has_alarm = queue.crossing is not None
    is_suspect = has_alarm or queue.log_value >= math.log(_MIN_EVIDENCE_FOR_SUSPICION)
    return LineStatus(
        name,
        _exp(queue.log_value),
        _exp(queue.log_highest),
        queue.log_value,
        queue.log_highest,
        queue.settled,
        len(queue.waiting),
        _suspicion(queue, classes, moves=moves) if is_suspect else "",
        has_alarm,
        settled,
        sequence,
        *_held_up(queue),
    )


def _held_up(queue: BetQueue) -> tuple[int, str | int | None]:
    """Return the number of bets that wait for others alone, and behind which sequence."""
    count = queue.held_up
    return count, queue.waiting[0].sequence if count else None


def _suspicion(queue: BetQueue, classes: list[Any], *, moves: bool) -> str:
    which = queue.strongest_alternative()
    slope = queue.alternatives.slope_of(which)
    if slope is not None:
        words = ("move too much", "move too little") if moves else ("are too sure", "are too timid")
        return f"forecasts {words[slope > 1.0]}"
    code, size = queue.alternatives.shift_of(which)
    words = ("drift down", "drift up") if moves else ("are too high", "are too low")
    return f"forecasts of class {classes[code]} {words[size > 0.0]}"


def _exp(log: float) -> float:
    return math.exp(log) if log < _LARGEST_LOG else math.inf

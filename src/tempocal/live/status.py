"""What a monitor has found so far, in numbers and in words."""

import math
from dataclasses import dataclass
from typing import Any

from tempocal.live.bet_queue import Line

# Above this a double is infinite.
_LARGEST_LOG = 709.0
# Evidence below this points at nothing yet.
_WORTH_A_WORD = 10.0


@dataclass(frozen=True)
class LineStatus:
    """The evidence against the forecasts in one stretch of time, or in their movement.

    Attributes
    ----------
    name : str
        Which stretch, or "movement".
    e_value : float
        The evidence now: 1 at the start, near 0 after a long good time, large if something is
        wrong, and infinite beyond what a double can hold.
    highest : float
        The largest it ever was.
    log_e_value, log_highest : float
        Their natural logarithms, which are always finite.
    settled : int
        Bets counted: sequences in a stretch, steps between forecasts in movement.
    waiting : int
        Bets that wait, for their own outcome or for those of earlier ones.
    suspicion : str
        The fault that the evidence points at most; empty while it is below 10 and no alarm.
    alarm : bool
        Whether it ever reached the threshold.
    since_settled : int or None
        How many bets it took.
    since_sequence : str, int or None
        The sequence of the last of them.
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

    def to_dict(self) -> dict[str, Any]:
        """Return all of it, ready for JSON: infinite evidence is None, with its logarithm."""
        return {name: None if value == math.inf else value for name, value in vars(self).items()}

    def __str__(self) -> str:
        words = [f"{self.name}: evidence {self.e_value:.3g}, highest {self.highest:.3g}"]
        words.append(f"{self.settled:,} settled, {self.waiting:,} waiting")
        if self.suspicion:
            words.append(self.suspicion)
        if self.alarm:
            words.append(f"ALARM at {self.since_settled:,} (sequence {self.since_sequence})")
        return "; ".join(words)


@dataclass(frozen=True)
class Status:
    """All that a monitor has found; printing it says it.

    Attributes
    ----------
    alpha : float
        Most that the chance of any alarm is, ever, while nothing is wrong.
    threshold : float
        The evidence that raises an alarm in a line: the number of lines divided by ``alpha``.
    stretches : tuple of LineStatus
        Calibration in each stretch of time.
    movement : LineStatus or None
        Movement of the forecasts within sequences; None if it is not watched.
    finished, abandoned, under_way : int
        Sequences with a label, given up, and without a label so far.
    """

    alpha: float
    threshold: float
    stretches: tuple[LineStatus, ...]
    movement: LineStatus | None
    finished: int
    abandoned: int
    under_way: int

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

        While nothing is wrong the chance that it ever falls to x is at most x.
        """
        return min(1.0, len(self.lines) / max(line.highest for line in self.lines))

    def to_dict(self) -> dict[str, Any]:
        """Return all of it, ready for strict JSON.

        Evidence beyond what a double can hold is None there; its logarithm is beside it. A
        ``p_value`` below what a double can hold is 0.
        """
        return {
            "alarm": self.alarm,
            "p_value": self.p_value,
            "alpha": self.alpha,
            "threshold": self.threshold,
            "stretches": [line.to_dict() for line in self.stretches],
            "movement": self.movement and self.movement.to_dict(),
            "finished": self.finished,
            "abandoned": self.abandoned,
            "under_way": self.under_way,
        }

    def __str__(self) -> str:
        verdict = "ALARM" if self.alarm else "no alarm"
        gone = f", {self.abandoned:,} abandoned" if self.abandoned else ""
        return "\n".join(
            [
                f"{verdict}: anytime-valid p = {self.p_value:.3g}, alarm at {self.alpha:g} "
                f"(evidence of {self.threshold:.4g} in a line)",
                f"{self.finished:,} sequences finished, {self.under_way:,} under way{gone}",
                *map(str, self.lines),
            ]
        )


def line_status(name: str, line: Line, classes: list[Any], *, moves: bool) -> LineStatus:
    """Say how a line stands."""
    settled, sequence = line.crossing or (None, None)
    tells = line.crossing is not None or line.log_value >= math.log(_WORTH_A_WORD)
    return LineStatus(
        name,
        _exp(line.log_value),
        _exp(line.log_highest),
        line.log_value,
        line.log_highest,
        line.settled,
        len(line.waiting),
        _suspicion(line, classes, moves=moves) if tells else "",
        line.crossing is not None,
        settled,
        sequence,
    )


def _suspicion(line: Line, classes: list[Any], *, moves: bool) -> str:
    which = line.leading()
    slope = line.alternatives.slope_of(which)
    if slope is not None:
        words = ("move too much", "move too little") if moves else ("are too sure", "are too timid")
        return f"forecasts {words[slope > 1.0]}"
    code, size = line.alternatives.shift_of(which)
    words = ("drift down", "drift up") if moves else ("are too high", "are too low")
    return f"forecasts of class {classes[code]} {words[size > 0.0]}"


def _exp(log: float) -> float:
    return math.exp(log) if log < _LARGEST_LOG else math.inf

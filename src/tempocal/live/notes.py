"""What the results of a monitor mean, and what to do, in sentences."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tempocal.live.status import LineStatus, Status

# With a larger share of bets at their lowest factor an alarm takes many more bets.
MAX_LOWEST_SHARE = 0.1
# With fewer outcomes most errors are not found yet.
FEW_OUTCOMES = 200

_MOVEMENTS = {
    "move too much": "part of each move is taken back by later ones, as by a model that "
    "overreacts to the latest row, or is too sure early",
    "move too little": "moves go on in the same direction, as by a model that takes up news too "
    "slowly",
}
_DRIFT = "they tend to go one way, so that a later forecast can be told from the present one"


def notes_on(status: "Status") -> Iterator[str]:
    """Yield a sentence on each thing that the table does not say by itself."""
    yield from _notes_on_waiting(status)
    yield from _notes_on_lowest(status)
    if status.movement is not None and status.movement.alarm:
        yield _note_on_movement(status, status.movement)


def _notes_on_waiting(status: "Status") -> Iterator[str]:
    blind = [line for line in status.lines if line.is_blind]
    if blind:
        worst = max(blind, key=lambda line: line.held_up)
        more = f" (and most is held up in {len(blind) - 1} other lines)" if len(blind) > 1 else ""
        yield (
            f"{worst.name}: {worst.held_up:,} bets have their outcome and are not judged, for they "
            f"wait behind sequence {worst.behind}, which is still open{more}: finish it, or "
            "abandon what has been open for too long"
        )
    elif status.verdict == "too little":
        yield "no line has 20 settled bets yet: no alarm says nothing so far"


def _notes_on_lowest(status: "Status") -> Iterator[str]:
    settled = sum(line.settled for line in status.stretches)
    if status.settled_at_lowest > MAX_LOWEST_SHARE * settled:
        share = status.settled_at_lowest / settled
        yield (
            f"{share:.0%} of the bets on labels were settled at their lowest factor, since their "
            "sequences were abandoned: an alarm takes longer so. Better forecast what comes true "
            'within the age at which they are abandoned, with "open" as a class of its own'
        )


def _note_on_movement(status: "Status", line: "LineStatus") -> str:
    meaning = next((text for what, text in _MOVEMENTS.items() if what in line.suspicion), _DRIFT)
    meaning = f"the next forecast can be told from the present one: {meaning}"
    return f"movement: {meaning}. {_where_calibration_is_off(status)}"


def _where_calibration_is_off(status: "Status") -> str:
    """Say in which time bins there is an alarm, and what to do."""
    off = [one.name for one in status.stretches if one.alarm]
    if off:
        elsewhere = "" if len(off) == len(status.stretches) else " and nowhere else"
        return (
            f"Calibration raised an alarm {', '.join(off)}{elsewhere}: calibrate along time first, "
            "which often mends movement, too"
        )
    settled = max(line.settled for line in status.stretches)
    if settled < FEW_OUTCOMES:
        return (
            f"Calibration raised no alarm in any time bin so far, but these have {settled:,} "
            "outcomes at most, and movement is often the first to show an error: look again later"
        )
    return (
        "Calibration raised no alarm in any time bin: if all you need is that probabilities are "
        "right at their time, watch without movement. If decisions follow the changes of a "
        "forecast, give the model its own earlier forecasts as inputs, or smooth them"
    )

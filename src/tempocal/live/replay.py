"""What the records of a log say has happened."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from tempocal.errors import LogError
from tempocal.live.bet_queue import SequenceId
from tempocal.live.record_log import Record

# The first word of a record.
OBSERVE, FINISH, ABANDON, FAIL, SAVE = "observe", "finish", "abandon", "fail", "save"


@dataclass
class Sequence:
    """The predictions of a sequence, in order."""

    logits: list[Any] = field(default_factory=list)
    times: list[Any] = field(default_factory=list)  # numbers, or seconds

    def add(self, logit: Any, time: Any) -> None:
        """Take one more."""
        self.logits.append(logit)
        self.times.append(time)


@dataclass
class Story:
    """All sequences.

    Attributes
    ----------
    saves : int
        How many times a model is still to be saved until it is the one that is there.
    under_way : dict
        Sequences that have not ended.
    known : set
        Those that ended before the model was saved, which has learned from them. Their rows are
        forgotten.
    ended : dict
        Those that ended after it, in the order in which they did, and the code of their label.
    failed : set
        Those that the model could not learn from.
    """

    saves: int = 0
    under_way: dict[SequenceId, Sequence] = field(default_factory=dict)
    known: set[SequenceId] = field(default_factory=set)
    ended: dict[SequenceId, tuple[Sequence, int]] = field(default_factory=dict)
    failed: set[SequenceId] = field(default_factory=set)

    @classmethod
    def of(cls, records: Iterable[Record], path: Path, *, saves: int = 0) -> Self:
        """Follow the records from the first to the last, the model being that of so many saves."""
        story = cls(saves)
        try:
            for record in records:
                story._follow(*record)
        except LogError:
            raise
        except (LookupError, TypeError, ValueError) as error:
            raise LogError(f"{path} is not the log of a tracker ({error!r:.80})") from error
        return story

    def _follow(self, kind: str, name: SequenceId, *values: Any) -> None:
        match kind:
            case "observe" | "finish" | "abandon" if name in self.known or name in self.ended:
                pass  # it counts once
            case "observe":
                self.under_way.setdefault(name, Sequence()).add(*map(_numbers, values))
            case "finish":
                self._end(name, _code(values[0]))
            case "abandon":
                self.under_way.pop(name, None)
            case "fail":
                self.failed.add(name)
            case "save":
                self.saves -= 1
            case _:
                raise ValueError(kind)

    def _end(self, name: SequenceId, code: int) -> None:
        sequence = self.under_way.pop(name)
        if self.saves > 0:
            self.known.add(name)
        else:
            self.ended[name] = sequence, code


def _numbers(value: Any) -> Any:
    """Return a number, a list of numbers, or nothing, and no other value."""
    values = value if type(value) is list else [value]
    if value is not None and not all(type(one) in (int, float) for one in values):
        raise TypeError(f"{value!r:.40} is no number")
    return value


def _code(value: Any) -> int:
    if type(value) is not int or value < 0:
        raise ValueError(f"{value!r:.40} is no class")
    return value

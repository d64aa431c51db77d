"""Replay of the log of a tracker: the state of all sequences from its records."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from tempocal.errors import LogError
from tempocal.live.bet_queue import SequenceId
from tempocal.live.record_log import Record

# Kinds of records: the first element of each.
OBSERVE, FINISH, ABANDON, FAIL, SAVE = "observe", "finish", "abandon", "fail", "save"


@dataclass
class LoggedSequence:
    """The predictions of a sequence, in order."""

    logits: list[Any] = field(default_factory=list)
    times: list[Any] = field(default_factory=list)  # numbers, or seconds

    def add(self, logit: Any, time: Any) -> None:
        """Append a prediction."""
        self.logits.append(logit)
        self.times.append(time)


@dataclass
class LogReplay:
    """All sequences of a log.

    Attributes
    ----------
    saves : int
        Saves in the rest of the log up to the one that wrote the model file.
    under_way : dict
        Sequences that are not finished.
    in_model : set
        Those that finished before that save: the model has learned from them, and their rows are
        dropped.
    not_in_model : dict
        Those that finished after it, in order, and the code of their label.
    failed : set
        Those that the model could not learn from.
    """

    saves: int = 0
    under_way: dict[SequenceId, LoggedSequence] = field(default_factory=dict)
    in_model: set[SequenceId] = field(default_factory=set)
    not_in_model: dict[SequenceId, tuple[LoggedSequence, int]] = field(default_factory=dict)
    failed: set[SequenceId] = field(default_factory=set)

    @classmethod
    def of(cls, records: Iterable[Record], path: Path, *, saves: int = 0) -> Self:
        """Replay records; the model file is the one that the save of this number wrote."""
        replay = cls(saves)
        try:
            for record in records:
                replay._apply(*record)
        except LogError:
            raise
        except (LookupError, TypeError, ValueError) as error:
            raise LogError(f"{path} is not the log of a tracker ({error!r:.80})") from error
        return replay

    def _apply(self, kind: str, name: SequenceId, *values: Any) -> None:
        match kind:
            case "observe" | "finish" | "abandon" if self._is_finished(name):
                pass  # it counts once
            case "observe":
                self.under_way.setdefault(name, LoggedSequence()).add(*map(_check_numbers, values))
            case "finish":
                self._finish(name, _check_code(values[0]))
            case "abandon":
                self.under_way.pop(name, None)
            case "fail":
                self.failed.add(name)
            case "save":
                self.saves -= 1
            case _:
                raise ValueError(kind)

    def _is_finished(self, name: SequenceId) -> bool:
        return name in self.in_model or name in self.not_in_model

    def _finish(self, name: SequenceId, code: int) -> None:
        sequence = self.under_way.pop(name)
        if self.saves > 0:
            self.in_model.add(name)
        else:
            self.not_in_model[name] = sequence, code


def _check_numbers(value: Any) -> Any:
    """Return the value if it is None, a number or a list of numbers."""
    values = value if type(value) is list else [value]
    if value is not None and not all(type(one) in (int, float) for one in values):
        raise TypeError(f"{value!r:.40} is no number")
    return value


def _check_code(value: Any) -> int:
    if type(value) is not int or value < 0:
        raise ValueError(f"{value!r:.40} is no class")
    return value

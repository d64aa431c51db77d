"""What the records of a log say has happened."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from tempocal.errors import LogError
from tempocal.live.line import SequenceId
from tempocal.live.log import Record

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
    under_way : dict
        Sequences that have not ended.
    ended : dict
        Those that have, in the order in which they did, and the code of their label.
    failed : set
        Those of them that the model could not learn from.
    saved : dict
        How many sequences each model file knew that was saved, by its checksum.
    """

    under_way: dict[SequenceId, Sequence] = field(default_factory=dict)
    ended: dict[SequenceId, tuple[Sequence, int]] = field(default_factory=dict)
    failed: set[SequenceId] = field(default_factory=set)
    saved: dict[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, records: list[Record], path: Path) -> Self:
        """Follow the records from the first to the last."""
        story = cls()
        try:
            for record in records:
                story._follow(*record)
        except (LookupError, TypeError, ValueError) as error:
            raise LogError(f"{path} is not the log of a tracker ({error!r:.80})") from error
        return story

    def _follow(self, kind: str, name: SequenceId, *values: Any) -> None:
        match kind:
            case "observe":
                self.under_way.setdefault(name, Sequence()).add(*values)
            case "finish":
                self.ended[name] = self.under_way.pop(name), int(values[0])
            case "abandon":
                del self.under_way[name]
            case "fail":
                self.failed.add(name)
            case "save":
                self.saved[str(name)] = len(self.ended) - len(self.failed)
            case _:
                raise ValueError(kind)

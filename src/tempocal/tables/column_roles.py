"""Which columns of a table are what, by name."""

from dataclasses import dataclass
from typing import Any, Self

from tempocal.errors import InputError
from tempocal.inputs import Inputs
from tempocal.tables.column_names import Names, as_names


@dataclass(frozen=True)
class ColumnRoles:
    """The columns that were named."""

    predictions: tuple[str, ...]
    label: str
    time: str | None
    groups: str | None
    weight: str | None
    inputs: Inputs
    sequence: str | None = None  # where groups are coarser

    @classmethod
    def of(
        cls,
        inputs: Inputs,
        *,
        logits: Names | None,
        proba: Names | None,
        label: Any,
        time: Any,
        groups: Any,
        sample_weight: Any,
        sequence: Any = None,
    ) -> Self:
        """Check the names."""
        given, other = (logits, proba) if inputs == "logits" else (proba, logits)
        if given is None or other is not None:
            raise InputError(
                f'inputs is "{inputs}": name the columns of the predictions, and only them, with '
                f"{inputs}="
            )
        return cls(
            as_names(given, inputs),
            _name(label, "label"),
            None if time is None else _name(time, "time"),
            None if groups is None else _name(groups, "groups"),
            None if sample_weight is None else _name(sample_weight, "sample_weight"),
            inputs,
            None if sequence is None else _name(sequence, "sequence"),
        )

    def fit_arguments(self, *, along_time: bool) -> dict[str, Any]:
        """Return the names as the arguments of a fit to a table."""
        common: dict[str, Any] = {
            self.inputs: list(self.predictions),
            "label": self.label,
            "groups": self.groups,
            "sample_weight": self.weight,
        }
        return {**common, "time": self.time} if along_time else common

    def pairs(self) -> list[tuple[str, str]]:
        """Every column and what it is."""
        pairs = [(self.inputs, name) for name in self.predictions] + [("label", self.label)]
        rest = (
            ("time", self.time),
            ("groups", self.groups),
            ("sequence", self.sequence),
            ("sample_weight", self.weight),
        )
        return pairs + [(role, name) for role, name in rest if name is not None]


def _name(given: Any, what: str) -> str:
    names = as_names(given, what)
    if len(names) > 1:
        raise InputError(f"{what} must name one column, but it names {len(names)}: {list(names)}")
    return names[0]

"""The role of each named column: predictions, label, time, groups, sequence, order, weight."""

from dataclasses import dataclass
from typing import Any, Self

from tempocal.errors import InputError
from tempocal.inputs import Inputs, check_flag
from tempocal.tables.column_names import Names, as_names


@dataclass(frozen=True)
class ColumnRoles:
    """Name of the column, or columns, in each role."""

    predictions: tuple[str, ...]
    label: str
    time: str | None
    groups: str | None
    weight: str | None
    inputs: Inputs
    sequence: str | None = None  # where groups are coarser than sequences
    order: str | None = None  # what puts the rows of a sequence in order, if not the time
    after: tuple[str, ...] = ()  # predictions of the same rows by another model
    soft_label: tuple[str, ...] = ()  # where labels are probabilities: one column, or all classes

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
        order: Any = None,
        soft_label: bool = False,
    ) -> Self:
        """Check the names and assign the roles."""
        given, other = (logits, proba) if inputs == "logits" else (proba, logits)
        if given is None or other is not None:
            raise InputError(
                f'inputs is "{inputs}": name the columns of the predictions, and only them, with '
                f"{inputs}="
            )
        soft = as_names(label, "label") if check_flag(soft_label, "soft_label") else ()
        return cls(
            as_names(given, inputs),
            soft[0] if soft else _single_name(label, "label"),
            None if time is None else _single_name(time, "time"),
            None if groups is None else _single_name(groups, "groups"),
            None if sample_weight is None else _single_name(sample_weight, "sample_weight"),
            inputs,
            None if sequence is None else _single_name(sequence, "sequence"),
            None if order is None else _single_name(order, "order"),
            soft_label=soft,
        )

    def fit_arguments(self, *, along_time: bool) -> dict[str, Any]:
        """Return the names as keyword arguments of ``fit_table``."""
        common: dict[str, Any] = {
            self.inputs: list(self.predictions),
            "label": list(self.soft_label) or self.label,
            "groups": self.groups,
            "sample_weight": self.weight,
        }
        if self.soft_label:
            common["soft_label"] = True
        return {**common, "time": self.time} if along_time else common

    def pairs(self) -> list[tuple[str, str]]:
        """Return all pairs (role, column name)."""
        pairs: list[tuple[str, str]] = [(self.inputs, name) for name in self.predictions]
        pairs += [("after", name) for name in self.after]
        pairs += [("soft label", name) for name in self.soft_label] or [("label", self.label)]
        optional = (
            ("time", self.time),
            ("sequence", self.sequence),
            # Groups that were not named are the sequences: what is wrong with these is theirs.
            ("groups", None if self.groups == self.sequence else self.groups),
            ("order", self.order),
            ("sample_weight", self.weight),
        )
        return pairs + [(role, name) for role, name in optional if name is not None]


def _single_name(given: Any, role: str) -> str:
    names = as_names(given, role)
    if len(names) > 1:
        raise InputError(f"{role} must name one column, but it names {len(names)}: {list(names)}")
    return names[0]

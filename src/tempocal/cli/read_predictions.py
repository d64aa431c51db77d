"""The rows that a command names, read and checked, or a sentence with the flag to try."""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tempocal.cli.column_checks import (
    check_classes,
    check_label,
    check_nesting,
    check_scale,
    note_on_dates,
    note_on_few,
)
from tempocal.cli.echo import say
from tempocal.cli.flag_wording import in_words_of_the_command
from tempocal.cli.options import Named
from tempocal.cli.progress import waiting
from tempocal.errors import InputError
from tempocal.files import (
    ColumnError,
    Ids,
    InputFile,
    as_ids,
    as_labels,
    as_numbers,
    as_times,
    column_names,
    read_columns,
)
from tempocal.inputs import Inputs
from tempocal.links import Array

if TYPE_CHECKING:
    from tempocal.assessment import Assessment


@dataclass(frozen=True)
class Predictions:
    """Labelled predictions of a file."""

    name: str  # of the file
    scores: Array  # (n,) or (n, K)
    inputs: Inputs
    labels: NDArray[Any]
    classes: list[Any] | None  # as given
    time: NDArray[Any] | None
    sequence: Ids | None
    group: Ids | None
    weight: Array | None

    @property
    def groups(self) -> NDArray[np.int64] | None:
        """The cluster of each row: its group, else its sequence."""
        cluster = self.group or self.sequence
        return None if cluster is None else cluster.codes

    @property
    def has_time(self) -> bool:
        """Whether rows have a time."""
        return self.time is not None

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return len(self.labels)

    @property
    def has_units(self) -> bool:
        """Whether it is known which rows belong together."""
        return self.groups is not None

    @property
    def n_classes(self) -> int:
        """How many classes the columns stand for."""
        return 2 if self.scores.ndim == 1 else max(self.scores.shape[1], 2)

    def fit(self, calibrator: Any) -> Any:
        """Fit a calibrator, one along time if there are times."""
        given = {"groups": self.groups, "sample_weight": self.weight}
        if self.time is not None:
            given["time"] = self.time
        # A comparison shows by itself how far it is.
        shown = nullcontext() if hasattr(calibrator, "candidates") else waiting("Fitting")
        with shown, in_words_of_the_command():
            return calibrator.fit(self.scores, self.labels, **given)

    def assess(self, seed: int) -> "Assessment":
        """Fit to one half and judge on the other."""
        from tempocal.assessment import assess

        with waiting("Fitting to one half, judging on the other"), in_words_of_the_command():
            return assess(
                self.scores,
                self.labels,
                time=self.time,
                sequence=None if self.sequence is None else self.sequence.ids(),
                groups=None if self.group is None else self.group.codes,
                sample_weight=self.weight,
                inputs=self.inputs,
                classes=self.classes,
                seed=seed,
                progress=False,
            )


def predictions_of(named: Named, source: InputFile) -> Predictions:
    """Read the columns that were named and check that they can be what they are called."""
    names = column_names(source)
    scores = split_names(named.logits or named.proba, names)
    flags = flags_of(named, scores)
    with naming_flags(flags):
        table = read_columns(source, list(flags))
        predictions = _converted(named, source.name, scores, table)
    _check(predictions, named, scores)
    return predictions


def inputs_of(named: Named) -> Inputs:
    """Return what the predictions are."""
    return "logits" if named.logits else "proba"


def split_names(given: tuple[str, ...], names: list[str]) -> list[str]:
    """Return names of columns, where several may stand in one word, with commas between them."""
    found = [[one] if one in names else one.split(",") for one in given]
    return [name.strip() for part in found for name in part]


def flags_of(named: Named, scores: list[str]) -> dict[str, str]:
    """Return the flag by which each column was named."""
    flags = dict.fromkeys(scores, "--logits" if named.logits else "--proba")
    for role in ("label", "time", "sequence", "group", "weight"):
        column = getattr(named, role)
        if column is None:
            continue
        if column in flags and {role, flags[column][2:]} != {"sequence", "group"}:
            raise InputError(
                f"--{role} and {flags[column]} both name the column {column!r}: they must differ"
            )
        flags[column] = f"--{role}"
    return flags


@contextmanager
def naming_flags(flags: dict[str, str]) -> Iterator[None]:
    """Put the flag before what is wrong with its column."""
    try:
        yield
    except ColumnError as error:
        flag = flags.get(error.column)
        raise InputError(f"{flag}: {error}" if flag else str(error)) from error


def stacked(columns: list[NDArray[np.float64]]) -> Array:
    """Return one column as it is, several side by side."""
    return columns[0] if len(columns) == 1 else np.stack(columns, axis=1)


def _converted(named: Named, file: str, scores: list[str], table: dict[str, Any]) -> Predictions:
    def taken(name: str | None, convert: Any) -> Any:
        return None if name is None else convert(table[name], name)

    labels = taken(named.label, as_labels)
    return Predictions(
        name=file,
        scores=stacked([as_numbers(table[name], name) for name in scores]),
        inputs=inputs_of(named),
        labels=labels,
        classes=check_classes(named.classes, labels, len(scores)),
        time=taken(named.time, as_times),
        sequence=taken(named.sequence, as_ids),
        group=taken(named.group, as_ids),
        weight=taken(named.weight, as_numbers),
    )


def _check(rows: Predictions, named: Named, scores: list[str]) -> None:
    assert named.label is not None
    if not named.really_logits:
        check_scale(rows.scores, rows.inputs, ",".join(scores))
    check_label(rows.labels, rows.classes, named.label, rows.n_classes, len(scores))
    if rows.sequence is None:
        return
    if rows.time is not None:
        say_note(note_on_dates(rows.time, rows.sequence, str(named.time)))
    cluster = rows.group or rows.sequence
    say_note(note_on_few(len(cluster.values)))
    if not named.label_varies:
        check_nesting(rows.sequence, rows.labels, f"the label {named.label!r}", "--label-varies")
    if rows.group is not None:
        check_nesting(rows.sequence, rows.group.codes, f"the group {named.group!r}", None)


def say_note(note: str | None) -> None:
    """Say what is worth a word."""
    if note is not None:
        say(note, err=True)

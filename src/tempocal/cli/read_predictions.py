"""Reading and validating the labeled predictions of a file."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tempocal.cli.column_checks import (
    calendar_note,
    check_classes,
    check_label,
    check_nesting,
    check_scale,
    check_soft_classes,
    few_clusters_note,
    require_order,
)
from tempocal.cli.flag_wording import translate_errors
from tempocal.cli.options import ColumnOptions
from tempocal.cli.terminal import echo_note, show_progress
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
    open_input,
    read_columns,
)
from tempocal.inputs import Inputs, can_be_ordered
from tempocal.links import Array

if TYPE_CHECKING:
    from tempocal.assessment import Assessment
    from tempocal.cli.large import LargePredictions
    from tempocal.metrics.predictions import CheckedPredictions
    from tempocal.metrics.scored_arrays import ScoredArrays
    from tempocal.metrics.time_bins import TimeBins
    from tempocal.predictor import Predictor


NO_ORDER_NOTE = (
    "Note: fits learn from outcomes only, because --time does not put the rows of a sequence in "
    "order: two have the same, or all lie in the reverse of it. --order names a column that does."
)
_OTHER_ROLES = ("time", "sequence", "order", "group", "weight")


@dataclass(frozen=True)
class LabeledPredictions:
    """Labeled predictions of a file, in memory or not."""

    name: str  # of the file
    inputs: Inputs
    labels: NDArray[Any]  # of the rows, or each once
    classes: list[Any] | None  # as given
    n_rows: int
    n_columns: int
    n_sequences: int | None
    n_groups: int | None
    has_time: bool

    @property
    def has_clusters(self) -> bool:
        """Whether there are sequences or groups."""
        return self.n_sequences is not None or self.n_groups is not None

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return max(self.n_columns, 2)

    @property
    def label_classes(self) -> Any:
        """The classes, as given or found."""
        return np.unique(self.labels) if self.classes is None else self.classes


@dataclass(frozen=True)
class FilePredictions(LabeledPredictions):
    """Labeled predictions of a file, in memory.

    Soft labels are probabilities of shape (n,) or (n, classes).
    """

    soft_label: bool
    predictions: Array  # (n,) or (n, K)
    time: NDArray[Any] | None
    sequence: Ids | None
    order: NDArray[Any] | None
    group: Ids | None
    weight: Array | None

    @property
    def label_classes(self) -> Any:
        """The classes, as given or found; of soft labels by default 0, 1, ..."""
        if self.soft_label and self.classes is None:
            return np.arange(self.n_classes)
        return super().label_classes

    @property
    def groups(self) -> NDArray[np.int64] | None:
        """The cluster of each row: its group, else its sequence."""
        cluster = self.group or self.sequence
        return None if cluster is None else cluster.codes

    @contextmanager
    def working(self, doing: str) -> Iterator[None]:
        """Show progress, and name flags in errors."""
        with show_progress(doing), translate_errors():
            yield

    def scored(self, model: "Predictor | None", classes: Any) -> "ScoredArrays":
        """Return the rows with the probabilities of a model, by default their own."""
        from tempocal.metrics.predictions import check_groups_of
        from tempocal.metrics.scored_arrays import ScoredArrays

        rows = self._checked(model, classes)
        return ScoredArrays.of(rows, check_groups_of(rows, self.groups))

    def paired(self, model: "Predictor", classes: Any) -> "ScoredArrays":
        """Return the rows with their own probabilities and, as ``after``, those of a model."""
        return self.scored(None, classes).with_proba("after", self._checked(model, classes))

    def _checked(self, model: "Predictor | None", classes: Any) -> "CheckedPredictions":
        from tempocal.metrics.predictions import check_predictions

        given, inputs = self.predictions, self.inputs
        if model is not None:
            given = model.predict_proba(given, self.time if model.time_kinds else None)
            inputs = "proba"
        return check_predictions(
            self.labels,
            given,
            self.weight,
            classes,
            soft_label=self.soft_label,
            inputs=inputs,
            name=inputs,
        ).split()

    def cut(self, scored: "ScoredArrays", bins: int) -> "TimeBins":
        """Cut the time of these rows into bins."""
        from tempocal.metrics.predictions import check_time_of
        from tempocal.metrics.time_bins import count_given, cut_times

        rows = scored.rows
        times = check_time_of(rows, self.time)
        return count_given(cut_times(times, rows.weight, bins), rows.row)

    def fit(self, calibrator: Any, *, learns: bool | None = False) -> Any:
        """Fit a calibrator, with times if there are any.

        ``learns`` says that it needs to know which rows follow each other; None: if that is known.
        """
        given: dict[str, Any] = {"groups": self.groups, "sample_weight": self.weight}
        if self.soft_label:
            given["soft_label"] = True
        if self.time is not None:
            given["time"] = self.time
        # The time explicitly: the order of rows in a file counts for nothing.
        order = self._order(learns=learns)
        if order is not None:
            assert self.sequence is not None
            given |= {"sequence": self.sequence.ids(), "order": order}
        # A comparison shows its own progress.
        progress = nullcontext() if hasattr(calibrator, "candidates") else show_progress("Fitting")
        with progress, self._naming_the_order():
            return calibrator.fit(self.predictions, self.labels, **given)

    def assess(self, seed: int, td_horizon: Any, *, learns: bool | None) -> "Assessment":
        """Fit to one half and evaluate on the other."""
        from tempocal.assessment import assess

        doing, order = "Fitting to one half, judging on the other", self._order(learns=learns)
        with show_progress(doing), self._naming_the_order():
            return assess(
                self.predictions,
                self.labels,
                time=self.time,
                sequence=None if self.sequence is None else self.sequence.ids(),
                order=order,
                groups=None if self.group is None else self.group.codes,
                sample_weight=self.weight,
                inputs=self.inputs,
                classes=self.classes,
                seed=seed,
                progress=False,
                soft_label=self.soft_label,
                td_horizon=td_horizon,
            )

    def _naming_the_order(self) -> AbstractContextManager[None]:
        return translate_errors(order="--time" if self.order is None else "--order")

    def _order(self, *, learns: bool | None) -> NDArray[Any] | None:
        """Return what puts the rows of a sequence in order: by default the time, if it can."""
        if self.order is not None or learns is False:
            return self.order
        if learns or self.sequence is None or self.time is None:
            return self.time
        is_order = can_be_ordered(self.sequence.codes, self.n_rows, order=self.time)
        echo_note(None if is_order else NO_ORDER_NOTE)
        return self.time if is_order else None


@contextmanager
def open_predictions(
    options: ColumnOptions, doing: str
) -> "Iterator[FilePredictions | LargePredictions]":
    """Open the predictions of a file, in memory unless it is large.

    ``doing`` describes what is done with a large file, for its progress.
    """
    with open_input(options.file, options.format) as source:
        from tempocal.cli.large import is_large, large_rows

        if is_large(source):
            with large_rows(options, source, doing) as large:
                yield large
            return
        with show_progress(f"Reading {options.file}"):
            rows = read_predictions(options, source)
    yield rows


def read_predictions(options: ColumnOptions, source: InputFile) -> FilePredictions:
    """Read and validate the columns of the options."""
    names = column_names(source)
    columns = split_names(options.logits or options.proba, names)
    labels = split_names((str(options.label),), names) if options.soft_label else None
    flags = flags_of(options, columns, labels)
    with prefix_column_errors(flags):
        table = read_columns(source, list(flags))
        predictions = _convert(options, source.name, columns, table, labels)
    _check(predictions, options, columns)
    return predictions


def inputs_of(options: ColumnOptions) -> Inputs:
    """Return whether the predictions are logits or probabilities."""
    return "logits" if options.logits else "proba"


def split_names(given: tuple[str, ...], names: list[str]) -> list[str]:
    """Return names of columns, splitting those that are not a column at commas."""
    found = [[one] if one in names else one.split(",") for one in given]
    return [name.strip() for part in found for name in part]


def flags_of(
    options: ColumnOptions, columns: list[str], labels: list[str] | None = None
) -> dict[str, str]:
    """Return the flag by which each column was named; ``labels`` are those of soft labels."""
    flags = dict.fromkeys(columns, "--logits" if options.logits else "--proba")
    label_columns: list[str | None] = [*labels] if labels else [options.label]
    named = [("label", one) for one in label_columns]
    named += [(role, getattr(options, role)) for role in _OTHER_ROLES]
    for role, column in named:
        if column is None or (role == "order" and column == options.time):
            continue
        if column in flags and {role, flags[column][2:]} != {"sequence", "group"}:
            raise InputError(
                f"--{role} and {flags[column]} both name the column {column!r}: they must differ"
            )
        flags[column] = f"--{role}"
    return flags


@contextmanager
def prefix_column_errors(flags: dict[str, str]) -> Iterator[None]:
    """Put the flag before the message of a `ColumnError`."""
    try:
        yield
    except ColumnError as error:
        flag = flags.get(error.column)
        raise InputError(f"{flag}: {error}" if flag else str(error)) from error


def stack_columns(columns: list[NDArray[np.float64]]) -> Array:
    """Return one column as a vector, several as a matrix."""
    return columns[0] if len(columns) == 1 else np.stack(columns, axis=1)


def _convert(
    options: ColumnOptions,
    file: str,
    columns: list[str],
    table: dict[str, Any],
    soft: list[str] | None,
) -> FilePredictions:
    def converted(name: str | None, convert: Any) -> Any:
        return None if name is None else convert(table[name], name)

    predictions = stack_columns([as_numbers(table[name], name) for name in columns])
    if soft is None:
        labels = converted(options.label, as_labels)
        classes = check_classes(options.classes, labels, len(columns))
    else:
        labels = stack_columns([as_numbers(table[name], name) for name in soft])
        classes = check_soft_classes(options.classes, len(columns))
    time = converted(options.time, as_times)
    sequence, group = converted(options.sequence, as_ids), converted(options.group, as_ids)
    return FilePredictions(
        name=file,
        inputs=inputs_of(options),
        labels=labels,
        classes=classes,
        n_rows=len(labels),
        n_columns=len(columns),
        n_sequences=None if sequence is None else len(sequence.values),
        n_groups=None if group is None else len(group.values),
        has_time=time is not None,
        soft_label=options.soft_label,
        predictions=predictions,
        time=time,
        sequence=sequence,
        order=converted(options.order, as_times),
        group=group,
        weight=converted(options.weight, as_numbers),
    )


def _check(rows: FilePredictions, options: ColumnOptions, columns: list[str]) -> None:
    assert options.label is not None
    require_order(columns, np.asarray(rows.label_classes), rows.inputs)
    if not options.really_logits:
        check_scale(rows.predictions, rows.inputs, ",".join(columns))
    if not rows.soft_label:
        check_label(rows.labels, rows.classes, options.label, rows.n_classes, len(columns))
    if rows.sequence is None:
        return
    if rows.time is not None:
        echo_note(calendar_note(rows.time, rows.sequence, str(options.time)))
    cluster = rows.group or rows.sequence
    echo_note(few_clusters_note(len(cluster.values)))
    if not options.label_varies:
        check_nesting(rows.sequence, rows.labels, f"the label {options.label!r}", "--label-varies")
    if rows.group is not None:
        check_nesting(rows.sequence, rows.group.codes, f"the group {options.group!r}", None)

"""Predictions of files that may be larger than memory, aggregated with DuckDB.

The same checks as in `tempocal.cli.read_predictions`, by passes over the rows.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from pyarrow import parquet

from tempocal.cli.column_checks import (
    check_classes,
    check_label,
    check_soft_classes,
    few_clusters_note,
    require_order,
    scale_message,
)
from tempocal.cli.flag_wording import translate_errors
from tempocal.cli.large_checks import check_sequences
from tempocal.cli.large_files import LargeRows, open_rows
from tempocal.cli.options import ColumnOptions
from tempocal.cli.read_predictions import NO_ORDER_NOTE, LabeledPredictions, inputs_of
from tempocal.cli.terminal import echo_note, show_progress
from tempocal.errors import InputError, TableError
from tempocal.files import InputFile
from tempocal.files.column_problems import reading
from tempocal.inputs import Times, require_same_kind
from tempocal.lazy import cached
from tempocal.metrics.scored_frame import ScoredFrame, add_predicted
from tempocal.metrics.table_time_bins import cut_table
from tempocal.metrics.time_bins import TimeBins
from tempocal.predictor import Predictor
from tempocal.tables.column_roles import ColumnRoles
from tempocal.tables.computed_columns import add_probabilities
from tempocal.tables.group_ids import GroupIds, find_groups
from tempocal.tables.labeled_table import LabeledTable, read_labeled_table
from tempocal.tables.open_table import Frame
from tempocal.tables.passes import TableWithProgress

if TYPE_CHECKING:
    from tempocal.assessment import Assessment

# Larger files are not loaded into memory: rows of Parquet, and bytes of other formats.
LARGE_ROWS = 3_000_000
LARGE_BYTES = 2**28


@dataclass(frozen=True)
class LargePredictions(LabeledPredictions):
    """Labeled predictions of a large file, validated."""

    options: ColumnOptions
    table: TableWithProgress
    roles: ColumnRoles
    labeled: LabeledTable
    is_ordered: bool  # whether time or order may put the rows of a sequence in order

    def working(self, doing: str) -> AbstractContextManager[None]:
        """Progress is shown for each pass already."""
        return nullcontext()

    def scored(self, model: Predictor | None, classes: Any) -> ScoredFrame:
        """Return the rows with the probabilities of a model, by default their own."""
        labeled = self.labeled
        if model is None:
            return ScoredFrame.of(labeled, add_predicted(labeled), self._groups)
        return ScoredFrame.of(labeled, self._calibrated(labeled.frame, model, "p"), self._groups)

    def paired(self, model: Predictor, classes: Any) -> ScoredFrame:
        """Return the rows with their own probabilities and, as ``after``, those of a model."""
        frame = self._calibrated(add_predicted(self.labeled), model, "after")
        return ScoredFrame.of(self.labeled, frame, self._groups)

    def _calibrated(self, frame: Frame, model: Predictor, prefix: str) -> Frame:
        """Add the probabilities of a model, which must have some for all rows."""
        labeled = self.labeled
        if model.time_kinds and labeled.time_kind is not None:
            require_same_kind(Times(np.zeros(1), (labeled.time_kind,)), model.time_kinds)
        times = ["time"] * len(model.time_kinds)
        names = [f"x{k}" for k in range(self.n_columns)]
        frame = add_probabilities(frame, model, names, times, prefix)
        if times:
            self._require_probabilities(frame, prefix)
        return frame

    def cut(self, scored: ScoredFrame, bins: int) -> TimeBins:
        """Cut the time of these rows into bins."""
        return cut_table(self.labeled, bins)

    @cached
    def _groups(self) -> GroupIds | None:
        return find_groups(self.labeled) if self.labeled.has_groups else None

    def _require_probabilities(self, frame: Frame, prefix: str) -> None:
        """Refuse rows for which the model returns NULL."""
        empty = nw.when(nw.col(f"{prefix}0").is_null()).then(nw.lit(1.0)).otherwise(nw.lit(0.0))
        counted = frame.select(empty=empty).select(nw.col("empty").sum())
        count = int(self.labeled.passes.collect(counted, "calibrating")["empty"][0])
        if count:
            raise InputError(
                f"the model has no answer for {count:,} rows: they are at steps that it was not "
                'fitted to, and it has unseen="error"'
            )

    def fit(self, calibrator: Any, *, learns: bool | None = False) -> Any:
        """Fit a calibrator, with times if there are any, and with sequences if it needs them."""
        arguments = self.roles.fit_arguments(along_time=self.has_time)
        if learns is None:
            learns = self.is_ordered
            echo_note(None if learns else NO_ORDER_NOTE)
        if learns or self.options.order is not None:
            arguments |= {"sequence": self.options.sequence, "order": self.options.order}
        return calibrator.fit_table(self.table, **arguments)

    def assess(self, seed: int, td_horizon: Any, *, learns: bool | None) -> "Assessment":
        """Fit to one half and evaluate on the other."""
        from tempocal.assessment import assess_table

        if learns is None and not self.is_ordered:
            echo_note(NO_ORDER_NOTE)
        arguments = self.roles.fit_arguments(along_time=True)
        ids = {"sequence": self.options.sequence, "groups": self.options.group}
        settings = {"classes": self.classes, "seed": seed, "td_horizon": td_horizon}
        if self.options.order is not None:
            settings["order"] = self.options.order
        return assess_table(self.table, **{**arguments, **ids, **settings})


def is_large(source: InputFile) -> bool:
    """Return whether a file is too large to be loaded into memory."""
    if source.format != "parquet":
        return os.path.getsize(source.path) > LARGE_BYTES
    with reading(source.name, "Parquet"):
        return int(parquet.read_metadata(source.path).num_rows) > LARGE_ROWS


@contextmanager
def large_rows(options: ColumnOptions, source: InputFile, doing: str) -> Iterator[LargePredictions]:
    """Open and validate a large file, with progress for each pass over it."""
    with TemporaryDirectory(prefix="tempocal-") as folder:
        with show_progress(f"Reading {options.file}") as progress:
            rows = open_rows(options, source, folder, progress)
        with show_progress(doing) as progress, translate_errors():
            try:
                yield _check_rows(options, rows, _count_passes(progress))
            except TableError as error:
                raise InputError(f"{source.name}: {error}") from error


def _count_passes(progress: Callable[[str], None]) -> Callable[[str], None]:
    """Return a callback that adds the number of the pass."""
    passes = 0

    def numbered(doing: str) -> None:
        nonlocal passes
        passes += 1
        progress(f"pass {passes}: {doing}")

    return numbered


def _check_rows(
    options: ColumnOptions, rows: LargeRows, progress: Callable[[str], None]
) -> LargePredictions:
    """Validate the rows, in the same order as for rows in memory."""
    n_classes = max(len(rows.columns), 2)
    labels: NDArray[Any]
    if rows.soft:
        classes = check_soft_classes(options.classes, len(rows.columns))
        labels, n_rows = np.arange(n_classes), rows.count(progress)
    else:
        labels, n_rows = rows.labels(progress)
        classes = check_classes(options.classes, labels, len(rows.columns))
        check_label(labels, classes, str(options.label), n_classes, len(rows.columns))
    found_classes = np.unique(labels) if classes is None else np.array(classes)
    require_order(rows.columns, found_classes, inputs_of(options))
    table = TableWithProgress(rows.table, progress)
    roles = _column_roles(options, rows)
    labeled = read_labeled_table(table, roles, classes)
    in_unit_interval = labeled.min_logits.min() >= 0.0 and labeled.max_logits.max() <= 1.0
    if options.logits and not options.really_logits and in_unit_interval:
        raise InputError(scale_message(",".join(rows.columns)))
    found = check_sequences(options, rows, progress)
    n_sequences = None if found is None else found.count
    n_groups = None if options.group is None else rows.distinct(options.group, progress)
    if n_sequences is not None:
        echo_note(few_clusters_note(n_sequences if n_groups is None else n_groups))
    return LargePredictions(
        name=rows.name,
        inputs=roles.inputs,
        labels=labels,
        classes=classes,
        n_rows=n_rows,
        n_columns=len(rows.columns),
        n_sequences=n_sequences,
        n_groups=n_groups,
        has_time=options.time is not None,
        options=options,
        table=table,
        roles=roles,
        labeled=labeled,
        is_ordered=options.order is not None or (found is not None and found.time_is_order),
    )


def _column_roles(options: ColumnOptions, rows: LargeRows) -> ColumnRoles:
    inputs, columns = inputs_of(options), rows.columns
    return ColumnRoles.of(
        inputs,
        logits=columns if inputs == "logits" else None,
        proba=columns if inputs == "proba" else None,
        label=rows.soft or rows.label,
        time=options.time,
        groups=options.group or options.sequence,
        sample_weight=options.weight,
        soft_label=bool(rows.soft),
    )

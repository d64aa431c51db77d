"""Running a monitor on the rows of a file, with a lock on its saved state."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import click
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from tempocal.cli.abandoning import Abandoning
from tempocal.cli.column_checks import check_classes, check_label, check_scale
from tempocal.cli.flag_wording import translate_errors
from tempocal.cli.options import ColumnOptions
from tempocal.cli.prepare import open_rows
from tempocal.cli.read_predictions import (
    flags_of,
    inputs_of,
    prefix_column_errors,
    split_names,
    stack_columns,
)
from tempocal.cli.terminal import show_progress
from tempocal.errors import InputError
from tempocal.files import (
    as_ids,
    as_labels,
    as_numbers,
    as_times,
    column_names,
    read_columns,
)
from tempocal.inputs import as_logits
from tempocal.links import Array, proba_from_logits
from tempocal.live import Monitor, Status
from tempocal.live.locks import try_to_lock


@dataclass(frozen=True)
class Forecasts:
    """Forecasts of a file in its order, and outcomes from rows without a forecast."""

    columns: list[str]
    proba: Array  # (n,) or (n, K)
    time: NDArray[Any]
    sequence: list[str]
    label: list[Any]  # None where it is empty
    outcomes: list[tuple[str, Any]]  # sequence and label
    labels: NDArray[Any]  # without missing ones
    clock: NDArray[Any] | None = None

    @property
    def count(self) -> int:
        """Number of rows."""
        return len(self.sequence) + len(self.outcomes)


def watch(
    options: ColumnOptions,
    state: str | None,
    settings: dict[str, Any],
    rule: Abandoning,
    *,
    skip_finished: bool,
) -> tuple[Status, int]:
    """Run a monitor on a file and save it; return its status and the number of skipped rows."""
    with _exclusive(state, options.file):
        return _watch(options, state, settings, rule, skip_finished)


@contextmanager
def _exclusive(state: str | None, file: str) -> Iterator[None]:
    """Hold a lock on a state from loading it until it is saved.

    Other runs are refused and do not wait: this one may read from a pipe that never ends, and files
    must come in order. The lock is on another file, since a save replaces the state; that file is
    not removed, since another run may have just opened it.
    """
    if state is None:
        yield
        return
    folder, name = os.path.split(os.path.realpath(state))
    lock = os.open(os.path.join(folder, f".{name}.lock"), os.O_RDONLY | os.O_CREAT, 0o666)
    try:
        if not try_to_lock(lock):
            raise _another_run(f"is using {state}", file)
        yield
    finally:
        os.close(lock)


def _another_run(does: str, file: str) -> InputError:
    return InputError(
        f"another run {does}: nothing of {file} was saved, so run this again, one at a time"
    )


def _watch(
    options: ColumnOptions,
    state: str | None,
    settings: dict[str, Any],
    rule: Abandoning,
    skip_finished: bool,
) -> tuple[Status, int]:
    before = _file_version(state)
    saved = state if before is not None else None
    if saved is not None:
        _refuse_settings({**settings, "classes": options.classes}, saved)
    with (
        open_rows(options) as (given, source),
        show_progress(f"Reading {options.file}"),
    ):
        rows = _read(given, rule.clock, source)
    rule.check(rows.clock)
    with show_progress("Watching"), translate_errors():
        monitor = _new_monitor(options, rows, settings) if saved is None else Monitor.load(saved)
        n_rows = rows.count
        rows = _without_finished(rows, monitor, skip_finished)
        if len(rows.proba):
            columns: Any = {"time": rows.time, "sequence": rows.sequence, "clock": rows.clock}
            monitor.replay(rows.proba, rows.label, **columns)
        for sequence, label in dict.fromkeys(rows.outcomes):
            monitor.finish(sequence, label)
        rule.apply(monitor)
    if state is not None:
        # Possible where the file system has no locks.
        if _file_version(state) != before:
            raise _another_run(f"saved {state} meanwhile", options.file)
        monitor.save(state)
    return monitor.status(), n_rows - rows.count


def _file_version(state: str | None) -> tuple[int, int, int] | None:
    """Return what changes when a state is saved; None if there is none."""
    if state is None or not os.path.exists(state):
        return None
    found = os.stat(state)
    return found.st_ino, found.st_mtime_ns, found.st_size


def _without_finished(rows: Forecasts, monitor: Monitor, skip: bool) -> Forecasts:
    """Leave out rows of sequences that finished in earlier files, or refuse them."""
    ids = dict.fromkeys([*rows.sequence, *(sequence for sequence, _ in rows.outcomes)])
    finished = dict.fromkeys(one for one in ids if monitor.is_finished(one))
    if not finished:
        return rows
    kept = np.array([one not in finished for one in rows.sequence], dtype=bool)
    left = replace(
        rows,
        proba=rows.proba[kept],
        time=rows.time[kept],
        sequence=[rows.sequence[row] for row in np.flatnonzero(kept)],
        label=[rows.label[row] for row in np.flatnonzero(kept)],
        outcomes=[pair for pair in rows.outcomes if pair[0] not in finished],
        clock=None if rows.clock is None else rows.clock[kept],
    )
    if not skip:
        raise InputError(
            f"{rows.count - left.count:,} of the {rows.count:,} rows are of sequences that are "
            f"finished already ({len(finished):,}, the first of them {next(iter(finished))!r}) and "
            "would count twice: leave them out with --skip-finished"
        )
    return left


def _refuse_settings(settings: dict[str, Any], saved: str) -> None:
    given = [name for name, value in settings.items() if value not in (None, False)]
    if given:
        raise click.UsageError(
            f"--{given[0].replace('_', '-')} was fixed when {saved} was created: leave it out"
        )


def _new_monitor(options: ColumnOptions, rows: Forecasts, settings: dict[str, Any]) -> Monitor:
    return Monitor(
        _edges(settings["edges"]),
        classes=_classes(options, rows),
        alpha=0.05 if settings["alpha"] is None else settings["alpha"],
        movement=not settings["no_movement"],
    )


def _classes(options: ColumnOptions, rows: Forecasts) -> Any:
    """Return the listed classes, or else those of the labels."""
    n_columns = len(rows.columns)
    if not len(rows.labels):
        if options.classes is None:
            raise InputError("no label is there yet: say what the classes are with --classes")
        return check_classes(options.classes, _example(options.classes), n_columns)
    classes = check_classes(options.classes, rows.labels, n_columns)
    check_label(rows.labels, classes, str(options.label), max(n_columns, 2), n_columns)
    return np.unique(rows.labels) if classes is None else classes


def _example(classes: str) -> NDArray[Any]:
    """Return the likely labels: integers if the listed classes are, else text."""
    words = classes.split(",")
    try:
        return np.array([int(word) for word in words])
    except ValueError:
        return np.array(words)


def _edges(text: str | None) -> list[Any]:
    words = text.split(",") if text else []
    for kind in (float, datetime.fromisoformat):
        with suppress(ValueError):
            return [kind(word.strip()) for word in words]
    raise InputError(f"--edges {text} must be numbers, or dates, with commas between them")


def _read(options: ColumnOptions, clock: str | None, source: Any) -> Forecasts:
    columns = split_names(options.logits or options.proba, column_names(source))
    flags = flags_of(options, columns)
    if clock is not None:
        flags.setdefault(clock, "--clock")
    with prefix_column_errors(flags):
        table = pa.table(read_columns(source, list(flags)))
        # As text, since integers in one file may be text in the next.
        ids = list(map(str, as_ids(table[options.sequence], str(options.sequence)).ids()))
        labels = _labels(table, options.label)
        outcome_only = _without_proba(table, columns, labels)
        kept = table.filter(pa.array(~outcome_only))
        given = stack_columns([as_numbers(kept[name], name) for name in columns])
        time = as_times(kept[options.time], str(options.time))
        made = None if clock is None else as_times(kept[clock], clock)
    if len(given) and not options.really_logits:
        check_scale(given, inputs_of(options), ",".join(columns))
    pairs = list(zip(ids, labels, strict=True))
    return Forecasts(
        columns=columns,
        proba=proba_from_logits(as_logits(given)) if options.logits and len(given) else given,
        time=time,
        sequence=[pairs[row][0] for row in np.flatnonzero(~outcome_only)],
        label=[pairs[row][1] for row in np.flatnonzero(~outcome_only)],
        outcomes=[pairs[row] for row in np.flatnonzero(outcome_only)],
        labels=np.array([label for label in labels if label is not None]),
        clock=made,
    )


def _labels(table: Any, name: str | None) -> list[Any]:
    """Return the label of each row, None where it is empty."""
    labels: list[Any] = [None] * table.num_rows
    if name is None:
        return labels
    labeled = np.flatnonzero(pc.is_valid(table[name]).to_numpy())
    if len(labeled):
        values = as_labels(table[name].drop_null(), name)
        for row, label in zip(labeled.tolist(), values.tolist(), strict=True):
            labels[row] = label
    return labels


def _without_proba(table: Any, columns: list[str], labels: list[Any]) -> NDArray[np.bool_]:
    """Return a mask of rows with a label but no probability."""
    empty = np.array([label is not None for label in labels])
    for name in columns:
        empty &= pc.is_null(table[name]).to_numpy()
    return empty

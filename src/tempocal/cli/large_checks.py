"""Checks of the sequences of a large file, in one pass over its rows."""

from collections.abc import Callable
from typing import Any

import narwhals as nw

from tempocal.cli.column_checks import SMALL_RANGE_SHARE, calendar_note_text, nesting_message
from tempocal.cli.large_files import LargeRows
from tempocal.cli.options import ColumnOptions
from tempocal.cli.terminal import echo_note
from tempocal.errors import InputError
from tempocal.tables.open_table import Frame
from tempocal.tables.passes import Passes
from tempocal.tables.seconds import as_seconds, kind_of
from tempocal.tables.transfer import Columns


def check_sequences(
    options: ColumnOptions, rows: LargeRows, progress: Callable[[str], None]
) -> int | None:
    """Refuse sequences whose label or group changes; return the number of sequences."""
    if options.sequence is None:
        return None
    passes = Passes(progress=progress)
    sequences = _sequences(options, rows)
    found = passes.collect(_summary(sequences), "looking at sequences")
    if options.time is not None and "median_length" in found:
        _note_on_dates(found, options.time)
    changes: dict[str, tuple[str, str | None]] = {
        "label": (f"the label {options.label!r}", "--label-varies")
    }
    if options.label_varies:
        changes = {}
    if options.group is not None:
        changes["group"] = (f"the group {options.group!r}", None)
    for role, (what, flag) in changes.items():
        if found[role][0] > 0:
            changing = sequences.filter(nw.col(role) > 0).select("sequence").head(1)
            where = passes.collect(changing, "looking for a sequence")["sequence"][0]
            raise InputError(nesting_message(what, str(where), flag))
    return int(found["one"][0])


def _sequences(options: ColumnOptions, rows: LargeRows) -> Frame:
    """Return a row for each sequence: whether its label or group changes, and its time range."""
    schema = rows.frame.collect_schema()
    columns: dict[str, Any] = {"sequence": nw.col(str(options.sequence))}
    columns["label"] = _comparable(str(options.label), schema)
    if options.group is not None:
        columns["group"] = _comparable(options.group, schema)
    kind = None if options.time is None else kind_of(schema[options.time])
    if options.time is not None and kind == "datetime":
        columns["time"] = as_seconds(
            options.time, schema[options.time], kind, rows.frame.implementation
        )
    frame = rows.frame.select(**columns)
    names = [name for name in columns if name != "sequence"]
    min_max = [nw.col(name).min().alias(f"{name}_low") for name in names]
    min_max += [nw.col(name).max().alias(f"{name}_high") for name in names]
    frame = frame.group_by("sequence").agg(*min_max)
    flags = {
        name: nw.when(nw.col(f"{name}_low") != nw.col(f"{name}_high")).then(1).otherwise(0)
        for name in names
        if name != "time"
    }
    return frame.with_columns(one=nw.lit(1), **flags)


def _comparable(name: str, schema: Any) -> nw.Expr:
    return nw.col(name).cast(nw.Int64) if schema[name] == nw.Boolean else nw.col(name)


def _summary(sequences: Frame) -> Frame:
    names = sequences.collect_schema().names()
    sums = [nw.col(name).sum() for name in ("one", "label", "group") if name in names]
    if "time_low" not in names:
        return sequences.select(*sums)
    first, last = nw.col("time_low").min(), nw.col("time_high").max()
    length = nw.col("time_high") - nw.col("time_low")
    return sequences.select(
        *sums, first.alias("first"), last.alias("last"), length.median().alias("median_length")
    )


def _note_on_dates(found: Columns, name: str) -> None:
    time_range = found["last"][0] - found["first"][0]
    if found["median_length"][0] <= SMALL_RANGE_SHARE * time_range:
        echo_note(calendar_note_text(name))

"""Checks of the sequences of a large file, in one pass over its rows."""

from collections.abc import Callable
from dataclasses import dataclass
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


@dataclass(frozen=True)
class LargeSequences:
    """The number of sequences, and whether no two rows of one have the same time."""

    count: int
    time_is_order: bool


def check_sequences(
    options: ColumnOptions, rows: LargeRows, progress: Callable[[str], None]
) -> LargeSequences | None:
    """Refuse sequences whose label or group changes, and count them."""
    if options.sequence is None:
        return None
    passes = Passes(progress=progress)
    sequences = _sequences(options, rows)
    found = passes.collect(_summary(sequences), "looking at sequences")
    if options.time is not None and "median_length" in found:
        _note_on_dates(found, options.time)
    changes: dict[str, tuple[str, str | None]] = {}
    if not options.label_varies:
        of_label = (f"the label {options.label!r}", "--label-varies")
        changes = dict.fromkeys(_label_columns(rows), of_label)
    if options.group is not None:
        changes["group"] = (f"the group {options.group!r}", None)
    for role, (what, flag) in changes.items():
        if found[role][0] > 0:
            changing = sequences.filter(nw.col(role) > 0).select("sequence").head(1)
            where = passes.collect(changing, "looking for a sequence")["sequence"][0]
            raise InputError(nesting_message(what, str(where), flag))
    return LargeSequences(int(found["one"][0]), "tied" in found and found["tied"][0] == 0)


def _label_columns(rows: LargeRows) -> dict[str, str]:
    """Return the columns of the label, by a name of their own."""
    return {f"label{k}": name for k, name in enumerate(rows.soft or [rows.label])}


def _sequences(options: ColumnOptions, rows: LargeRows) -> Frame:
    """Return a row for each sequence: whether its label or group changes, and its time range."""
    schema = rows.frame.collect_schema()
    columns: dict[str, Any] = {"sequence": nw.col(str(options.sequence))}
    columns |= {new: _comparable(name, schema) for new, name in _label_columns(rows).items()}
    if options.group is not None:
        columns["group"] = _comparable(options.group, schema)
    kind = None if options.time is None else kind_of(schema[options.time])
    if options.time is not None and kind is not None:
        moment = as_seconds(options.time, schema[options.time], kind, rows.frame.implementation)
        columns |= {"moment": moment, "n_rows": nw.lit(1)}
        if kind == "datetime":
            columns["time"] = moment
    frame = rows.frame.select(**columns)
    names = [name for name in columns if name not in ("sequence", "moment", "n_rows")]
    min_max = [nw.col(name).min().alias(f"{name}_low") for name in names]
    min_max += [nw.col(name).max().alias(f"{name}_high") for name in names]
    counts = [nw.col("moment").n_unique().alias("n_moments"), nw.col("n_rows").sum()]
    frame = frame.group_by("sequence").agg(*min_max, *(counts if "moment" in columns else ()))
    flags = {
        name: nw.when(nw.col(f"{name}_low") != nw.col(f"{name}_high")).then(1).otherwise(0)
        for name in names
        if name != "time"
    }
    if "moment" in columns:
        is_tied = nw.col("n_moments") < nw.col("n_rows")
        flags["tied"] = nw.when(is_tied).then(1).otherwise(0)
    return frame.with_columns(one=nw.lit(1), **flags)


def _comparable(name: str, schema: Any) -> nw.Expr:
    return nw.col(name).cast(nw.Int64) if schema[name] == nw.Boolean else nw.col(name)


def _summary(sequences: Frame) -> Frame:
    names = sequences.collect_schema().names()
    flags = [name for name in names if name in ("one", "group", "tied") or _is_label(name)]
    sums = [nw.col(name).sum() for name in flags]
    if "time_low" not in names:
        return sequences.select(*sums)
    first, last = nw.col("time_low").min(), nw.col("time_high").max()
    length = nw.col("time_high") - nw.col("time_low")
    return sequences.select(
        *sums, first.alias("first"), last.alias("last"), length.median().alias("median_length")
    )


def _is_label(name: str) -> bool:
    return name.removeprefix("label").isdigit()


def _note_on_dates(found: Columns, name: str) -> None:
    time_range = found["last"][0] - found["first"][0]
    if found["median_length"][0] <= SMALL_RANGE_SHARE * time_range:
        echo_note(calendar_note_text(name))

"""What may be wrong with the sequences of a large file, found in one pass over them."""

from collections.abc import Callable
from typing import Any

import narwhals as nw

from tempocal.cli.column_checks import SMALL_PART, dates_note, nesting_text
from tempocal.cli.large_files import LargeRows
from tempocal.cli.options import Named
from tempocal.cli.read_predictions import say_note
from tempocal.errors import InputError
from tempocal.tables.open_table import Frame
from tempocal.tables.passes import Passes
from tempocal.tables.seconds import as_seconds, kind_of
from tempocal.tables.transfer import Columns


def check_sequences(named: Named, rows: LargeRows, tell: Callable[[str], None]) -> int | None:
    """Refuse sequences in which something changes that must not; return how many there are."""
    if named.sequence is None:
        return None
    passes = Passes(progress=tell)
    sequences = _sequences(named, rows)
    found = passes.collect(_summary(sequences), "looking at sequences")
    if named.time is not None and "short" in found:
        _note_on_dates(found, named.time)
    changes: dict[str, tuple[str, str | None]] = {
        "label": (f"the label {named.label!r}", "--label-varies")
    }
    if named.label_varies:
        changes = {}
    if named.group is not None:
        changes["group"] = (f"the group {named.group!r}", None)
    for role, (what, flag) in changes.items():
        if found[role][0] > 0:
            changing = sequences.filter(nw.col(role) > 0).select("sequence").head(1)
            where = passes.collect(changing, "looking for a sequence")["sequence"][0]
            raise InputError(nesting_text(what, str(where), flag))
    return int(found["one"][0])


def _sequences(named: Named, rows: LargeRows) -> Frame:
    """One row for each sequence: whether its label or group changes, and how long it lasts."""
    schema = rows.frame.collect_schema()
    columns: dict[str, Any] = {"sequence": nw.col(str(named.sequence))}
    columns["label"] = _comparable(str(named.label), schema)
    if named.group is not None:
        columns["group"] = _comparable(named.group, schema)
    kind = None if named.time is None else kind_of(schema[named.time])
    if named.time is not None and kind == "datetime":
        columns["time"] = as_seconds(named.time, schema[named.time], kind)
    frame = rows.frame.select(**columns)
    names = [name for name in columns if name != "sequence"]
    ends = [nw.col(name).min().alias(f"{name}_low") for name in names]
    ends += [nw.col(name).max().alias(f"{name}_high") for name in names]
    frame = frame.group_by("sequence").agg(*ends)
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
        *sums, first.alias("first"), last.alias("last"), length.median().alias("short")
    )


def _note_on_dates(found: Columns, name: str) -> None:
    whole = found["last"][0] - found["first"][0]
    if found["short"][0] <= SMALL_PART * whole:
        say_note(dates_note(name))

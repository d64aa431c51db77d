"""Labeled predictions in a table, under fixed column names, checked in a first pass."""

from dataclasses import dataclass, replace
from os import PathLike
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from tempocal.errors import InputError
from tempocal.formula import interpret
from tempocal.formula.input_columns import read_scores
from tempocal.inputs import LARGEST_FLOAT_ID, Inputs, TimeKind, check_labels, encode_labels
from tempocal.links import Array
from tempocal.tables.column_names import FileColumns
from tempocal.tables.column_roles import ColumnRoles
from tempocal.tables.first_pass import (
    LARGEST_INTEGER,
    require_usable,
    summarize_labels,
    with_check_sums,
)
from tempocal.tables.narwhals_engine import NarwhalsEngine
from tempocal.tables.normalize_columns import normalize_columns, require_comparable
from tempocal.tables.open_table import Frame, open_table
from tempocal.tables.parquet_nan import trusts_bounds, without_bounds
from tempocal.tables.passes import Passes, TableWithProgress
from tempocal.tables.seconds import as_number, as_seconds, kind_of
from tempocal.tables.transfer import Columns
from tempocal.tables.unchanged import require_same_rows


@dataclass(frozen=True)
class LabeledTable:
    """Usable rows of a table, and what the first pass found.

    Attributes
    ----------
    frame : Frame
        With columns ``x0``, ``x1``, ... of the predictions as given, ``z0``, ``z1``, ... of logits,
        ``y0``, ``y1``, ... of those of another model, unchecked,
        ``label``, a class code; and where named, ``time``, ``group``, ``sequence``, ``order``,
        ``weight``.
    table : Frame
        The table itself, with comparable labels, ids and times.
    classes : ndarray of shape (K,)
        The classes, in the order of the columns.
    passes : Passes
        Passes over the rows so far.
    n_rows : int
        Number of rows with positive weight.
    class_weights : ndarray of shape (K,)
        Weight of the rows of each class.
    class_counts : ndarray of shape (K,)
        Number of rows of each class, including those of weight zero that ``frame`` leaves out.
    min_logits, max_logits : ndarray of shape (columns,)
        Smallest and largest logit of each column.
    mean_abs_log_odds : float
        Mean absolute log-odds of the second of two classes.
    time_range : tuple of float or None
        First and last time.
    integer_times : bool
        Whether all times are integers.
    time_kind : str or None
        Kind of the times.
    """

    frame: Frame
    table: Frame
    classes: NDArray[Any]
    passes: Passes
    n_rows: int
    class_weights: Array
    class_counts: Array
    min_logits: Array
    max_logits: Array
    mean_abs_log_odds: float
    time_range: tuple[float, float] | None
    integer_times: bool
    time_kind: TimeKind | None
    inputs: Inputs
    has_groups: bool
    has_weights: bool
    has_sequences: bool
    order: str  # column that puts the rows of a sequence in order: "order" or "time"

    @property
    def total_weight(self) -> float:
        """Total weight of the rows."""
        return float(self.class_weights.sum())

    @property
    def n_columns(self) -> int:
        """Number of columns of logits."""
        return len(self.min_logits)

    @property
    def largest_logit(self) -> float:
        """Largest absolute logit."""
        return float(max(self.max_logits.max(), -self.min_logits.min()))

    @property
    def weight(self) -> nw.Expr:
        """Weight of each row, as an expression."""
        return nw.col("weight") if self.has_weights else nw.lit(1.0)


def read_labeled_table(table: Any, roles: ColumnRoles, classes: Any) -> LabeledTable:
    """Open a table, which may be a `TableWithProgress`, and check all rows in one pass."""
    reporting = table if isinstance(table, TableWithProgress) else None
    passes = Passes() if reporting is None else Passes(progress=reporting.progress)
    frame = _open(table if reporting is None else reporting.table, roles, passes)
    schema = frame.collect_schema()
    kind = None if roles.time is None else _time_kind(roles.time, schema[roles.time], "time")
    raw = frame.select(**_raw_columns(roles, frame, kind))
    largest_float = {role: _largest_float(schema[name]) for role, name in roles.pairs()}
    found = passes.collect(
        summarize_labels(_without_bounds(raw), roles, largest_float), "looking at all rows"
    )
    require_usable(found, roles)
    if roles.time is not None and schema[roles.time].is_integer():
        _require_exact_times(roles.time, found)
    is_boolean = schema[roles.label] == nw.Boolean
    # Booleans are encoded as 0 and 1.
    coded_classes = (
        classes if classes is None or not is_boolean else np.asarray(classes).astype(np.int64)
    )
    # Only a query can return other rows at each pass, not a file.
    may_change = not isinstance(table if reporting is None else reporting.table, str | PathLike)
    labeled = _build(
        raw, roles, found, classes=coded_classes, kind=kind, passes=passes, may_change=may_change
    )
    if is_boolean:
        labeled = replace(labeled, classes=labeled.classes.astype(np.bool_))
    return replace(labeled, table=frame)


def _open(table: Any, roles: ColumnRoles, passes: Passes) -> Frame:
    """Open a table and make its labels, ids and times comparable."""
    nested_formulas = len(roles.predictions) > 1 or roles.inputs == "proba"
    columns = FileColumns(
        numbers=(*roles.predictions, *roles.after, *filter(None, [roles.weight])),
        times=tuple(filter(None, [roles.time, roles.order])),
        label=roles.label,
        only=tuple(dict.fromkeys(name for _, name in roles.pairs())),
    )
    frame = open_table(table, nested_formulas=nested_formulas, columns=columns)
    _require_columns(roles, list(frame.collect_schema()))
    return normalize_columns(frame, roles, passes)


def _largest_float(dtype: Any) -> float:
    """Return the largest float up to which every integer is represented."""
    return 2.0**24 if dtype == nw.Float32 else LARGEST_FLOAT_ID


def _without_bounds(raw: Frame) -> Frame:
    """Make NaN in files visible; later passes need not, once there is none."""
    if not trusts_bounds(raw):
        return raw
    floats = [name for name, dtype in raw.collect_schema().items() if dtype.is_float()]
    return raw.with_columns(**{name: without_bounds(nw.col(name)) for name in floats})


def _raw_columns(roles: ColumnRoles, frame: Frame, kind: TimeKind | None) -> dict[str, nw.Expr]:
    """Return the columns under fixed names, numbers as double."""
    schema, engine = frame.collect_schema(), frame.implementation
    predictions = [as_number(name, schema[name], roles.inputs) for name in roles.predictions]
    raw = {f"x{k}": column for k, column in enumerate(predictions)}
    raw |= {f"y{k}": as_number(n, schema[n], "after") for k, n in enumerate(roles.after)}
    raw["label"] = as_label(roles.label, schema[roles.label], "label")
    if roles.time is not None and kind is not None:
        # Adding 0.0 turns minus zero, which some engines keep apart, into zero.
        raw["time"] = as_seconds(roles.time, schema[roles.time], kind, engine) + 0.0
    if roles.groups is not None:
        raw["group"] = as_label(roles.groups, schema[roles.groups], "groups")
    if roles.sequence is not None:
        raw["sequence"] = as_label(roles.sequence, schema[roles.sequence], "sequence")
    if roles.order is not None:
        order = schema[roles.order]
        order_kind = _time_kind(roles.order, order, "order")
        raw["order"] = as_seconds(roles.order, order, order_kind, engine)
    if roles.weight is not None:
        raw["weight"] = as_number(roles.weight, schema[roles.weight], "sample_weight")
    return raw


def as_label(name: str, dtype: Any, role: str) -> nw.Expr:
    """Return a column of labels or ids, in a comparable type."""
    require_comparable(dtype, name, role)
    column = nw.col(name)
    if dtype == nw.Boolean:
        return column.cast(nw.Int64)
    if dtype.is_float() or dtype.is_decimal() or dtype in (nw.Int128, nw.UInt128):
        # Adding 0.0 turns minus zero, which some engines keep apart, into zero.
        return column.cast(nw.Float64) + 0.0
    is_plain = dtype.is_numeric() or dtype == nw.String
    return column if is_plain else column.cast(nw.String)


def _require_columns(roles: ColumnRoles, columns: list[str]) -> None:
    for role, name in roles.pairs():
        if name not in columns:
            raise InputError(f"{role} names {name!r}, but the table's columns are {columns}")


def _require_exact_times(name: str, found: Columns) -> None:
    """Refuse integer times that a double does not represent."""
    largest = max(-float(found["min_time"].min()), float(found["max_time"].max()))
    if largest > LARGEST_INTEGER:
        raise InputError(
            f"time in {name!r} goes up to {largest:.6g}, where whole numbers lose digits: subtract "
            "the first one"
        )


def _time_kind(name: str, dtype: Any, role: str) -> TimeKind:
    kind = kind_of(dtype)
    if kind is None:
        raise InputError(
            f"{role} names the column {name!r}, which must hold numbers, datetimes or durations, "
            f"but its type is {dtype}"
        )
    return kind


def _build(
    raw: Frame,
    roles: ColumnRoles,
    found: Columns,
    *,
    classes: Any,
    kind: Any,
    passes: Passes,
    may_change: bool,
) -> LabeledTable:
    labels = check_labels(found["label"], len(found["label"]), "label")
    codes, sorted_classes, _ = encode_labels(labels, classes, len(roles.predictions), "label")
    weight_column = "weight" if roles.weight is not None else "n_rows"
    weights = np.bincount(codes, found[weight_column], minlength=len(sorted_classes))
    rows = float(found["n_rows"].sum())
    mean_abs_log_odds = float(found["abs_log_odds"].sum()) / rows
    names = [f"z{k}" for k in range(len(roles.predictions))]
    if "zero_weight" in found:
        rows -= float(found["zero_weight"].sum())
    frame = _with_codes(raw, roles, sorted_classes, is_plain=not found["extreme_prediction"].any())
    if may_change:
        require_same_rows(with_check_sums(frame, len(names)), found, passes)
    if "zero_weight" in found and found["zero_weight"].any():
        frame = frame.filter(nw.col("weight") > 0.0)
    time_range = (
        (float(found["min_time"].min()), float(found["max_time"].max()))
        if kind is not None
        else None
    )
    return LabeledTable(
        frame=frame,
        table=raw,
        classes=sorted_classes,
        passes=passes,
        n_rows=int(rows),
        class_weights=weights.astype(np.float64),
        class_counts=np.bincount(codes, found["n_rows"], minlength=len(sorted_classes)).astype(
            np.float64
        ),
        min_logits=np.array([found[f"{name}_low"].min() for name in names]),
        max_logits=np.array([found[f"{name}_high"].max() for name in names]),
        mean_abs_log_odds=mean_abs_log_odds,
        time_range=time_range,
        integer_times=kind is not None and not found["fractional_time"].any(),
        time_kind=kind,
        inputs=roles.inputs,
        has_groups=roles.groups is not None,
        has_weights=roles.weight is not None,
        has_sequences=roles.sequence is not None,
        order="time" if roles.order is None else "order",
    )


def _with_codes(raw: Frame, roles: ColumnRoles, classes: NDArray[Any], *, is_plain: bool) -> Frame:
    """Add logits and replace labels by class codes."""
    names = [f"x{k}" for k in range(len(roles.predictions))]
    if is_plain and roles.inputs == "logits":
        logits = {f"z{k}": nw.col(name) for k, name in enumerate(names)}
    else:
        read, engine = read_scores(names, roles.inputs), NarwhalsEngine()
        logits = {f"z{k}": interpret(each, engine, {}) for k, each in enumerate(read.values)}
    code: Any = nw.lit(len(classes) - 1)
    for k, value in reversed(list(enumerate(classes.tolist()[:-1]))):
        code = nw.when(nw.col("label") == value).then(nw.lit(k)).otherwise(code)
    return raw.with_columns(**logits, label=code)

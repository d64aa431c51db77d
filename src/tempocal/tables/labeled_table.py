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
from tempocal.inputs import (
    LARGEST_FLOAT_ID,
    Inputs,
    TimeKind,
    check_labels,
    encode_labels,
    require_names_in_order,
)
from tempocal.links import Array
from tempocal.tables.column_names import FileColumns
from tempocal.tables.column_roles import ColumnRoles
from tempocal.tables.first_pass import (
    LARGEST_INTEGER,
    require_usable,
    summarize_labels,
    with_check_sums,
)
from tempocal.tables.label_shares import (
    SHARE,
    most_probable,
    read_share_sums,
    soft_classes,
    soft_columns,
    split_by_class,
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
        ``weight``. Rows that soft labels split have ``share``, ``weight`` and ``group``.
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
    # Where soft labels split rows: the rows before, of which each is a share.
    unsplit: Frame | None = None

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
    def row_count(self) -> nw.Expr:
        """What a row counts for as a number of rows, as an expression."""
        return nw.lit(1.0) if self.unsplit is None else nw.col(SHARE)

    @property
    def given_rows(self) -> Frame:
        """The rows as they were given."""
        return self.frame if self.unsplit is None else self.unsplit

    @property
    def runs(self) -> tuple[str, ...]:
        """Columns of the rows that follow each other: a sequence, or its copy for a class."""
        return ("sequence",) if self.unsplit is None else ("sequence", "label")

    @property
    def n_given_rows(self) -> int:
        """Number of rows as they were given, with those of weight zero."""
        return round(float(self.class_counts.sum()))

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
    is_boolean = schema[roles.label] == nw.Boolean and not roles.soft_label
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
        numbers=(
            *roles.predictions,
            *roles.after,
            *roles.soft_label,
            *filter(None, [roles.weight]),
        ),
        times=tuple(filter(None, [roles.time, roles.order])),
        label=None if roles.soft_label else roles.label,
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
    if roles.soft_label:
        raw |= soft_columns(roles, schema)
    else:
        raw["label"] = as_label(roles.label, schema[roles.label], "label")
    if roles.time is not None and kind is not None:
        # Adding 0.0 turns minus zero, which some engines keep apart, into zero.
        raw["time"] = as_seconds(roles.time, schema[roles.time], kind, engine) + 0.0
    if roles.sequence is not None:
        raw["sequence"] = as_label(roles.sequence, schema[roles.sequence], "sequence")
    if roles.groups is not None:
        raw["group"] = as_label(roles.groups, schema[roles.groups], "groups")
    if roles.order is not None:
        order = schema[roles.order]
        order_kind = _time_kind(roles.order, order, "order")
        if order.is_integer() and order not in (nw.UInt64, nw.Int128, nw.UInt128):
            # As integers, of which a double does not represent all.
            raw["order"] = nw.col(roles.order).cast(nw.Int64)
        else:
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
            plain = role.removeprefix("soft ")
            raise InputError(f"{plain} names {name!r}, but the table's columns are {columns}")


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
    sorted_classes, weights, counts = _count_classes(roles, found, classes)
    for columns, role in ((roles.predictions, roles.inputs), (roles.soft_label, "label")):
        require_names_in_order(columns, sorted_classes, role)
    rows = float(found["n_rows"].sum())
    mean_abs_log_odds = float(found["abs_log_odds"].sum()) / rows
    names = [f"z{k}" for k in range(len(roles.predictions))]
    if "zero_weight" in found:
        rows -= float(found["zero_weight"].sum())
    frame = _with_logits(raw, roles, is_plain=not found["extreme_prediction"].any())
    frame = _with_codes(frame, roles, sorted_classes)
    if may_change:
        require_same_rows(with_check_sums(frame, len(names)), found, passes)
    if "zero_weight" in found and found["zero_weight"].any():
        frame = frame.filter(nw.col("weight") > 0.0)
    unsplit = None
    if "fractional_label" in found and found["fractional_label"].any():
        unsplit, frame = frame, split_by_class(frame, len(sorted_classes))
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
        class_weights=weights,
        class_counts=counts,
        min_logits=np.array([found[f"{name}_low"].min() for name in names]),
        max_logits=np.array([found[f"{name}_high"].max() for name in names]),
        mean_abs_log_odds=mean_abs_log_odds,
        time_range=time_range,
        integer_times=kind is not None and not found["fractional_time"].any(),
        time_kind=kind,
        inputs=roles.inputs,
        has_groups=roles.groups is not None or unsplit is not None,
        has_weights=roles.weight is not None or unsplit is not None,
        has_sequences=roles.sequence is not None,
        order="time" if roles.order is None else "order",
        unsplit=unsplit,
    )


def _count_classes(
    roles: ColumnRoles, found: Columns, classes: Any
) -> tuple[NDArray[Any], Array, Array]:
    """Return the classes, and the weight and the number of the rows of each."""
    if roles.soft_label:
        known = soft_classes(roles, classes)
        weights, counts = (read_share_sums(found, each, len(known)) for each in ("weight", "count"))
        return known, weights, counts
    labels = check_labels(found["label"], len(found["label"]), "label")
    codes, known, _ = encode_labels(labels, classes, len(roles.predictions), "label")
    sums = [
        np.bincount(codes, found[name], minlength=len(known)).astype(np.float64)
        for name in ("n_rows" if roles.weight is None else "weight", "n_rows")
    ]
    return known, sums[0], sums[1]


def _with_codes(frame: Frame, roles: ColumnRoles, classes: NDArray[Any]) -> Frame:
    """Replace labels by class codes."""
    if roles.soft_label:
        return most_probable(frame, len(classes))
    code: Any = nw.lit(len(classes) - 1)
    for k, value in reversed(list(enumerate(classes.tolist()[:-1]))):
        code = nw.when(nw.col("label") == value).then(nw.lit(k)).otherwise(code)
    return frame.with_columns(label=code)


def _with_logits(raw: Frame, roles: ColumnRoles, *, is_plain: bool) -> Frame:
    """Add the logits."""
    names = [f"x{k}" for k in range(len(roles.predictions))]
    if is_plain and roles.inputs == "logits":
        logits = {f"z{k}": nw.col(name) for k, name in enumerate(names)}
    else:
        read, engine = read_scores(names, roles.inputs), NarwhalsEngine()
        logits = {f"z{k}": interpret(each, engine, {}) for k, each in enumerate(read.values)}
    return raw.with_columns(**logits)

"""The first pass over a table: all checks that arrays get, as sums by label.

It counts rows and unusable rows, and finds the minimum and maximum of logits and times.
"""

from typing import Any

import narwhals as nw
import numpy as np

from tempocal.errors import InputError
from tempocal.formula import interpret
from tempocal.formula.input_columns import read_scores
from tempocal.inputs import LARGEST_TIME, first_missing
from tempocal.inputs.labels_and_groups import FLOAT_ID_HINT
from tempocal.inputs.logits import LARGEST_LOGIT
from tempocal.inputs.weights import LARGEST_WEIGHT, LEAST_WEIGHT
from tempocal.tables.column_roles import ColumnRoles
from tempocal.tables.label_shares import label_flags, share_sums
from tempocal.tables.narwhals_engine import NarwhalsEngine, one_if
from tempocal.tables.open_table import Frame
from tempocal.tables.transfer import Columns

# Beyond it a double does not represent every integer.
LARGEST_INTEGER = 2.0**53


def summarize_labels(raw: Frame, roles: ColumnRoles, largest_float: dict[str, float]) -> Frame:
    """Count rows and problems, and find minima and maxima, by label.

    ``largest_float`` is the bound of float ids, by role.
    """
    engine = NarwhalsEngine()
    names = [f"x{k}" for k in range(len(roles.predictions))]
    read = read_scores(names, roles.inputs)
    values = {f"z{k}": interpret(each, engine, {}) for k, each in enumerate(read.values)}
    valid = interpret(read.valid, engine, {})
    missing = nw.any_horizontal(*(nw.col(name).is_null() for name in names), ignore_nulls=False)
    flags = {
        "missing_prediction": one_if(missing),
        "invalid_prediction": one_if(~missing) * (1 - one_if(valid)),
        "extreme_prediction": one_if(
            nw.any_horizontal(*(_is_extreme(name) for name in names), ignore_nulls=True)
        ),
    }
    sums = ["missing_prediction", "invalid_prediction", "extreme_prediction"]
    if roles.time is not None:
        time = nw.col("time")
        flags["invalid_time"] = 1 - one_if(time.is_between(-LARGEST_TIME, LARGEST_TIME))
        # Doubles beyond 2**53 are integers, and overflow in engines whose floor is an integer.
        is_small = time.is_between(-LARGEST_INTEGER, LARGEST_INTEGER)
        flags["fractional_time"] = (
            nw.when(is_small).then(one_if(time != time.floor())).otherwise(nw.lit(0))
        )
        sums += ["invalid_time", "fractional_time"]
    if roles.order is not None:
        order = nw.col("order")
        # Integers are compared with no double, which Arrow refuses.
        is_integer = raw.collect_schema()["order"].is_integer()
        known = ~order.is_null() if is_integer else order.is_between(-LARGEST_TIME, LARGEST_TIME)
        flags["invalid_order"] = 1 - one_if(known)
        sums.append("invalid_order")
    for column, role in _id_columns(roles):
        ids, dtype = nw.col(column), raw.collect_schema()[column]
        flags[f"missing_{column}"] = one_if(_is_missing(ids, dtype))
        sums.append(f"missing_{column}")
        if dtype.is_float():
            bound = largest_float[role]
            flags[f"inexact_{column}"] = 1 - one_if(ids.is_between(-bound, bound))
            sums.append(f"inexact_{column}")
    if roles.weight is not None:
        weight = nw.col("weight")
        flags["invalid_weight"] = 1 - one_if(weight.is_between(0.0, LARGEST_WEIGHT))
        flags["tiny_weight"] = one_if((weight > 0.0) & (weight < LEAST_WEIGHT))
        flags["zero_weight"] = one_if(weight == 0.0)
        sums += ["invalid_weight", "tiny_weight", "zero_weight"]
    if roles.soft_label:
        flags |= label_flags(roles) | share_sums(roles)
        sums += [*label_flags(roles), *share_sums(roles)]
    frame = with_check_sums(raw.with_columns(**values).with_columns(**flags), len(names))
    measures = [nw.col(name).sum() for name in (*sums, "abs_log_odds", "n_rows", "abs_ids")]
    for name in values:
        measures += [
            nw.col(name).min().alias(f"{name}_low"),
            nw.col(name).max().alias(f"{name}_high"),
        ]
    if roles.time is not None:
        measures += [nw.col("time").min().alias("min_time"), nw.col("time").max().alias("max_time")]
    if roles.weight is not None:
        measures.append(nw.col("weight").sum())
    return frame.group_by("label").agg(*measures)


def _id_columns(roles: ColumnRoles) -> list[tuple[str, str]]:
    """Return the column and the role of each kind of ids, each column of the table once."""
    found = [("sequence", "sequence", roles.sequence)]
    if roles.groups != roles.sequence:
        found.append(("group", "groups", roles.groups))
    return [(column, role) for column, role, name in found if name is not None]


def _is_extreme(name: str) -> nw.Expr:
    """Whether a value is NaN, infinite or beyond the largest logit."""
    return ~nw.col(name).is_between(-LARGEST_LOGIT, LARGEST_LOGIT)


def _is_missing(column: nw.Expr, dtype: Any) -> nw.Expr:
    return column.is_null() | column.is_nan() if dtype.is_float() else column.is_null()


def require_usable(found: Columns, roles: ColumnRoles) -> None:
    """Refuse a table with unusable rows; the error names the column and their number."""
    if len(found["n_rows"]) == 0:
        raise InputError("the table is empty: at least one row is needed")
    predictions = ", ".join(map(repr, roles.predictions))
    labels = ", ".join(map(repr, roles.soft_label))
    missing = "" if roles.soft_label else _missing_label_text(found)
    if missing:
        raise InputError(f"label {roles.label!r} is missing in {missing}: no label may be missing")
    hint = (
        "a logit must be a number within 2**53 of zero, or inf for one certain class"
        if roles.inputs == "logits"
        else "probabilities must lie in [0, 1] and sum to 1 in every row"
    )
    problems = [
        ("missing_label", f"label {labels} must not be missing, but they are"),
        (
            "invalid_label",
            f"label {labels}: with soft_label=True it must be probabilities, which lie in [0, 1] "
            "and sum to 1 in every row, which they are not",
        ),
        (
            "missing_prediction",
            f"{roles.inputs} in {predictions} must not be missing, but they are",
        ),
        ("invalid_prediction", f"{roles.inputs} in {predictions}: {hint}, which they are not"),
        ("invalid_time", f"time in {roles.time!r} must be finite and not missing, which it is not"),
        (
            "invalid_order",
            f"order in {roles.order!r} must be finite and not missing, which it is not",
        ),
        ("missing_group", f"groups in {roles.groups!r} must not be missing, but they are"),
        ("missing_sequence", f"sequence in {roles.sequence!r} must not be missing, but it is"),
        (
            "invalid_weight",
            f"sample_weight in {roles.weight!r} must be from 0 to 1e20, which it is not",
        ),
        ("inexact_group", f"groups in {roles.groups!r}: {FLOAT_ID_HINT}, which they are"),
        ("inexact_sequence", f"sequence in {roles.sequence!r}: {FLOAT_ID_HINT}, which they are"),
        (
            "tiny_weight",
            f"sample_weight in {roles.weight!r} must be 0 or at least 1e-100, which it is not",
        ),
    ]
    for name, problem in problems:
        count = int(found[name].sum()) if name in found else 0
        if count:
            raise InputError(f"{problem} in {_count_text(count)}")
    if roles.weight is not None and found["weight"].sum() == 0:
        raise InputError(
            f"sample_weight in {roles.weight!r} is zero everywhere: some row must count"
        )


def _missing_label_text(found: Columns) -> str:
    labels = found["label"].tolist()
    missing = np.array([first_missing(np.array([value])) is not None for value in labels])
    return _count_text(int(found["n_rows"][missing].sum())) if missing.any() else ""


def _count_text(count: int) -> str:
    return f"{count} row{'s' * (count != 1)}"


def with_check_sums(frame: Frame, n_columns: int) -> Frame:
    """Add log-odds and the columns whose sums show whether two passes saw the same rows."""
    frame = add_log_odds(frame, n_columns)
    group = frame.collect_schema().get("group")
    # Tables in memory cannot change between passes.
    is_number = isinstance(frame, nw.LazyFrame) and group is not None and group.is_numeric()
    abs_ids = nw.col("group").cast(nw.Float64).abs() if is_number else nw.lit(0.0)
    return frame.with_columns(
        abs_log_odds=nw.col("log_odds").abs(), n_rows=nw.lit(1.0), abs_ids=abs_ids
    )


def add_log_odds(frame: Frame, n_columns: int) -> Frame:
    """Add the column ``log_odds`` of the second of two classes."""
    log_odds = nw.col("z0") if n_columns == 1 else nw.col("z1") - nw.col("z0")
    return frame.with_columns(log_odds=log_odds)

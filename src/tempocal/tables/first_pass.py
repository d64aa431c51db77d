"""The first pass over a table: all that arrays are checked for, label by label.

How many rows there are, which of them cannot be used, and between which numbers the others lie.
"""

from typing import Any

import narwhals as nw
import numpy as np

from tempocal.errors import InputError
from tempocal.formula import interpret
from tempocal.formula.input_columns import read_scores
from tempocal.inputs import LARGEST_TIME
from tempocal.inputs.arrays import first_missing
from tempocal.inputs.logits import LARGEST_LOGIT
from tempocal.inputs.weights import (
    FLOAT_ID_HINT,
    LARGEST_WEIGHT,
    LEAST_WEIGHT,
)
from tempocal.tables.column_roles import ColumnRoles
from tempocal.tables.narwhals_engine import NarwhalsEngine
from tempocal.tables.open_table import Frame
from tempocal.tables.transfer import Columns

# Whole numbers beyond this are no longer told apart by double.
LARGEST_INTEGER = 2.0**53


def census(raw: Frame, roles: ColumnRoles, largest_float: dict[str, float]) -> Frame:
    """Count and measure the rows of each label.

    ``largest_float`` is the bound of ids that are floats, by role.
    """
    engine = NarwhalsEngine()
    names = [f"x{k}" for k in range(len(roles.predictions))]
    read = read_scores(names, roles.inputs)
    values = {f"z{k}": interpret(each, engine, {}) for k, each in enumerate(read.values)}
    valid = interpret(read.valid, engine, {})
    empty = nw.any_horizontal(*(nw.col(name).is_null() for name in names), ignore_nulls=False)
    flags = {
        "empty": _flag(empty),
        "wrong": _flag(~empty) * (1 - _flag(valid)),
        "odd": _flag(nw.any_horizontal(*(_is_odd(name) for name in names), ignore_nulls=True)),
    }
    sums = ["empty", "wrong", "odd"]
    if roles.time is not None:
        time = nw.col("time")
        flags["lost"] = 1 - _flag(time.is_between(-LARGEST_TIME, LARGEST_TIME))
        # Doubles beyond 2**53 are whole, and too large for those engines whose floor is an integer.
        is_small = time.is_between(-LARGEST_INTEGER, LARGEST_INTEGER)
        flags["broken"] = nw.when(is_small).then(_flag(time != time.floor())).otherwise(nw.lit(0))
        sums += ["lost", "broken"]
    for flag, role in _ids_of(roles):
        ids, dtype = nw.col(role), raw.collect_schema()[role]
        flags[flag] = _flag(_is_missing(ids, dtype))
        sums.append(flag)
        if dtype.is_float():
            bound = largest_float["groups" if role == "group" else role]
            flags[f"{flag}_far"] = 1 - _flag(ids.is_between(-bound, bound))
            sums.append(f"{flag}_far")
    if roles.weight is not None:
        weight = nw.col("weight")
        flags["heavy"] = 1 - _flag(weight.is_between(0.0, LARGEST_WEIGHT))
        flags["light"] = _flag((weight > 0.0) & (weight < LEAST_WEIGHT))
        flags["none"] = _flag(weight == 0.0)
        sums += ["heavy", "light", "none"]
    frame = with_size(raw.with_columns(**values).with_columns(**flags), len(names))
    measures = [nw.col(name).sum() for name in (*sums, "size", "one", "ids")]
    for name in values:
        measures += [
            nw.col(name).min().alias(f"{name}_low"),
            nw.col(name).max().alias(f"{name}_high"),
        ]
    if roles.time is not None:
        measures += [nw.col("time").min().alias("first"), nw.col("time").max().alias("last")]
    if roles.weight is not None:
        measures.append(nw.col("weight").sum())
    return frame.group_by("label").agg(*measures)


def _ids_of(roles: ColumnRoles) -> list[tuple[str, str]]:
    """Flag and column of each kind of ids."""
    found = [("astray", "group", roles.groups), ("adrift", "sequence", roles.sequence)]
    return [(flag, role) for flag, role, name in found if name is not None]


def _flag(condition: nw.Expr) -> nw.Expr:
    return nw.when(condition).then(nw.lit(1)).otherwise(nw.lit(0))


def _is_odd(name: str) -> nw.Expr:
    """Tell infinities and the like, which must be read with care, from plain numbers."""
    return ~nw.col(name).is_between(-LARGEST_LOGIT, LARGEST_LOGIT)


def _is_missing(column: nw.Expr, dtype: Any) -> nw.Expr:
    return column.is_null() | column.is_nan() if dtype.is_float() else column.is_null()


def require_usable(found: Columns, roles: ColumnRoles) -> None:
    """Refuse rows that cannot be used, naming their column and how many there are."""
    if len(found["one"]) == 0:
        raise InputError("the table is empty: at least one row is needed")
    predictions = ", ".join(map(repr, roles.predictions))
    missing = _number_of_missing(found)
    if missing:
        raise InputError(f"label {roles.label!r} is missing in {missing}: no label may be missing")
    hint = (
        "a logit must be a number within 2**53 of zero, or inf for one certain class"
        if roles.inputs == "logits"
        else "probabilities must lie in [0, 1] and sum to 1 in every row"
    )
    troubles = [
        ("empty", f"{roles.inputs} in {predictions} must not be missing, but they are"),
        ("wrong", f"{roles.inputs} in {predictions}: {hint}, which they are not"),
        ("lost", f"time in {roles.time!r} must be finite and not missing, which it is not"),
        ("astray", f"groups in {roles.groups!r} must not be missing, but they are"),
        ("adrift", f"sequence in {roles.sequence!r} must not be missing, but it is"),
        ("heavy", f"sample_weight in {roles.weight!r} must be from 0 to 1e20, which it is not"),
        ("astray_far", f"groups in {roles.groups!r}: {FLOAT_ID_HINT}, which they are"),
        ("adrift_far", f"sequence in {roles.sequence!r}: {FLOAT_ID_HINT}, which they are"),
        (
            "light",
            f"sample_weight in {roles.weight!r} must be 0 or at least 1e-100, which it is not",
        ),
    ]
    for flag, trouble in troubles:
        count = int(found[flag].sum()) if flag in found else 0
        if count:
            raise InputError(f"{trouble} in {_rows(count)}")
    if roles.weight is not None and found["weight"].sum() == 0:
        raise InputError(
            f"sample_weight in {roles.weight!r} is zero everywhere: some row must count"
        )


def _number_of_missing(found: Columns) -> str:
    labels = found["label"].tolist()
    missing = np.array([first_missing(np.array([value])) is not None for value in labels])
    return _rows(int(found["one"][missing].sum())) if missing.any() else ""


def _rows(count: int) -> str:
    return f"{count} row{'s' * (count != 1)}"


def with_size(frame: Frame, n_columns: int) -> Frame:
    """Add the log-odds, their size, a one for each row, and the size of ids that are numbers."""
    frame = odds_of(frame, n_columns)
    group = frame.collect_schema().get("group")
    # Only what may change from pass to pass is added up.
    is_number = isinstance(frame, nw.LazyFrame) and group is not None and group.is_numeric()
    ids = nw.col("group").cast(nw.Float64).abs() if is_number else nw.lit(0.0)
    return frame.with_columns(size=nw.col("odds").abs(), one=nw.lit(1.0), ids=ids)


def odds_of(frame: Frame, n_columns: int) -> Frame:
    """Add the log-odds of the second of two classes, as ``odds``."""
    odds = nw.col("z0") if n_columns == 1 else nw.col("z1") - nw.col("z0")
    return frame.with_columns(odds=odds)

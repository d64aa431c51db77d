"""Soft labels in a table: rows are split by them, as those of arrays are.

A row becomes one for each class, with its share of the weight. The columns of the labels are
``s0``, ... as given, and ``y0``, ... of all classes, which sum to 1.
"""

from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from tempocal.errors import InputError
from tempocal.formula import interpret
from tempocal.formula.input_columns import read_scores
from tempocal.inputs import SMALLEST_PROBABILITY, check_classes
from tempocal.links import Array
from tempocal.tables.column_roles import ColumnRoles
from tempocal.tables.narwhals_engine import NarwhalsEngine, one_if
from tempocal.tables.open_table import Frame
from tempocal.tables.seconds import as_number
from tempocal.tables.transfer import Columns

SHARE = "share"


def soft_columns(roles: ColumnRoles, schema: Any) -> dict[str, nw.Expr]:
    """Return the columns of the labels, as given and for all classes."""
    n_classes = max(len(roles.predictions), 2)
    _require_columns(roles, n_classes)
    given = [_probability(name, schema[name]) for name in roles.soft_label]
    shares = [_without_crumbs(p) for p in ([1.0 - given[0], *given] if len(given) == 1 else given)]
    total = sum(shares[1:], shares[0])
    return {
        "label": nw.lit(0),
        **{f"s{k}": p for k, p in enumerate(given)},
        **{f"y{k}": share / total for k, share in enumerate(shares)},
    }


def label_flags(roles: ColumnRoles) -> dict[str, nw.Expr]:
    """Return what is wrong with the labels of a row, and whether they are those of one class."""
    names = [f"s{k}" for k in range(len(roles.soft_label))]
    valid = interpret(read_scores(names, "proba").valid, NarwhalsEngine(), {})
    missing = nw.any_horizontal(*(nw.col(name).is_null() for name in names), ignore_nulls=False)
    certain = [
        (nw.col(f"y{k}") == 0.0) | (nw.col(f"y{k}") == 1.0) for k in range(_n_classes(roles))
    ]
    return {
        "missing_label": one_if(missing),
        "invalid_label": one_if(~missing) * (1 - one_if(valid)),
        "fractional_label": 1 - one_if(nw.all_horizontal(*certain, ignore_nulls=False)),
    }


def share_sums(roles: ColumnRoles) -> dict[str, nw.Expr]:
    """Return columns whose sums are the rows and the weight of each class."""
    weight = nw.lit(1.0) if roles.weight is None else nw.col("weight")
    sums = {f"count{k}": nw.col(f"y{k}") * 1.0 for k in range(_n_classes(roles))}
    return sums | {f"weight{k}": nw.col(f"y{k}") * weight for k in range(_n_classes(roles))}


def read_share_sums(found: Columns, name: str, n_classes: int) -> Array:
    """Return the sum of each class that the first pass found."""
    return np.array([float(found[f"{name}{k}"].sum()) for k in range(n_classes)])


def soft_classes(roles: ColumnRoles, classes: Any) -> NDArray[Any]:
    """Return the class of each column: 0, 1, ... unless they are named."""
    n_classes = _n_classes(roles)
    return np.arange(n_classes) if classes is None else check_classes(classes, n_classes)


def most_probable(frame: Frame, n_classes: int) -> Frame:
    """Replace the label by the most probable class, the first of them in a tie."""
    names = [f"y{k}" for k in range(n_classes)]
    top = nw.max_horizontal(*names)
    code: Any = nw.lit(n_classes - 1)
    for k in reversed(range(n_classes - 1)):
        code = nw.when(nw.col(names[k]) == top).then(nw.lit(k)).otherwise(code)
    return frame.with_columns(label=code)


def split_by_class(frame: Frame, n_classes: int) -> Frame:
    """Split rows: one for each class, with its share of the weight.

    The shares of a row are dependent. Without groups each row becomes one.
    """
    names = frame.collect_schema().names()
    if "group" not in names:
        frame = _with_row_numbers(frame)
    weight = nw.col("weight") if "weight" in names else nw.lit(1.0)
    parts = [
        frame.with_columns(
            **{"label": nw.lit(k), SHARE: nw.col(f"y{k}"), "weight": weight * nw.col(f"y{k}")}
        ).filter(nw.col(SHARE) > 0.0)
        for k in range(n_classes)
    ]
    return nw.concat(parts)  # type: ignore[type-var]


def _with_row_numbers(frame: Frame) -> Frame:
    """Add a group for each row; in lazy tables by the values, which are the same in all passes."""
    if isinstance(frame, nw.DataFrame):
        return frame.with_row_index("group").with_columns(group=nw.col("group").cast(nw.Int64))
    values = [name for name in frame.collect_schema().names() if name != "label"]
    number = nw.col("one").cum_sum().over(order_by=values)
    return frame.with_columns(one=nw.lit(1.0)).with_columns(group=number.cast(nw.Int64)).drop("one")


def _probability(name: str, dtype: Any) -> nw.Expr:
    """Return a column of probabilities; integers and text look like class labels."""
    if dtype.is_float() or dtype.is_decimal():
        return as_number(name, dtype, "label")
    raise InputError(
        f"label {name!r} must hold probabilities as floats with soft_label=True, but its type is "
        f"{dtype}, as of class labels: leave soft_label out; or, if they are probabilities, cast "
        "them to floats"
    )


def _require_columns(roles: ColumnRoles, n_classes: int) -> None:
    width = len(roles.soft_label)
    if width == n_classes or (width == 1 and n_classes == 2):
        return
    one = "one of the second class's probability, or " if n_classes == 2 else ""
    raise InputError(
        f"label names {width} column{'s' if width != 1 else ''}, but the predictions are of "
        f"{n_classes} classes: with soft_label=True it must name {one}one for each class"
    )


def _without_crumbs(p: nw.Expr) -> nw.Expr:
    """Take what is less than a rounding error of the sum for zero, as in arrays."""
    return nw.when(p < SMALLEST_PROBABILITY).then(nw.lit(0.0)).otherwise(p)


def _n_classes(roles: ColumnRoles) -> int:
    return max(len(roles.predictions), 2)

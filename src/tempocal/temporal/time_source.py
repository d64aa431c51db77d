"""Extraction of the time: from a keyword or from columns of X, exactly one of the two."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from tempocal.errors import InputError
from tempocal.inputs import Times, as_array, check_time, require_moderate
from tempocal.kernels.min_max import min_max
from tempocal.predictor.document import TimeColumn


@dataclass(frozen=True)
class TimedPredictions:
    """Predictions without the time columns, and the times."""

    logits: Any
    times: Times


def extract_time(
    logits: Any, time: Any, time_column: TimeColumn | None, n_clocks: int
) -> TimedPredictions:
    """Separate the predictions from their times."""
    if time is not None and time_column is not None:
        raise InputError(
            f"time was passed, but time_column={time_column!r} says that it is in X: give one of "
            "the two"
        )
    if time_column is not None:
        return _split_columns(logits, time_column, n_clocks)
    if time is None:
        raise InputError(
            "time is missing: pass time=, the time of each row; or set time_column to the column "
            "of X that holds it, for instance within scikit-learn's cross-validation, which passes "
            "no keywords to predict_proba"
        )
    n_rows = count_rows(logits, "logits")
    times = check_time(time, n_rows, clocks=n_clocks, keep_int64=True)
    _refuse_time_among_logits(logits, times)
    return TimedPredictions(logits, require_moderate(times))


def _split_columns(X: Any, time_column: TimeColumn, n_clocks: int) -> TimedPredictions:
    columns: list[Any] = (
        list(time_column) if isinstance(time_column, tuple | list) else [time_column]
    )
    if len(columns) != n_clocks:
        raise InputError(
            f"time_column must name {n_clocks} column{'s' if n_clocks > 1 else ''}, but it is "
            f"{time_column!r}"
        )
    X = X if hasattr(X, "shape") else as_array(X, "X")
    if len(X.shape) != 2:
        raise InputError(
            f"X must have two dimensions to hold the time in column {time_column!r}, but its shape "
            f"is {X.shape}. Reshape your data"
        )
    if X.shape[1] == 0:
        raise InputError(
            f"X has 0 feature(s) (shape={tuple(X.shape)}) while a minimum of 1 is required."
        )
    indices = [_column_index(X, column) for column in columns]
    other_columns = [k for k in range(X.shape[1]) if k not in indices]
    if not other_columns:
        raise InputError(
            f"X has {X.shape[1]} feature(s) (shape={tuple(X.shape)}), all of them time, while a "
            "minimum of 1 is required for the predictions"
        )
    parts = tuple(_select_column(X, index) for index in indices)
    column = parts if n_clocks == 2 else parts[0]
    times = check_time(column, X.shape[0], clocks=n_clocks, keep_int64=True)
    return TimedPredictions(_select_columns(X, other_columns), require_moderate(times))


def _column_index(X: Any, column: Any) -> int:
    """Index of a column that is given by index or by name."""
    width = int(X.shape[1])
    if isinstance(column, str):
        names = [str(name) for name in getattr(X, "columns", [])]
        if not names:
            raise InputError(
                f"time_column is {column!r}, but X has no column names: give a position"
            )
        if column not in names:
            raise InputError(f"time_column is {column!r}, but the columns of X are {names}")
        return names.index(column)
    if isinstance(column, bool) or not isinstance(column, int | np.integer):
        raise InputError(f"time_column must be a position or a name, but it is {column!r}")
    if not -width <= column < width:
        raise InputError(
            f"time_column is {column}, but X has {width} feature(s): it must be from {-width} to "
            f"{width - 1}"
        )
    return int(column) % width


def _select_column(X: Any, index: int) -> Any:
    """Select one column of an array or a data frame."""
    if hasattr(X, "iloc"):
        return X.iloc[:, index]
    if hasattr(X, "columns"):
        return X[X.columns[index]]
    return as_array(X, "X")[:, index]


def _select_columns(X: Any, indices: list[int]) -> Any:
    """Select columns of an array or a data frame, keeping their names."""
    if hasattr(X, "iloc"):
        return X.iloc[:, indices]
    if hasattr(X, "columns"):
        return X[[X.columns[index] for index in indices]]
    return as_array(X, "X")[:, indices]


def count_rows(values: Any, name: str) -> int:
    """Return the number of rows."""
    shape = getattr(values, "shape", None)
    if shape:
        return int(shape[0])
    if shape == () or not hasattr(values, "__len__"):
        raise InputError(
            f"{name} must be an array with an entry for each row, but a single one came: "
            f"{values!r:.80}. Reshape your data: one row is [...]"
        )
    return len(values)


def _refuse_time_among_logits(logits: Any, times: Times) -> None:
    """Refuse predictions if one of their columns equals the time."""
    if len(getattr(logits, "shape", ())) != 2 or logits.shape[1] < 2 or times.values.ndim != 1:
        return
    low, high = times.time_range or min_max(times.values)
    if low == high:
        return
    for index in range(logits.shape[1]):
        column = as_array(_select_column(logits, index), "logits")
        if column.dtype.kind in "fiu" and np.array_equal(column, times.values):
            raise InputError(
                f"column {index} of the predictions is the time itself: leave it out, or say "
                f"time_column={index} instead of time="
            )

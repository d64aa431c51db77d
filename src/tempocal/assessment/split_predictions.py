"""Past predictions as arrays, and their split by group into training and held-out rows."""

import re
from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from tempocal.errors import InputError
from tempocal.inputs import (
    Times,
    as_array,
    can_be_ordered,
    check_classes,
    check_flag,
    check_labels,
    check_seed,
    check_sequence_and_groups,
    check_sequence_order,
    check_soft_labels,
    check_time,
    check_weights,
    encode_labels,
    from_seconds,
    require_same_length,
)
from tempocal.sequences import split_by_sequence, split_in_time

# Share of the groups that calibrators are fitted to, and a number of rows that is enough for it.
FIT_SHARE, ENOUGH_ROWS = 0.5, 200_000
# Fewest groups on either side of the split.
MIN_GROUPS = 10
# How rows were split, if not at random.
IN_TIME, BY_COLUMN = "in time: fitted to those that began first", "by the given column"


@dataclass(frozen=True, eq=False)
class PastPredictions:
    """Predictions with known labels; None for columns that were not given."""

    predictions: NDArray[Any]  # (n,) or (n, K): logits or probabilities, as given
    label: NDArray[Any]  # (n,) classes, or (n, K) soft labels
    time: NDArray[Any]  # numbers, datetime64 or timedelta64
    group: NDArray[Any] | None  # independent clusters
    sequence: NDArray[Any] | None
    weight: NDArray[Any] | None
    order: NDArray[Any] | None = None  # puts the rows of a sequence in order
    versus: NDArray[Any] | None = None  # a second set of predictions

    @property
    def soft_label(self) -> bool:
        """Whether labels are probabilities."""
        return self.label.ndim == 2

    def take(self, rows: NDArray[np.intp]) -> Self:
        """Return a subset of the rows."""
        taken: dict[str, Any] = {}
        for field in fields(self):
            column = getattr(self, field.name)
            taken[field.name] = None if column is None else column[rows]
        return type(self)(**taken)

    def __len__(self) -> int:
        return len(self.label)


def check_columns(
    predictions: Any,
    y: Any,
    *,
    time: Any,
    sequence: Any,
    order: Any,
    groups: Any,
    sample_weight: Any,
    soft_label: bool = False,
) -> PastPredictions:
    """Convert the arguments to arrays of equal length; their values are checked by the fits."""
    columns = as_array(predictions, "predictions")
    n_rows = len(columns) if columns.ndim else 0
    times = check_time(time, n_rows)
    clusters = sequence if groups is None else groups
    check_sequence_and_groups(sequence, groups, n_rows)
    n_columns = columns.shape[1] if columns.ndim == 2 else 1
    is_soft = check_flag(soft_label, "soft_label")
    return PastPredictions(
        columns,
        check_soft_labels(y, n_rows, n_columns, None).proba if is_soft else check_labels(y, n_rows),
        from_seconds(times.values, times.kinds[0]),
        None if clusters is None else as_array(clusters, "groups"),
        None if sequence is None else as_array(sequence, "sequence"),
        check_weights(sample_weight, n_rows),
        _order(sequence, order, times, n_rows),
    )


def _order(sequence: Any, order: Any, times: Times, n_rows: int) -> NDArray[Any] | None:
    """Return what puts the rows of a sequence in order: by default the time, if it can."""
    if order is not None:
        check_sequence_order(sequence, n_rows, order=order)
        return check_time(order, n_rows, name="order").values
    if sequence is None or not can_be_ordered(sequence, n_rows, times=times):
        return None
    return times.values


def find_classes(past: PastPredictions, classes: Any) -> NDArray[Any]:
    """Return the classes of all rows, so that both parts of the split have the same."""
    if past.soft_label:
        n_classes = past.label.shape[1]
        return np.arange(n_classes) if classes is None else check_classes(classes, n_classes)
    n_columns = 1 if past.predictions.ndim == 1 else past.predictions.shape[1]
    return encode_labels(past.label, classes, max(n_columns, 2)).classes


@dataclass(frozen=True, eq=False)
class SplitBy:
    """How to split, if not at random: columns of arrays, or of a table by their names."""

    in_time: Any = None
    column: Any = None

    def __post_init__(self) -> None:
        if self.in_time is not None and self.column is not None:
            raise InputError(
                "split_in_time and split_column both say how to split: give one of them"
            )


def split(
    past: PastPredictions, by: SplitBy, seed: int
) -> tuple[PastPredictions, PastPredictions, str]:
    """Split into training and held-out rows, and say how; a group is never split."""
    seed, grouped = check_seed(seed), past.group is not None
    ids = np.arange(len(past)) if past.group is None else past.group
    shares = split_shares(len(past), len(np.unique(ids)), grouped=grouped)
    if by.in_time is not None:
        starts = as_array(by.in_time, "split_in_time")
        require_same_length(starts, "split_in_time", len(past), "y has")
        training, held_out = split_by_start(starts, ids, shares)
        how = IN_TIME
    elif by.column is not None:
        marks = check_column(by.column, len(past))
        training, held_out = _split_by_column(marks, ids, grouped)
        how = BY_COLUMN
    else:
        training, held_out = split_by_sequence(ids, shares, seed=seed)
        how = "at random"
    return past.take(training), past.take(held_out), how


def split_by_start(
    starts: Any, ids: NDArray[Any], shares: tuple[float, float]
) -> list[NDArray[np.intp]]:
    """Split in time, in the words of the argument ``split_in_time``."""
    try:
        return list(split_in_time(starts, ids, shares))
    except InputError as error:
        raise InputError(re.sub(r"^start\b", "split_in_time", str(error))) from error


def check_column(column: Any, n_rows: int) -> NDArray[np.bool_]:
    """Return a column of true and false, or of 1 and 0."""
    given = as_array(column, "split_column")
    if given.shape != (n_rows,):
        raise InputError(
            f"split_column must have one value for each of {n_rows} rows, but its shape is "
            f"{given.shape}"
        )
    found = np.unique(given)
    if given.dtype.kind not in "biuf" or not np.isin(found, (0, 1)).all():
        raise InputError(
            "split_column must be True in the rows to evaluate on and False in those to fit to, "
            f"but it holds {found[:5].tolist()!r:.80}"
        )
    return given.astype(bool)


def _split_by_column(
    held_out: NDArray[np.bool_], ids: NDArray[Any], grouped: bool
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    codes = np.unique(ids, return_inverse=True)[1]
    count, marked = np.bincount(codes), np.bincount(codes, held_out)
    what = "group" if grouped else "row"
    if ((marked > 0) & (marked < count)).any():
        raise InputError(
            "split_column must be the same in all rows of a group: what is fitted to would "
            "otherwise be seen again"
        )
    require_groups(int((marked == 0).sum()), int((marked > 0).sum()), what)
    return np.flatnonzero(~held_out), np.flatnonzero(held_out)


def require_groups(n_training: int, n_held_out: int, what: str) -> None:
    """Refuse a split by column with too few groups on a side."""
    if min(n_training, n_held_out) < MIN_GROUPS:
        raise InputError(
            f"split_column leaves {n_training} {what}s to fit to and {n_held_out} to evaluate on: "
            f"at least {MIN_GROUPS} are needed on each side"
        )


def split_shares(n_rows: int, n_groups: int, *, grouped: bool) -> tuple[float, float]:
    """Share of the groups in the training part and in the held-out part."""
    if n_groups < 2 * MIN_GROUPS:
        what = "groups" if grouped else "rows"
        raise InputError(
            f"there are only {n_groups} {what}: at least {2 * MIN_GROUPS} are needed, to fit to "
            "one half and judge on the other"
        )
    share = min(FIT_SHARE, ENOUGH_ROWS / n_rows)
    share = max(share, MIN_GROUPS / n_groups)
    return share, 1.0 - share

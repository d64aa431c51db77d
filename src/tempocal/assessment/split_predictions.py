"""Past predictions as arrays, and their split by group into training and held-out rows."""

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
)
from tempocal.sequences import split_by_sequence

# Share of the groups that calibrators are fitted to, and a number of rows that is enough for it.
FIT_SHARE, ENOUGH_ROWS = 0.5, 200_000
# Fewest groups on either side of the split.
MIN_GROUPS = 10


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


def split(past: PastPredictions, seed: int) -> tuple[PastPredictions, PastPredictions]:
    """Split at random into training and held-out rows; a group is never split."""
    ids = np.arange(len(past)) if past.group is None else past.group
    shares = split_shares(len(past), len(np.unique(ids)), grouped=past.group is not None)
    training, held_out = split_by_sequence(ids, shares, seed=check_seed(seed))
    return past.take(training), past.take(held_out)


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

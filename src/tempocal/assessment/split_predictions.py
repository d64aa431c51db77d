"""Past predictions as arrays, and their split into a part to fit to and a part to judge on."""

from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from tempocal.errors import InputError
from tempocal.inputs import (
    as_array,
    check_groups,
    check_labels,
    check_seed,
    check_time,
    check_weights,
    encode_labels,
    from_seconds,
    require_whole,
)
from tempocal.sequences import split_by_sequence

# Share of the groups that calibrators are fitted to, and about how many rows are enough for that.
FIT_SHARE, ENOUGH_ROWS = 0.5, 200_000
# With fewer groups on either side nothing can be told apart.
FEWEST_GROUPS = 10


@dataclass(frozen=True, eq=False)
class PastPredictions:
    """Rows of predictions whose outcomes are known; None where a column was not given."""

    scores: NDArray[Any]  # (n,) or (n, K), as they came
    label: NDArray[Any]
    time: NDArray[Any]  # numbers, datetime64 or timedelta64
    group: NDArray[Any] | None  # independent clusters
    sequence: NDArray[Any] | None
    weight: NDArray[Any] | None

    def take(self, rows: NDArray[np.intp]) -> Self:
        """Return some of the rows."""
        taken: dict[str, Any] = {}
        for field in fields(self):
            column = getattr(self, field.name)
            taken[field.name] = None if column is None else column[rows]
        return type(self)(**taken)

    def __len__(self) -> int:
        return len(self.label)


def check_past(
    scores: Any, y: Any, *, time: Any, sequence: Any, groups: Any, sample_weight: Any
) -> PastPredictions:
    """Turn what a user passed into arrays of one length; what they hold is checked by the fits."""
    predictions = as_array(scores, "predictions")
    n_rows = len(predictions) if predictions.ndim else 0
    times = check_time(time, n_rows)
    clusters = sequence if groups is None else groups
    own, coarser = check_groups(sequence, n_rows, "sequence"), check_groups(groups, n_rows)
    if own is not None and coarser is not None:
        require_whole(own, coarser, sequence)
    return PastPredictions(
        predictions,
        check_labels(y, n_rows),
        from_seconds(times.values, times.kinds[0]),
        None if clusters is None else as_array(clusters, "groups"),
        None if sequence is None else as_array(sequence, "sequence"),
        check_weights(sample_weight, n_rows),
    )


def find_classes(past: PastPredictions, classes: Any) -> NDArray[Any]:
    """Return the classes, so that both halves have the same whatever labels they hold."""
    columns = 1 if past.scores.ndim == 1 else past.scores.shape[1]
    return encode_labels(past.label, classes, max(columns, 2)).classes


def split(past: PastPredictions, seed: int) -> tuple[PastPredictions, PastPredictions]:
    """Split at random, all rows of a group on the same side."""
    ids = np.arange(len(past)) if past.group is None else past.group
    shares = shares_of_parts(len(past), len(np.unique(ids)), grouped=past.group is not None)
    fitted, judged = split_by_sequence(ids, shares, seed=check_seed(seed))
    return past.take(fitted), past.take(judged)


def shares_of_parts(n_rows: int, n_groups: int, *, grouped: bool) -> tuple[float, float]:
    """Share of the groups to fit to, and to judge on."""
    if n_groups < 2 * FEWEST_GROUPS:
        what = "groups" if grouped else "rows"
        raise InputError(
            f"there are only {n_groups} {what}: at least {2 * FEWEST_GROUPS} are needed, to fit to "
            "one half and judge on the other"
        )
    share = min(FIT_SHARE, ENOUGH_ROWS / n_rows)
    share = max(share, FEWEST_GROUPS / n_groups)
    return share, 1.0 - share

"""What every metric starts from: probabilities, codes of the labels, and weights of the rows."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tempocal.inputs import (
    Codes,
    Groups,
    Times,
    check_groups,
    check_labels,
    check_proba,
    check_time,
    check_weights,
    encode_labels,
    require_column_order,
    warn_of_light_weights,
)
from tempocal.links import Array

# Small enough to stay in the cache of a core, large enough that Python's loop costs nothing.
BLOCK_NUMBERS = 2**16
# Loss of each row, given (proba, codes).
RowLoss = Callable[[Array, Codes], Array]


@dataclass(frozen=True, eq=False)
class Predictions:
    """Rows that passed the door; those of weight zero are gone."""

    proba: Array  # (n, K)
    codes: Codes  # (n,) columns of the true classes
    weight: Array | None  # (n,) or None where every row counts once
    classes: NDArray[Any]  # (K,)
    kept: NDArray[np.bool_] | None = None  # of the rows that came; None for all

    @property
    def n_classes(self) -> int:
        """Number of columns."""
        return int(self.proba.shape[1])

    def take(self, part: slice | Codes) -> "Predictions":
        """Return some of the rows."""
        weight = None if self.weight is None else self.weight[part]
        return Predictions(self.proba[part], self.codes[part], weight, self.classes)

    def mean(self, loss: RowLoss) -> float:
        """Weighted mean over rows of a loss that is given (proba, codes), block by block."""
        totals = []
        for part in row_blocks(len(self.codes), self.n_classes):
            losses = loss(self.proba[part], self.codes[part])
            totals.append(losses.sum() if self.weight is None else losses @ self.weight[part])
        count = len(self.codes) if self.weight is None else self.weight.sum()
        return float(math.fsum(totals) / count)


def check_predictions(
    y: ArrayLike, proba: ArrayLike, sample_weight: ArrayLike | None, classes: ArrayLike | None
) -> Predictions:
    """Take what a user passed through the door."""
    checked = check_proba(proba)
    labels = check_labels(y, len(checked))
    codes, found, _ = encode_labels(labels, classes, checked.shape[1])
    require_column_order(proba, found, "proba")
    weight = check_weights(sample_weight, len(checked))
    warn_of_light_weights(weight)
    # A row that counts zero times must not shift a quantile, nor add 0 * infinity to a sum.
    kept = None
    if weight is not None and not weight.all():
        kept = weight > 0
        checked, codes, weight = checked[kept], codes[kept], weight[kept]
    return Predictions(checked, codes, weight, found, kept)


def check_groups_of(rows: Predictions, groups: ArrayLike | None) -> Groups | None:
    """Take the groups of these rows through the door."""
    found = check_groups(groups, _came(rows))
    return found if found is None or rows.kept is None else found.take(rows.kept)


def check_time_of(rows: Predictions, time: Any) -> Times:
    """Take the times of these rows through the door."""
    times = check_time(time, _came(rows))
    return times if rows.kept is None else Times(times.values[rows.kept], times.kinds)


def _came(rows: Predictions) -> int:
    return len(rows.codes) if rows.kept is None else len(rows.kept)


def row_blocks(n_rows: int, n_columns: int = 1) -> Iterator[slice]:
    """Slices of rows that hold about `BLOCK_NUMBERS` numbers each."""
    step = max(BLOCK_NUMBERS // n_columns, 1)
    for start in range(0, n_rows, step):
        yield slice(start, start + step)

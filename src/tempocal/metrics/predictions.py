"""Checked input of the metrics: probabilities, label codes and weights."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tempocal.errors import InputError
from tempocal.inputs import (
    Codes,
    Groups,
    Inputs,
    SoftLabels,
    Times,
    check_flag,
    check_labels,
    check_predicted,
    check_sequence_and_groups,
    check_soft_labels,
    check_time,
    check_weights,
    encode_labels,
    require_column_order,
    warn_of_light_weights,
)
from tempocal.links import Array
from tempocal.metrics.time_bins import Bins, TimeBins, cut_times

# A block fits into the cache of a core, and is long enough for the Python loop to cost nothing.
BLOCK_NUMBERS = 2**16

# What two sets of predictions hold, if not the same.
PairedInputs = Inputs | tuple[Inputs, Inputs]


@dataclass(frozen=True, eq=False)
class CheckedPredictions:
    """Checked predictions; rows of weight zero are dropped."""

    proba: Array  # (n, K)
    codes: Codes  # (n,) columns of the true classes
    weight: Array | None  # (n,) or None for weights of 1
    classes: NDArray[Any]  # (K,)
    kept: NDArray[np.bool_] | None = None  # mask of the input rows; None if all are kept
    soft: SoftLabels | None = None  # soft labels, unless all are certain
    row: Codes | None = None  # of rows that were split: which of the kept rows each is a share of
    surprisal: Array | None = None  # (n, K) -log p of each class, if logits were given

    @property
    def n_classes(self) -> int:
        """Number of columns."""
        return int(self.proba.shape[1])

    def take(self, part: slice | Codes) -> "CheckedPredictions":
        """Return a subset of the rows."""
        weight = None if self.weight is None else self.weight[part]
        return CheckedPredictions(
            self.proba[part], self.codes[part], weight, self.classes, surprisal=_part(self, part)
        )

    def split(self) -> "CheckedPredictions":
        """Split rows by their soft labels: one for each class, with its share of the weight."""
        if self.soft is None:
            return self
        row, codes, share = self.soft.split()
        kept = np.ones(len(self.codes), dtype=bool) if self.kept is None else self.kept
        weight = share if self.weight is None else share * self.weight[row]
        return CheckedPredictions(
            self.proba[row],
            codes,
            weight,
            self.classes,
            kept,
            row=row,
            surprisal=_part(self, row),
        )


def check_predictions(
    y: ArrayLike,
    proba: ArrayLike,
    sample_weight: ArrayLike | None,
    classes: ArrayLike | None,
    *,
    soft_label: bool = False,
    inputs: Inputs = "proba",
    name: str = "proba",
) -> CheckedPredictions:
    """Check the labels, probabilities or logits, and weights that a user passed."""
    predicted = check_predicted(proba, inputs, name)
    checked, surprisal = predicted.proba, predicted.surprisal
    soft = None
    if check_flag(soft_label, "soft_label"):
        soft = check_soft_labels(y, len(checked), checked.shape[1], classes)
        codes, found = soft.codes, soft.classes
        require_column_order(y, found, "y")
    else:
        labels = check_labels(y, len(checked))
        codes, found, _ = encode_labels(labels, classes, checked.shape[1])
    require_column_order(proba, found, name)
    weight = check_weights(sample_weight, len(checked))
    warn_of_light_weights(weight)
    # Rows of weight zero would shift quantiles, and could add 0 * infinity to a sum.
    kept = None
    if weight is not None and not weight.all():
        kept = weight > 0
        checked, codes, weight = checked[kept], codes[kept], weight[kept]
        soft = None if soft is None else soft.take(kept)
        surprisal = None if surprisal is None else surprisal[kept]
    soft = None if soft is None or soft.are_hard else soft
    return CheckedPredictions(checked, codes, weight, found, kept, soft, surprisal=surprisal)


def check_paired_inputs(inputs: PairedInputs) -> tuple[Inputs, Inputs]:
    """Return what the predictions before and after hold."""
    kinds: Any = (inputs, inputs) if isinstance(inputs, str) else inputs
    are_two = isinstance(kinds, tuple | list) and len(kinds) == 2
    if not are_two or not all(isinstance(k, str) and k in ("logits", "proba") for k in kinds):
        raise InputError(
            'inputs must be "logits" or "proba", or a pair of them, for before and after, but it '
            f"is {inputs!r}"
        )
    return kinds[0], kinds[1]


def check_pair(
    y: ArrayLike,
    before: ArrayLike,
    after: ArrayLike,
    sample_weight: ArrayLike | None,
    classes: ArrayLike | None,
    *,
    soft_label: bool = False,
    inputs: PairedInputs = "proba",
) -> tuple[CheckedPredictions, CheckedPredictions]:
    """Check two sets of predictions of the same rows; shares of soft labels are rows."""
    kinds = check_paired_inputs(inputs)
    found = [
        check_predictions(
            y, given, sample_weight, classes, soft_label=soft_label, inputs=kind, name=name
        )
        for given, kind, name in zip((before, after), kinds, ("before", "after"), strict=True)
    ]
    old, new = found
    return old.split(), new.split()


def check_groups_of(
    rows: CheckedPredictions, groups: ArrayLike | None, sequence: ArrayLike | None = None
) -> Groups | None:
    """Check what is independent among these rows: groups, or else sequences."""
    found = check_sequence_and_groups(sequence, groups, _n_input_rows(rows))
    if found is not None and rows.kept is not None:
        found = found.take(rows.kept)
    if rows.row is None:
        return found
    # The shares of a row are dependent.
    return Groups(rows.row, int(rows.row.max()) + 1) if found is None else found.take(rows.row)


def check_time_of(rows: CheckedPredictions, time: Any) -> Times:
    """Check the times of these rows."""
    times = check_time(time, _n_input_rows(rows))
    values = times.values if rows.kept is None else times.values[rows.kept]
    return Times(values if rows.row is None else values[rows.row], times.kinds)


def cut_rows(rows: CheckedPredictions, time: Any, bins: Bins) -> TimeBins:
    """Cut the time of these rows into bins; shares of one row count as one."""
    found = cut_times(check_time_of(rows, time), rows.weight, bins)
    if rows.row is None:
        return found
    codes = found.codes[np.unique(rows.row, return_index=True)[1]]
    return replace(found, n_rows=np.bincount(codes, minlength=found.count))


def check_two_classes(of: str, n_classes: int, instead: str) -> None:
    """Refuse ``of="positive_class"`` with more than two classes."""
    if of == "positive_class" and n_classes != 2:
        raise InputError(
            f'of="positive_class" needs two classes, but proba has {n_classes}: use {instead}'
        )


def check_level(level: Any) -> None:
    """Refuse a confidence level outside (0, 1)."""
    if not isinstance(level, int | float | np.number) or not 0.0 < level < 1.0:
        raise InputError(f"level must lie between 0 and 1, but it is {level!r}")


def _part(rows: CheckedPredictions, part: slice | Codes) -> Array | None:
    return None if rows.surprisal is None else rows.surprisal[part]


def _n_input_rows(rows: CheckedPredictions) -> int:
    return len(rows.codes) if rows.kept is None else len(rows.kept)


def row_blocks(n_rows: int, n_columns: int = 1) -> Iterator[slice]:
    """Slices of rows with about `BLOCK_NUMBERS` numbers each."""
    step = max(BLOCK_NUMBERS // n_columns, 1)
    for start in range(0, n_rows, step):
        yield slice(start, start + step)

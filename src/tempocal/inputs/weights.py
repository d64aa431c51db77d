"""Validation of sample weights and group ids."""

from collections.abc import Hashable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tempocal.errors import InputError, LightWeightsWarning, warn_user
from tempocal.inputs.arrays import (
    as_array,
    as_float64,
    first_missing,
    require_finite,
    require_same_length,
)
from tempocal.inputs.labels import Codes
from tempocal.kernels.codes import as_narrow_ints, codes_in_blocks, renumbered
from tempocal.kernels.min_max import min_max
from tempocal.links import Array

# A mean weight below this causes a warning, with at least this many rows.
LIGHT_WEIGHT, MIN_ROWS_TO_WARN = 0.05, 20
# Integer ids are counted instead of sorted if their span is at most this many times the rows.
MAX_SPAN_PER_ROW = 1
# If ids change in at most this share of the rows, only the first row of each run is sorted.
MAX_RUN_SHARE = 0.25
# Ids that are processed at a time.
BLOCK = 2**17
# Other weights could overflow or underflow.
LEAST_WEIGHT, LARGEST_WEIGHT = 1e-100, 1e20
# Floats beyond this may be several ids rounded to one.
LARGEST_FLOAT_ID = 2.0**53
FLOAT_ID_HINT = "ids that are floats must be so small that none is rounded: pass others as text"


@dataclass(frozen=True)
class Groups:
    """Group of each row: codes 0, 1, ..., count - 1 in the order of the ids."""

    codes: Codes
    count: int

    def take(self, kept: NDArray[Any]) -> "Groups":
        """Select rows, and renumber their groups."""
        return _without_gaps(self.codes[kept], self.count)


def check_weights(sample_weight: Any, n_rows: int, name: str = "sample_weight") -> Array | None:
    """Return weights as float64, or None if every row has weight 1."""
    if sample_weight is None:
        return None
    weights = as_float64(sample_weight, name)
    require_same_length(weights, name, n_rows, "the predictions")
    require_finite(weights, name)
    if weights.min() < 0:
        row = int(np.argmax(weights < 0))
        raise InputError(f"{name} must not be negative, but row {row} has {weights[row]:g}")
    if weights.max() == 0:
        raise InputError(f"{name} is zero everywhere: some row must count")
    least = float(weights.min(where=weights > 0, initial=1.0))
    if least < LEAST_WEIGHT or weights.max() > LARGEST_WEIGHT:
        raise InputError(
            f"{name} must be 0 or from {LEAST_WEIGHT:g} to {LARGEST_WEIGHT:g}, but it goes from "
            f"{least:g} to {weights.max():g}: divide it by its largest, and let the least be 0"
        )
    # A column of a table may not be contiguous.
    return np.ascontiguousarray(weights)


def warn_of_light_weights(weights: Array | None) -> None:
    """Warn if the total weight is far below the number of rows, as of weights that sum to 1."""
    if weights is None or len(weights) < MIN_ROWS_TO_WARN:
        return
    if weights.sum() < LIGHT_WEIGHT * np.count_nonzero(weights):
        warn_user(
            f"sample_weight sums to {weights.sum():.3g} over {np.count_nonzero(weights)} rows. A "
            "weight is how often a row was seen, so that is all these rows count for; multiply the "
            "weights so that their mean is 1, if each is a row of its own",
            LightWeightsWarning,
        )


def require_nested_sequences(
    sequences: Groups, groups: Groups, ids: Any, name: str = "groups"
) -> None:
    """Refuse groups that split a sequence; ``ids`` are those of the sequences."""
    group_of_sequence = np.empty(sequences.count, dtype=np.intp)
    group_of_sequence[sequences.codes] = groups.codes
    differs = group_of_sequence[sequences.codes] != groups.codes
    if differs.any():
        which = as_array(ids, "sequence")[int(np.argmax(differs))]
        raise InputError(
            f"{name} must be the same in all rows of a sequence, but it differs within the "
            f"sequence {which}: a group holds whole sequences"
        )


def check_groups(
    groups: Any, n_rows: int, name: str = "groups", *, narrow: bool = False
) -> Groups | None:
    """Return group codes, or None if rows are independent.

    With ``narrow`` the codes may be of any integer type, and may be the ids themselves (do not
    write to them); else they are an int64 copy.
    """
    if groups is None:
        return None
    ids: NDArray[Any] = as_array(groups, name)
    require_same_length(ids, name, n_rows, "the predictions")
    row = first_missing(ids)
    if row is not None:
        raise InputError(f"{name} contains a missing id (first at row {row}): every row needs one")
    _require_distinct_ids(ids, name)
    found = _encode(ids, name)
    if narrow:
        return found
    copied = np.may_share_memory(found.codes, ids)
    return replace(found, codes=found.codes.astype(np.intp, copy=copied))


def _require_distinct_ids(ids: NDArray[Any], name: str) -> None:
    """Refuse floats so large that several ids may be one, and values that cannot be ids."""
    if ids.dtype.kind == "f" and len(ids):
        low, high = (float(value) for value in min_max(ids))
        bound: float = min(2.0 ** int(np.finfo(ids.dtype).nmant + 1), LARGEST_FLOAT_ID)
        row = int(np.argmax(np.abs(ids) > bound)) if max(high, -low) > bound else None
    elif ids.dtype.kind == "O":
        invalid = (k for k, id_ in enumerate(ids) if type(id_) is not str and _is_invalid(id_))
        row = next(invalid, None)
    else:
        return
    if row is None:
        return
    if not isinstance(ids[row], Hashable):
        raise InputError(f"{name} must be ids: numbers, text or dates, but it has {ids[row]!r}")
    raise InputError(f"{name} has {ids[row]:g} in row {row}: {FLOAT_ID_HINT}")


def _is_invalid(value: Any) -> bool:
    if isinstance(value, float | np.floating):
        return abs(float(value)) > LARGEST_FLOAT_ID
    return not isinstance(value, Hashable)


def _encode(ids: NDArray[Any], name: str) -> Groups:
    if ids.dtype.kind in "iu" and len(ids):
        low, high = (int(value) for value in min_max(ids))
        if high - low < MAX_SPAN_PER_ROW * len(ids):
            return _encode_by_counting(ids, low, high)
    if ids.dtype.kind == "O":
        try:
            found, codes = np.unique(ids, return_inverse=True)
        except (TypeError, ValueError) as error:
            raise InputError(f"{name} mixes ids that cannot be ordered: {error}") from error
        return Groups(codes, len(found))
    return _encode_by_sorting(ids)


def _encode_by_sorting(ids: NDArray[Any]) -> Groups:
    """Sort the ids, or only the first of each run if those are few."""
    is_first = np.ones(len(ids), dtype=bool)
    is_first[1:] = ids[1:] != ids[:-1]
    runs = (
        np.flatnonzero(is_first) if np.count_nonzero(is_first) <= MAX_RUN_SHARE * len(ids) else None
    )
    del is_first
    if runs is not None:
        found, codes = np.unique(ids[runs], return_inverse=True)
        lengths = np.diff(runs, append=len(ids))
        return Groups(np.repeat(as_narrow_ints(codes, len(found)), lengths), len(found))
    found = np.unique(ids)
    codes = codes_in_blocks(lambda block: np.searchsorted(found, block), ids, len(found))
    return Groups(codes, len(found))


def _encode_by_counting(ids: NDArray[Any], low: int, high: int) -> Groups:
    """Encode integers of a small span without sorting them."""
    span = high - low + 1
    if low == 0 and ids.dtype == np.intp:
        return _without_gaps(np.require(ids, requirements=["C", "A"]), span)
    # In a narrow type a difference can overflow.
    wide = ids.dtype if ids.dtype.itemsize == 8 else np.int64
    codes = codes_in_blocks(lambda block: block.astype(wide) - low, ids, span)
    return _without_gaps(codes, span, in_place=True)


def _without_gaps(codes: Codes, span: int, *, in_place: bool = False) -> Groups:
    """Renumber codes below ``span`` so that each of them occurs."""
    occurs = np.zeros(span, dtype=bool)
    for start in range(0, len(codes), BLOCK):
        occurs[codes[start : start + BLOCK]] = True
    if not occurs.all():
        codes = renumbered(codes, occurs, in_place=in_place)
    return Groups(codes, int(occurs.sum()))

"""Weights of rows and the groups that rows belong to."""

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
from tempocal.kernels.codes import in_blocks, in_few_bytes, renumbered
from tempocal.kernels.extremes import extremes
from tempocal.links import Array

# A mean weight below this is worth a word, unless the rows are few.
LIGHT, FEW = 0.05, 20
# Ids that are whole numbers within so many times the number of rows are counted, not sorted.
SPAN_A_ROW = 1
# Where ids change in so few of the rows, those between are not sorted.
FEW_RUNS = 0.25
# Ids that are looked at together.
BLOCK = 2**17
# What lies beyond these would overflow somewhere, or vanish.
LEAST_WEIGHT, LARGEST_WEIGHT = 1e-100, 1e20
# Floats beyond this may be several ids that were rounded to one.
LARGEST_FLOAT_ID = 2.0**53
FLOAT_ID_HINT = "ids that are floats must be so small that none is rounded: pass others as text"


@dataclass(frozen=True)
class Groups:
    """Which group each row belongs to: codes 0, 1, ..., count - 1 in the order of the ids."""

    codes: Codes
    count: int

    def take(self, kept: NDArray[Any]) -> "Groups":
        """Keep some of the rows; their groups are numbered anew."""
        return _numbered(self.codes[kept], self.count)


def check_weights(sample_weight: Any, n_rows: int, name: str = "sample_weight") -> Array | None:
    """Return weights as float64, or None where every row counts once."""
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
    # One after the other in memory, as a column of a table is not.
    return np.ascontiguousarray(weights)


def warn_of_light_weights(weights: Array | None) -> None:
    """Say so where weights, summing to 1 perhaps, make all rows together count as few."""
    if weights is None or len(weights) < FEW:
        return
    if weights.sum() < LIGHT * np.count_nonzero(weights):
        warn_user(
            f"sample_weight sums to {weights.sum():.3g} over {np.count_nonzero(weights)} rows. A "
            "weight is how often a row was seen, so that is all these rows count for; multiply the "
            "weights so that their mean is 1, if each is a row of its own",
            LightWeightsWarning,
        )


def require_whole(sequences: Groups, groups: Groups, ids: Any, name: str = "groups") -> None:
    """Refuse groups that cut through a sequence; ``ids`` are those of the sequences."""
    of_sequence = np.empty(sequences.count, dtype=np.intp)
    of_sequence[sequences.codes] = groups.codes
    other = of_sequence[sequences.codes] != groups.codes
    if other.any():
        which = as_array(ids, "sequence")[int(np.argmax(other))]
        raise InputError(
            f"{name} must be the same in all rows of a sequence, but it differs within the "
            f"sequence {which}: a group holds whole sequences"
        )


def check_groups(
    groups: Any, n_rows: int, name: str = "groups", *, narrow: bool = False
) -> Groups | None:
    """Return group codes, or None where rows are taken as independent.

    Codes that may be ``narrow`` can be of any whole type, and the ids themselves, not to be
    written to; else they are of eight bytes, and a copy.
    """
    if groups is None:
        return None
    ids: NDArray[Any] = as_array(groups, name)
    require_same_length(ids, name, n_rows, "the predictions")
    row = first_missing(ids)
    if row is not None:
        raise InputError(f"{name} contains a missing id (first at row {row}): every row needs one")
    _require_told_apart(ids, name)
    found = _coded(ids, name)
    if narrow:
        return found
    copied = np.may_share_memory(found.codes, ids)
    return replace(found, codes=found.codes.astype(np.intp, copy=copied))


def _require_told_apart(ids: NDArray[Any], name: str) -> None:
    """Refuse floats so large that several ids may have become one, and what cannot be an id."""
    if ids.dtype.kind == "f" and len(ids):
        low, high = (float(end) for end in extremes(ids))
        bound: float = min(2.0 ** int(np.finfo(ids.dtype).nmant + 1), LARGEST_FLOAT_ID)
        row = int(np.argmax(np.abs(ids) > bound)) if max(high, -low) > bound else None
    elif ids.dtype.kind == "O":
        strange = (k for k, one in enumerate(ids) if type(one) is not str and _is_no_id(one))
        row = next(strange, None)
    else:
        return
    if row is None:
        return
    if not isinstance(ids[row], Hashable):
        raise InputError(f"{name} must be ids: numbers, text or dates, but it has {ids[row]!r}")
    raise InputError(f"{name} has {ids[row]:g} in row {row}: {FLOAT_ID_HINT}")


def _is_no_id(value: Any) -> bool:
    if isinstance(value, float | np.floating):
        return abs(float(value)) > LARGEST_FLOAT_ID
    return not isinstance(value, Hashable)


def _coded(ids: NDArray[Any], name: str) -> Groups:
    if ids.dtype.kind in "iu" and len(ids):
        low, high = (int(end) for end in extremes(ids))
        if high - low < SPAN_A_ROW * len(ids):
            return _counted(ids, low, high)
    if ids.dtype.kind == "O":
        try:
            found, codes = np.unique(ids, return_inverse=True)
        except (TypeError, ValueError) as error:
            raise InputError(f"{name} mixes ids that cannot be ordered: {error}") from error
        return Groups(codes, len(found))
    return _sorted(ids)


def _sorted(ids: NDArray[Any]) -> Groups:
    """Codes of ids that can be compared: of the first of each run, if those are few."""
    heads = np.ones(len(ids), dtype=bool)
    heads[1:] = ids[1:] != ids[:-1]
    runs = np.flatnonzero(heads) if np.count_nonzero(heads) <= FEW_RUNS * len(ids) else None
    del heads
    if runs is not None:
        found, codes = np.unique(ids[runs], return_inverse=True)
        lengths = np.diff(runs, append=len(ids))
        return Groups(np.repeat(in_few_bytes(codes, len(found)), lengths), len(found))
    found = np.unique(ids)
    places = in_blocks(lambda some: np.searchsorted(found, some), ids, len(found))
    return Groups(places, len(found))


def _counted(ids: NDArray[Any], low: int, high: int) -> Groups:
    """Codes of whole numbers that lie close together, without sorting them."""
    span = high - low + 1
    if low == 0 and ids.dtype == np.intp:
        return _numbered(np.require(ids, requirements=["C", "A"]), span)
    # In a narrow type a difference can overflow.
    wide = ids.dtype if ids.dtype.itemsize == 8 else np.int64
    codes = in_blocks(lambda some: some.astype(wide) - low, ids, span)
    return _numbered(codes, span, in_place=True)


def _numbered(codes: Codes, span: int, *, in_place: bool = False) -> Groups:
    """Leave out the codes below ``span`` that do not occur."""
    there = np.zeros(span, dtype=bool)
    for start in range(0, len(codes), BLOCK):
        there[codes[start : start + BLOCK]] = True
    if not there.all():
        codes = renumbered(codes, there, in_place=in_place)
    return Groups(codes, int(there.sum()))

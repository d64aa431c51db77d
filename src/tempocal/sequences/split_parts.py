"""The parts of a split: their sizes and their rows."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tempocal.errors import InputError
from tempocal.inputs import Groups, as_array, as_float64, check_groups
from tempocal.links import Array

# Tolerates rounding in shares such as 1/3.
SUM_TOLERANCE = 1e-6


def check_shares(shares: Any) -> Array:
    """Return the share of each part: positive numbers that sum to 1."""
    array = as_float64(shares, "shares")
    if array.ndim != 1 or len(array) == 0:
        raise InputError(f"shares must list the share of each part, but it is {shares!r}")
    # The comparisons are false for NaN.
    if not (array > 0).all() or not abs(array.sum() - 1.0) <= SUM_TOLERANCE:
        raise InputError(
            f"shares must be positive and sum to 1, but they are {array.tolist()}, which sum to "
            f"{array.sum():g}"
        )
    return np.asarray(array / array.sum(), dtype=np.float64)


def check_split_groups(groups: Any, n_parts: int) -> Groups:
    """Return the group of each row, refusing fewer groups than parts."""
    checked = check_groups(groups, as_array(groups, "groups").size)
    if checked is None:
        raise InputError("groups is None: say which sequence each row belongs to")
    if checked.count < n_parts:
        raise InputError(
            f"groups holds {checked.count} different ids, too few for {n_parts} parts: a sequence "
            "is never divided, so each part needs one of its own"
        )
    return checked


def apportion(n_groups: int, shares: Array) -> NDArray[np.int64]:
    """Return positive integers that sum to ``n_groups``, as close to the shares as possible."""
    exact = shares * n_groups
    counts = np.maximum(np.floor(exact), 1).astype(np.int64)
    while counts.sum() < n_groups:
        counts[np.argmax(exact - counts)] += 1
    while counts.sum() > n_groups:
        # Compensate for small parts that were rounded up to 1.
        counts[np.argmax(np.where(counts > 1, counts - exact, -np.inf))] -= 1
    return counts


def rows_of_parts(part: NDArray[Any], groups: Groups, n_parts: int) -> tuple[NDArray[np.intp], ...]:
    """Return the rows of each part, given the part of each group."""
    of_row = part[groups.codes]
    return tuple(np.flatnonzero(of_row == number) for number in range(n_parts))

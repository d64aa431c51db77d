"""A split by the start of the sequences: train on earlier ones, test on later ones."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tempocal.errors import InputError
from tempocal.inputs import Groups, check_time
from tempocal.links import Array
from tempocal.sequences.split_parts import (
    apportion,
    check_shares,
    check_split_groups,
    rows_of_parts,
)


def split_in_time(
    start: Any, groups: Any, shares: Any = (0.6, 0.2, 0.2)
) -> tuple[NDArray[np.intp], ...]:
    """Split rows by the start of their sequence, with all rows of a sequence in the same part.

    A deployed model predicts sequences that started after those it was trained on, and this split
    evaluates it in the same way. Sequences with the same start are never separated: a cut among
    them moves to before or after all of them, whichever is nearer (before, in a tie), and further
    only if a part would be empty.

    Only the starts are ordered: a long sequence of one part may still be growing when the next
    part begins. If its later elements contain information from after that time, drop those rows.

    Parameters
    ----------
    start : array-like of shape (n,)
        Start of the sequence of each row: numbers or datetimes. If the rows of a sequence differ,
        for instance because they hold the times of its elements, the earliest is used.
    groups : array-like of shape (n,)
        Id of the sequence that each row belongs to.
    shares : sequence of float
        Share of the sequences in each part, the earliest part first: positive, summing to 1.

    Returns
    -------
    tuple of ndarray of int
        Rows of each part, ascending.

    Examples
    --------
    >>> from tempocal.sequences import split_in_time
    >>> match = ["a", "a", "b", "c", "c", "d", "e"]
    >>> began = [2019, 2019, 2015, 2017, 2017, 2016, 2018]
    >>> train, calibrate, test = split_in_time(began, match)
    >>> train.tolist(), calibrate.tolist(), test.tolist()
    ([2, 3, 4, 5], [6], [0, 1])
    """
    parts = check_shares(shares)
    checked = check_split_groups(groups, len(parts))
    values = check_time(start, len(checked.codes), name="start").values
    rank, count = _start_ranks(values, checked)
    stops = np.cumsum(apportion(checked.count, parts))
    cuts = _cuts(np.cumsum(count), stops[:-1])
    return rows_of_parts(np.searchsorted(cuts, rank, side="right"), checked, len(parts))


def _start_ranks(start: Array, groups: Groups) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the rank of each group's start among the distinct ones, and the groups at each."""
    earliest = np.full(groups.count, np.inf)
    np.minimum.at(earliest, groups.codes, start)
    _, rank, count = np.unique(earliest, return_inverse=True, return_counts=True)
    return rank, count


def _cuts(cumulative: NDArray[np.intp], targets: NDArray[np.int64]) -> list[int]:
    """Return the rank of the start at which each part but the first begins.

    ``cumulative`` counts the groups up to each start, ``targets`` those before each cut.
    """
    if len(cumulative) <= len(targets):
        raise InputError(
            f"start holds {len(cumulative)} different moments at which sequences began, too few "
            f"for {len(targets) + 1} parts: those that started together stay together"
        )
    cuts = [0]
    for number, groups_before in enumerate(targets):
        nearest = int(np.argmin(np.abs(cumulative - groups_before))) + 1
        # Leave at least one start for each of the parts that follow.
        latest = len(cumulative) - (len(targets) - number)
        cuts.append(min(max(nearest, cuts[-1] + 1), latest))
    return cuts[1:]

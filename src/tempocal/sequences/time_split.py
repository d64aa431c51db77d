"""A split by when sequences started: learn from earlier ones, test on later ones."""

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
    """Split rows by when their sequence started, all rows of a sequence on the same side.

    A model in use meets sequences that started after those it learned from, and this split shows
    how it would have done. Sequences that started at the same moment are never separated: where a
    cut would fall among them, it moves to the nearer end of that moment, to the earlier one if
    both are as near, and further only where a part would be left empty.

    Only the starts are in order: a long sequence of one part may still be growing when the next
    part begins. Where its later elements would tell what was not known by then, drop those rows.

    Parameters
    ----------
    start : array-like of shape (n,)
        When the sequence of each row started: numbers or datetimes. Where rows of a sequence
        differ, as the moments of its elements do, the earliest counts.
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
    moment, count = _moments(values, checked)
    ends = np.cumsum(apportion(checked.count, parts))
    cuts = _cuts(np.cumsum(count), ends[:-1])
    return rows_of_parts(np.searchsorted(cuts, moment, side="right"), checked, len(parts))


def _moments(start: Array, groups: Groups) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the position of each group's start among the different ones, and how many share it."""
    earliest = np.full(groups.count, np.inf)
    np.minimum.at(earliest, groups.codes, start)
    _, moment, count = np.unique(earliest, return_inverse=True, return_counts=True)
    return moment, count


def _cuts(ends: NDArray[np.intp], wanted: NDArray[np.int64]) -> list[int]:
    """Return the moment that each part but the first begins with.

    ``ends`` counts the groups up to each moment, ``wanted`` those before each cut.
    """
    if len(ends) <= len(wanted):
        raise InputError(
            f"start holds {len(ends)} different moments at which sequences began, too few for "
            f"{len(wanted) + 1} parts: those that started together stay together"
        )
    cuts = [0]
    for number, groups_before in enumerate(wanted):
        nearest = int(np.argmin(np.abs(ends - groups_before))) + 1
        # Room is left for one moment in each of the parts that follow.
        latest = len(ends) - (len(wanted) - number)
        cuts.append(min(max(nearest, cuts[-1] + 1), latest))
    return cuts[1:]

"""A random split that keeps all rows of a sequence together."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tempocal.errors import InputError
from tempocal.inputs import Codes, Groups, as_array, check_groups, require_same_length
from tempocal.sequences.split_parts import (
    apportion,
    check_shares,
    check_split_groups,
    rows_of_parts,
)


def split_by_sequence(
    groups: Any, shares: Any = (0.6, 0.2, 0.2), *, seed: int = 0, stratify: Any = None
) -> tuple[NDArray[np.intp], ...]:
    """Split rows at random, with all rows of a sequence in the same part.

    The split depends on the ids, the shares and the seed, not on the order of the rows.

    Parameters
    ----------
    groups : array-like of shape (n,)
        Id of the sequence that each row belongs to.
    shares : sequence of float
        Share of the sequences in each part: positive, summing to 1. Every part gets at least one
        sequence, and otherwise the integer nearest to its share. The shares of rows may deviate
        more, since sequences differ in length.
    seed : int
        Seed of the random numbers.
    stratify : array-like of shape (n,), optional
        Label of each row, the same in all rows of a sequence: each label is then divided among the
        parts by their shares. A label with fewer sequences than parts is missing in some.

    Returns
    -------
    tuple of ndarray of int
        Rows of each part, ascending.

    Examples
    --------
    >>> from tempocal.sequences import split_by_sequence
    >>> match = ["a", "a", "b", "c", "c", "c", "d", "e"]
    >>> train, calibrate, test = split_by_sequence(match, (0.6, 0.2, 0.2))
    >>> sorted([*train.tolist(), *calibrate.tolist(), *test.tolist()])
    [0, 1, 2, 3, 4, 5, 6, 7]
    >>> [len({match[row] for row in rows}) for rows in (train, calibrate, test)]
    [3, 1, 1]
    """
    parts = check_shares(shares)
    checked = check_split_groups(groups, len(parts))
    label = _label_of_groups(stratify, checked, groups)
    rng = np.random.default_rng(seed)
    order = np.lexsort((rng.permutation(checked.count), label))
    # A random rotation: else the first label's only sequence would be in the same part at any seed.
    mixed = np.roll(_mix_parts(apportion(checked.count, parts)), rng.integers(checked.count))
    part = np.empty(checked.count, dtype=np.intp)
    part[order] = mixed
    return rows_of_parts(part, checked, len(parts))


def _mix_parts(counts: NDArray[np.int64]) -> NDArray[np.intp]:
    """Repeat each part ``counts`` times, evenly spaced, so that every segment has the same mix."""
    positions = np.concatenate([(np.arange(count) + 0.5) / count for count in counts])
    part = np.repeat(np.arange(len(counts)), counts)
    return part[np.argsort(positions, kind="stable")]


def _label_of_groups(stratify: Any, groups: Groups, ids: Any) -> Codes:
    """Return the code of each group's label; zeros without labels."""
    label = np.zeros(groups.count, dtype=np.intp)
    if stratify is not None:
        require_same_length(as_array(stratify, "stratify"), "stratify", len(groups.codes), "groups")
    labels = check_groups(stratify, len(groups.codes), "stratify")
    if labels is None:
        return label
    label[groups.codes] = labels.codes
    other = label[groups.codes] != labels.codes
    if other.any():
        raise InputError(
            "stratify must be the same in all rows of a group, but it differs within the group "
            f"{as_array(ids, 'groups')[np.argmax(other)]!s}: a sequence has one label"
        )
    return label

"""Prefixes of sequences: their sequence, length, label, id and weight."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tempocal.errors import InputError
from tempocal.inputs import check_positive_int
from tempocal.links import Array
from tempocal.sequences.lengths import lengths_of, one_for_each, require_sequences, size_of


@dataclass(frozen=True)
class Prefixes:
    """Prefixes of sequences, one row each, ordered by sequence and then by length.

    Attributes
    ----------
    sequence : ndarray of int
        Index of the sequence of each prefix.
    length : ndarray of int
        Number of elements of the prefix, to be used as time.
    label : ndarray or None
        Label of the sequence; None if no labels were given.
    id : ndarray
        Id of the sequence, by default its index, to be used as groups.
    weight : ndarray of float
        Number of prefixes of its sequence that this one represents. The weights of a sequence sum
        to its length, so weighted sums estimate the sums over all prefixes.
    """

    sequence: NDArray[np.intp]
    length: NDArray[np.int64]
    label: NDArray[Any] | None
    id: NDArray[Any]
    weight: Array

    def __len__(self) -> int:
        return len(self.length)

    def take(self, sequences: Any) -> Iterator[Any]:
        """Iterate over the prefixes themselves, which are cut lazily.

        Parameters
        ----------
        sequences : list of sequences
            The sequences of the prefixes, in the same order.

        Returns
        -------
        iterator
            ``sequence[:length]`` for every row.

        Examples
        --------
        >>> from tempocal.sequences import prefixes
        >>> list(prefixes(["abc", "xy"]).take(["abc", "xy"]))
        ['a', 'ab', 'abc', 'x', 'xy']
        """
        require_sequences(sequences)
        expected = int(self.sequence[-1]) + 1
        if len(sequences) != expected:
            raise InputError(
                f"these are prefixes of {expected} sequences, but sequences holds "
                f"{len(sequences)}: pass those that they were made of, in the same order"
            )
        return self._cut(sequences)

    def _cut(self, sequences: Any) -> Iterator[Any]:
        # One pass over both, since not every container of sequences can be indexed.
        row = 0
        for position, sequence in enumerate(sequences):
            size = size_of(sequence, position)
            while row < len(self) and self.sequence[row] == position:
                length = int(self.length[row])
                if length > size:
                    raise InputError(
                        f"sequences[{position}] has length {size}, but a prefix of it has length "
                        f"{length}: pass the sequences that the prefixes were made of"
                    )
                yield sequence[:length]
                row += 1


def prefixes(sequences: Any, *, labels: Any = None, ids: Any = None, every: int = 1) -> Prefixes:
    """List all prefixes of all sequences, or those at multiples of a length.

    Parameters
    ----------
    sequences : list of sequences, or array of int
        Anything with ``len()`` and slicing: lists of tokens, strings, arrays whose first axis is
        time. Integers are taken as the lengths of the sequences.
    labels : array-like, optional
        Label of each sequence.
    ids : array-like, optional
        Id of each sequence. Sequences that are not independent, such as two stays of one patient,
        may share one.
    every : int
        Keep the lengths ``every``, ``2 * every``, ..., and always the complete sequence. The weight
        of a prefix then counts itself and the shorter ones omitted just before it.

    Returns
    -------
    Prefixes

    Examples
    --------
    >>> from tempocal.sequences import prefixes
    >>> some = prefixes(["abcdefg", "xyz"], labels=[1, 0], every=3)
    >>> some.length.tolist(), some.weight.tolist()
    ([3, 6, 7, 3], [3.0, 3.0, 1.0, 3.0])
    >>> some.label.tolist(), some.id.tolist()
    ([1, 1, 1, 0], [0, 0, 0, 1])
    """
    lengths = lengths_of(sequences)
    # Limited to the longest sequence, to avoid overflow.
    step = min(check_positive_int(every, "every"), int(lengths.max()))
    kept = -(-lengths // step)
    sequence = np.repeat(np.arange(len(lengths)), kept)
    before = step * (np.arange(len(sequence)) - np.repeat(np.cumsum(kept) - kept, kept))
    length = np.minimum(before + step, lengths[sequence])
    weight = length - before
    return with_labels_and_ids(
        len(lengths), sequence, length, labels=labels, ids=ids, weight=weight
    )


def with_labels_and_ids(
    n_sequences: int,
    sequence: NDArray[Any],
    length: NDArray[Any],
    *,
    labels: Any,
    ids: Any,
    weight: NDArray[Any],
) -> Prefixes:
    """Add the label and the id of its sequence to each prefix."""
    own_id = np.arange(n_sequences) if ids is None else one_for_each(ids, n_sequences, "ids")
    own_label = None if labels is None else one_for_each(labels, n_sequences, "labels")
    return Prefixes(
        sequence=sequence.astype(np.intp, copy=False),
        length=length.astype(np.int64, copy=False),
        label=None if own_label is None else own_label[sequence],
        id=own_id[sequence],
        weight=weight.astype(np.float64),
    )

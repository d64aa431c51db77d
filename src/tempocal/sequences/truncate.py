"""Prefixes at random cut points, as in the paper's calibration and test sets."""

from typing import Any

import numpy as np

from tempocal.inputs import check_positive_int
from tempocal.sequences.lengths import lengths_of
from tempocal.sequences.prefixes import Prefixes, with_labels_and_ids


def truncate(
    sequences: Any, k: int = 5, *, labels: Any = None, ids: Any = None, seed: int = 0
) -> Prefixes:
    """Cut each sequence at random points, to obtain prefixes of all degrees of completeness.

    The paper truncates each sequence "at five random uniformly-sampled points" (section 4). It
    does not say whether the points of a sequence are distinct. Here they are independent draws,
    uniform on 1, ..., length, so the same prefix may occur twice; a sequence may be shorter than
    ``k``.

    Parameters
    ----------
    sequences : list of sequences, or array of int
        Anything with ``len()`` and slicing: lists of tokens, strings, arrays whose first axis is
        time. Integers are taken as the lengths of the sequences.
    k : int
        Number of cut points of each sequence.
    labels : array-like, optional
        Label of each sequence.
    ids : array-like, optional
        Id of each sequence. Sequences that are not independent, such as two stays of one patient,
        may share one.
    seed : int
        Seed of the random numbers.

    Returns
    -------
    Prefixes
        ``k`` rows for each sequence. Without weights all sequences have equal weight, as in the
        paper. With ``weight``, the length divided by ``k``, weighted means are unbiased for the
        means over all prefixes.

    Examples
    --------
    >>> from tempocal.sequences import truncate
    >>> reviews = ["a film to forget".split(), "good".split()]
    >>> cuts = truncate(reviews, k=2, labels=["bad", "good"])
    >>> cuts.sequence.tolist(), cuts.label.tolist()
    ([0, 0, 1, 1], ['bad', 'bad', 'good', 'good'])
    >>> cuts.weight.tolist()
    [2.0, 2.0, 0.5, 0.5]
    >>> [len(words) for words in cuts.take(reviews)] == cuts.length.tolist()
    True
    """
    lengths, k = lengths_of(sequences), check_positive_int(k, "k")
    rng = np.random.default_rng(seed)
    cuts = rng.integers(1, lengths[:, None], size=(len(lengths), k), endpoint=True)
    sequence = np.repeat(np.arange(len(lengths)), k)
    length = np.sort(cuts, axis=1).ravel()
    weight = lengths[sequence] / k
    return with_labels_and_ids(
        len(lengths), sequence, length, labels=labels, ids=ids, weight=weight
    )

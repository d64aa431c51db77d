"""A few held-out sequences, to see how single predictions move before and after."""

import heapq
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tempocal.assessment.split_predictions import PastPredictions
from tempocal.assessment.wording import printable
from tempocal.links import Array

MOST_EXAMPLES, SHORTEST = 6, 3


@dataclass(frozen=True, eq=False)
class Example:
    """Probability of one class along one sequence, by each method."""

    sequence: str
    label: str  # its outcome, at its last row
    followed: str  # whose probability it is
    time: NDArray[Any]
    proba: dict[str, Array]


def pick_examples(
    rows: PastPredictions, proba: Mapping[str, Array], classes: NDArray[Any], seed: int
) -> tuple[Example, ...]:
    """Pick sequences at random, each label in turn; none where rows have no sequence."""
    if rows.sequence is None:
        return ()
    order = np.lexsort((rows.time, np.unique(rows.sequence, return_inverse=True)[1]))
    starts = np.flatnonzero(np.append(True, rows.sequence[order][1:] != rows.sequence[order][:-1]))
    parts = np.split(order, starts[1:])
    lengths, last = np.diff([*starts, len(order)]), order[[*(starts[1:] - 1), len(order) - 1]]
    chosen = choose(lengths, rows.label[last], seed)
    return tuple(make_example(parts[k], rows, proba, classes) for k in chosen)


def choose(lengths: NDArray[Any], labels: NDArray[Any], seed: int) -> list[int]:
    """Choose among sequences, by the number of their rows and their labels."""
    long = np.flatnonzero(lengths >= SHORTEST)
    seen: dict[Any, int] = {}
    turn = []
    for place, k in enumerate(long[np.random.default_rng(seed).permutation(len(long))].tolist()):
        label = labels[k]
        seen[label] = seen.get(label, 0) + 1
        turn.append((seen[label], place, k))
    return [k for _, _, k in heapq.nsmallest(MOST_EXAMPLES, turn)]


def make_example(
    part: NDArray[np.intp],
    rows: PastPredictions,
    proba: Mapping[str, Array],
    classes: NDArray[Any],
) -> Example:
    """Return one sequence, given its rows in order of time."""
    assert rows.sequence is not None
    label = rows.label[part[-1]]
    column = 1 if len(classes) == 2 else int(np.flatnonzero(classes == label)[0])
    return Example(
        sequence=printable(rows.sequence[part[0]]),
        label=printable(label),
        followed=printable(classes[column]),
        time=rows.time[part],
        proba={name: one[part, column] for name, one in proba.items()},
    )

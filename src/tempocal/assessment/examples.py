"""A few held-out sequences, to show how single predictions move before and after calibration."""

import heapq
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tempocal.assessment.split_predictions import PastPredictions
from tempocal.assessment.wording import printable
from tempocal.links import Array

MAX_EXAMPLES, MIN_LENGTH = 6, 3


@dataclass(frozen=True, eq=False)
class Example:
    """Probability of one class along one sequence, by each method."""

    sequence: str
    label: str  # of its last row; a soft one is the class that is shown, and its probability
    followed: str  # the class whose probability is shown
    time: NDArray[Any]
    proba: dict[str, Array]


def pick_examples(
    rows: PastPredictions, proba: Mapping[str, Array], classes: NDArray[Any], seed: int
) -> tuple[Example, ...]:
    """Pick sequences at random, cycling through the labels; none without sequence ids."""
    if rows.sequence is None:
        return ()
    order = np.lexsort((rows.time, np.unique(rows.sequence, return_inverse=True)[1]))
    starts = np.flatnonzero(np.append(True, rows.sequence[order][1:] != rows.sequence[order][:-1]))
    parts = np.split(order, starts[1:])
    lengths, last = np.diff([*starts, len(order)]), order[[*(starts[1:] - 1), len(order) - 1]]
    labels = rows.label[last]
    if rows.soft_label:
        labels = labels.argmax(axis=1)
    chosen = choose_sequences(lengths, labels, seed)
    return tuple(make_example(parts[k], rows, proba, classes) for k in chosen)


def choose_sequences(lengths: NDArray[Any], labels: NDArray[Any], seed: int) -> list[int]:
    """Return the indices of sequences to show, given the length and the label of each."""
    long = np.flatnonzero(lengths >= MIN_LENGTH)
    n_seen: dict[Any, int] = {}
    ranked = []
    for rank, k in enumerate(long[np.random.default_rng(seed).permutation(len(long))].tolist()):
        label = labels[k]
        n_seen[label] = n_seen.get(label, 0) + 1
        ranked.append((n_seen[label], rank, k))
    return [k for _, _, k in heapq.nsmallest(MAX_EXAMPLES, ranked)]


def make_example(
    index: NDArray[np.intp],
    rows: PastPredictions,
    proba: Mapping[str, Array],
    classes: NDArray[Any],
) -> Example:
    """Return one sequence, given the indices of its rows in order of time."""
    assert rows.sequence is not None
    label = rows.label[index[-1]]
    if rows.soft_label:
        top = int(label.argmax())
        column = 1 if len(classes) == 2 else top
        text = f"{printable(classes[column])} with {label[column]:.2g}"
        text = printable(classes[top]) if label[top] == 1.0 else text
    else:
        column = 1 if len(classes) == 2 else int(np.flatnonzero(classes == label)[0])
        text = printable(label)
    return Example(
        sequence=printable(rows.sequence[index[0]]),
        label=text,
        followed=printable(classes[column]),
        time=rows.time[index],
        proba={name: one[index, column] for name, one in proba.items()},
    )

"""A few held-out sequences, to see how single predictions move before and after."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tempocal.assessment.predictions import PastPredictions
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
    parts = [part for part in np.split(order, starts[1:]) if len(part) >= SHORTEST]
    shuffled = [parts[k] for k in np.random.default_rng(seed).permutation(len(parts))]
    chosen = _each_label_in_turn(shuffled, rows)[:MOST_EXAMPLES]
    return tuple(_example(part, rows, proba, classes) for part in chosen)


def _each_label_in_turn(
    parts: list[NDArray[np.intp]], rows: PastPredictions
) -> list[NDArray[np.intp]]:
    seen: dict[Any, int] = {}
    turn = []
    for place, part in enumerate(parts):
        label = rows.label[part[-1]]
        seen[label] = seen.get(label, 0) + 1
        turn.append((seen[label], place))
    return [parts[place] for _, place in sorted(turn)]


def _example(
    part: NDArray[np.intp],
    rows: PastPredictions,
    proba: Mapping[str, Array],
    classes: NDArray[Any],
) -> Example:
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

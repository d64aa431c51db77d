"""Rows of two classes in the order of their values, by the compiled loops."""

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from tempocal.kernels import native
from tempocal.kernels.partition import STRETCH, Classes, lay_out
from tempocal.kernels.thread_pool import map_on_cores

Array = NDArray[np.float64]
Result = TypeVar("Result")


def sorted_classes(values: Array, is_second: NDArray[np.bool_]) -> list[Classes]:
    """Values of either class in order, in stretches of which each is above the one before."""
    return map_sorted(lambda classes: classes, values, is_second)


def map_sorted(
    work: Callable[[Classes], Result],
    values: Array,
    is_second: NDArray[np.bool_],
    n_groups: int = 1,
) -> list[Result]:
    """Do some work for each stretch, on all cores.

    Stretches are made in groups of about as many rows, of which one is held at a time; each takes
    another pass over all rows. There may be fewer groups than asked for.
    """
    values = np.require(values, np.float64, ["C", "A"])
    is_second = np.require(is_second, np.bool_, ["C", "A"])

    def work_on(classes: Classes) -> Result:
        for one in classes:
            sort(one)
        return work(classes)

    if len(values) <= STRETCH:
        return [work_on((values[~is_second], values[is_second]))]
    layout = lay_out(values, is_second)
    groups = layout.groups(n_groups)
    return [one for group in groups for one in map_on_cores(work_on, layout.stretches(group))]


def sort(values: Array) -> None:
    """Put values in order, where they are; minus zero becomes zero."""
    native.sort(values, np.empty(len(values)))


def merge(classes: Classes, room: Array) -> int:
    """Fill the rows of ``room``: distinct values, rows at each, and those of the second class.

    It has a place for every row; how many are filled is returned.
    """
    return int(native.merge(*classes, *room))


def pool(weights: Array, positives: Array) -> tuple[NDArray[Any], Array, Array]:
    """Blocks of isotonic regression: where each starts, its weight and its positive weight."""
    starts = np.empty(len(weights), dtype=np.int64)
    sums = np.empty((2, len(weights)))
    count = native.pool(
        np.ascontiguousarray(weights), np.ascontiguousarray(positives), starts, *sums
    )
    # Copies, for blocks are few and would hold on to all of it.
    return starts[:count].copy(), sums[0, :count].copy(), sums[1, :count].copy()

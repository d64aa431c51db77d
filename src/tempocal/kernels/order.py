"""Sorting, merging and pooling the values of two classes, by the compiled loops."""

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from tempocal.kernels import native
from tempocal.kernels.partition import BUCKET_ROWS, Classes, partition
from tempocal.kernels.thread_pool import map_on_cores

Array = NDArray[np.float64]
Result = TypeVar("Result")


def sorted_classes(values: Array, is_second: NDArray[np.bool_]) -> list[Classes]:
    """Sorted values of either class in each bucket; buckets ascend."""
    return map_sorted(lambda classes: classes, values, is_second)


def map_sorted(
    work: Callable[[Classes], Result],
    values: Array,
    is_second: NDArray[np.bool_],
    n_groups: int = 1,
) -> list[Result]:
    """Apply ``work`` to the sorted values of each bucket, on all cores.

    Buckets are made in up to ``n_groups`` groups of about the same size, of which one is in memory
    at a time; each group takes another pass over all rows.
    """
    values = np.require(values, np.float64, ["C", "A"])
    is_second = np.require(is_second, np.bool_, ["C", "A"])

    def work_on(classes: Classes) -> Result:
        for one in classes:
            sort(one)
        return work(classes)

    if len(values) <= BUCKET_ROWS:
        return [work_on((values[~is_second], values[is_second]))]
    buckets = partition(values, is_second)
    groups = buckets.groups(n_groups)
    return [result for group in groups for result in map_on_cores(work_on, buckets.buckets(group))]


def sort(values: Array) -> None:
    """Sort in place; -0.0 becomes 0.0."""
    native.sort(values, np.empty(len(values)))


def merge(classes: Classes, out: Array) -> int:
    """Merge sorted classes: distinct values, rows at each, and rows of the second class.

    These are the rows of ``out``, of shape (3, rows). Return the number of distinct values.
    """
    return int(native.merge(*classes, *out))


def pool(weights: Array, positives: Array) -> tuple[NDArray[Any], Array, Array]:
    """Pool adjacent violators: the start, weight and positive weight of each block."""
    starts = np.empty(len(weights), dtype=np.int64)
    sums = np.empty((2, len(weights)))
    count = native.pool(
        np.ascontiguousarray(weights), np.ascontiguousarray(positives), starts, *sums
    )
    # Copies, since few blocks would keep the large arrays alive.
    return starts[:count].copy(), sums[0, :count].copy(), sums[1, :count].copy()

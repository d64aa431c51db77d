"""Sorted values of two classes, in buckets that fit the cache, merged and pooled by the loops."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tempocal.kernels import native
from tempocal.kernels.thread_pool import map_on_cores

Array = NDArray[np.float64]
# Values of either class.
Classes = tuple[Array, Array]

# Rows of a bucket, unless a single value has more: merged and pooled they fit the cache.
BUCKET_ROWS = 2**15


def sorted_classes(values: Array, is_second: NDArray[np.bool_]) -> list[Classes]:
    """Sorted values of either class in each bucket; buckets ascend, and -0.0 becomes 0.0.

    A value is in one bucket only, whatever its class.
    """

    def sort(which: NDArray[np.bool_]) -> Array:
        own = values[which]
        own.sort()
        own += 0.0
        return own

    masks = (~is_second, is_second)
    if len(values) <= BUCKET_ROWS:
        return [(sort(masks[0]), sort(masks[1]))]
    both = map_on_cores(sort, masks)
    step = BUCKET_ROWS // 2
    cuts = np.unique(np.concatenate([one[step::step] for one in both]))
    pieces = (np.split(one, np.searchsorted(one, cuts)) for one in both)
    return [classes for classes in zip(*pieces, strict=True) if any(map(len, classes))]


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

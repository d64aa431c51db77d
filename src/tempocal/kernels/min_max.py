"""Minimum, maximum and sum of many numbers, on all cores."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tempocal.kernels import native
from tempocal.kernels.thread_pool import map_on_cores

# Numbers of a block: enough for a thread, and in the cache for the second comparison of NumPy.
BLOCK = 2**18
# With fewer numbers than this comparing is not worth a thread.
MANY = 2**20
# Types that the compiled loop reads.
COMPILED_TYPES = {np.dtype(kind) for kind in (np.float64, np.float32, np.int64)}


def min_max(values: NDArray[Any]) -> tuple[Any, Any]:
    """Minimum and maximum of at least one number; NaN if there is one."""
    low, high, _ = _in_blocks(values, lambda block: (block.min(), block.max(), 0))
    return low, high


def min_max_sum(values: NDArray[Any]) -> tuple[Any, Any, Any]:
    """Minimum, maximum and sum, in one pass if compiled; sums of integers wrap around."""
    return _in_blocks(values, lambda block: (block.min(), block.max(), block.sum()))


def _in_blocks(
    values: NDArray[Any], by_numpy: Callable[[NDArray[Any]], tuple[Any, Any, Any]]
) -> tuple[Any, Any, Any]:
    flags, work = values.flags, by_numpy
    is_known = values.dtype in COMPILED_TYPES and flags.c_contiguous and flags.aligned
    if native is not None and is_known:
        values, work = values.reshape(-1), _compiled
    if values.size < MANY:
        return work(values)
    step = max(1, BLOCK * len(values) // values.size)
    blocks = [values[start : start + step] for start in range(0, len(values), step)]
    low, high, total = map(np.array, zip(*map_on_cores(work, blocks), strict=True))
    return low.min(), high.max(), total.sum()


def _compiled(values: NDArray[Any]) -> tuple[Any, Any, Any]:
    result = np.empty(3, dtype=values.dtype)
    native.min_max_sum(values, result)
    low, high, total = result.tolist()
    return low, high, total

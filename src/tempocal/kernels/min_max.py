"""Minimum, maximum and sum of many numbers, on all cores."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tempocal.kernels import native
from tempocal.kernels.thread_pool import map_on_cores

# Numbers of a block: the second comparison finds them in the cache.
BLOCK = 2**18
# With fewer numbers than this comparing is not worth a thread.
MANY = 2**20
# Types that the compiled loop reads.
COMPILED_TYPES = {np.dtype(kind) for kind in (np.float64, np.float32, np.int64)}


def min_max(values: NDArray[Any]) -> tuple[Any, Any]:
    """Minimum and maximum of at least one number; NaN if there is one."""
    if _is_compiled(values):
        low, high, _ = _compiled(values)
        return low, high
    if values.size < MANY:
        return values.min(), values.max()
    step = max(1, BLOCK * len(values) // values.size)
    blocks = [values[start : start + step] for start in range(0, len(values), step)]
    pairs = np.array(map_on_cores(lambda block: (block.min(), block.max()), blocks))
    return pairs[:, 0].min(), pairs[:, 1].max()


def min_max_sum(values: NDArray[Any]) -> tuple[Any, Any, Any]:
    """Minimum, maximum and sum, in one pass if compiled; sums of integers wrap around."""
    return _compiled(values) if _is_compiled(values) else (*min_max(values), values.sum())


def _is_compiled(values: NDArray[Any]) -> bool:
    flags = values.flags
    return (
        native is not None
        and values.dtype in COMPILED_TYPES
        and flags.c_contiguous
        and flags.aligned
    )


def _compiled(values: NDArray[Any]) -> tuple[Any, Any, Any]:
    result = np.empty(3, dtype=values.dtype)
    native.min_max_sum(values.reshape(-1), result)
    low, high, total = result.tolist()
    return low, high, total

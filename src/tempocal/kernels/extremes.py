"""The lowest and the highest of many numbers, and their sum, on all cores."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tempocal.kernels import native
from tempocal.kernels.thread_pool import map_on_cores

# Rows that are looked at for either while they are in the cache.
BLOCK = 2**18
# Comparing takes so little that with fewer numbers than this it is not worth a thread.
MANY = 2**20
# What the compiled loop reads.
KINDS = {np.dtype(kind) for kind in (np.float64, np.float32, np.int64)}


def extremes(values: NDArray[Any]) -> tuple[Any, Any]:
    """Lowest and highest of at least one number, NumPy's or Python's; NaN if there is one."""
    if _is_read(values):
        low, high, _ = _compiled(values)
        return low, high
    if values.size < MANY:
        return values.min(), values.max()
    step = max(1, BLOCK * len(values) // values.size)
    blocks = [values[start : start + step] for start in range(0, len(values), step)]
    found = np.array(map_on_cores(lambda block: (block.min(), block.max()), blocks))
    return found[:, 0].min(), found[:, 1].max()


def extremes_and_sum(values: NDArray[Any]) -> tuple[Any, Any, Any]:
    """Do that, and add all up, in one pass where there is the loop; whole numbers wrap around."""
    return _compiled(values) if _is_read(values) else (*extremes(values), values.sum())


def _is_read(values: NDArray[Any]) -> bool:
    flags = values.flags
    return native is not None and values.dtype in KINDS and flags.c_contiguous and flags.aligned


def _compiled(values: NDArray[Any]) -> tuple[Any, Any, Any]:
    found = np.empty(3, dtype=values.dtype)
    native.ends(values.reshape(-1), found)
    low, high, total = found.tolist()
    return low, high, total

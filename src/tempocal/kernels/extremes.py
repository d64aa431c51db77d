"""The lowest and the highest of many numbers, on all cores."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tempocal.kernels import native
from tempocal.kernels.cores import map_on_cores

# Rows that are looked at for either while they are in the cache.
BLOCK = 2**18
# Comparing takes so little that with fewer numbers than this it is not worth a thread.
MANY = 2**20
# What the compiled loop reads.
KINDS = {np.dtype(kind) for kind in (np.float64, np.float32, np.int64)}


def extremes(values: NDArray[Any]) -> tuple[Any, Any]:
    """Lowest and highest of at least one number, in its own type; NaN if there is one."""
    flags = values.flags
    if native is not None and values.dtype in KINDS and flags.c_contiguous and flags.aligned:
        return _compiled(values.reshape(-1))
    if values.size < MANY:
        return values.min(), values.max()
    step = max(1, BLOCK * len(values) // values.size)
    blocks = [values[start : start + step] for start in range(0, len(values), step)]
    found = np.array(map_on_cores(lambda block: (block.min(), block.max()), blocks))
    return found[:, 0].min(), found[:, 1].max()


def _compiled(values: NDArray[Any]) -> tuple[Any, Any]:
    ends = np.empty(2, dtype=values.dtype)
    native.ends(values, ends)
    low, high = ends
    return low, high

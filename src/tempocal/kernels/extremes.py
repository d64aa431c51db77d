"""The lowest and the highest of many numbers, on all cores."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tempocal.kernels import native
from tempocal.kernels.cores import map_on_cores, run_on_cores, shares

# Rows that are looked at for either while they are in the cache.
BLOCK = 2**18
# Comparing takes so little that with fewer numbers than this it is not worth a thread: of NumPy,
# and of the compiled loop.
MANY, MANY_COMPILED = 2**20, 2**18
# What the compiled loop reads.
KINDS = (np.float64, np.float32, np.int64)


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
    parts = list(shares(len(values), least=MANY_COMPILED))
    ends = np.empty((len(parts), 2), dtype=values.dtype)
    run_on_cores(lambda k: native.ends(values[parts[k]], ends[k]), range(len(parts)))
    return ends[:, 0].min(), ends[:, 1].max()

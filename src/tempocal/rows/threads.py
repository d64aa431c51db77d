"""Sum blocks of rows on all cores, with the same bits whatever their number."""

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import reduce
from operator import add

from tempocal.rows.sums import Block, Sums

# NumPy lets go of the interpreter within a block, so that threads run side by side.
BLOCKS_AT_ONCE = 2


def sum_blocks(blocks: Iterable[Block], work: Callable[[Iterable[Block]], Sums]) -> Sums:
    """Add up the sums of all blocks, a fixed number of them at a time and in their order."""
    everything = list(blocks)
    starts = range(0, len(everything), BLOCKS_AT_ONCE)
    pieces = [everything[start : start + BLOCKS_AT_ONCE] for start in starts]
    n_threads = min(len(pieces), _available_cores())
    if n_threads < 2:
        return reduce(add, map(work, pieces))
    with ThreadPoolExecutor(n_threads) as pool:
        return reduce(add, pool.map(work, pieces))


def _available_cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1

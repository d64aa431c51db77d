"""Sums over blocks of rows on all cores, bit-identical for any number of cores."""

from collections.abc import Callable, Iterable

from tempocal.kernels.thread_pool import map_on_cores
from tempocal.rows.key_layout import Block
from tempocal.rows.sums import Sums

# Blocks of a work item. NumPy releases the GIL within a block, so that threads run in parallel.
BLOCKS_PER_ITEM = 2


def sum_blocks(blocks: Iterable[Block], work: Callable[[Block], Sums], total: Sums) -> Sums:
    """Add the sums of all blocks to ``total``, in fixed items and in order.

    The order of additions does not depend on the number of cores.
    """
    everything = list(blocks)
    starts = range(0, len(everything), BLOCKS_PER_ITEM)
    items = [everything[start : start + BLOCKS_PER_ITEM] for start in starts]

    def sum_item(item: list[Block]) -> Sums:
        return _sum_item(item, work, total)

    for item, sums in zip(items, map_on_cores(sum_item, items), strict=True):
        total.add(_keys_of(item), sums)
    return total


def _sum_item(item: list[Block], work: Callable[[Block], Sums], like: Sums) -> Sums:
    """Sum the blocks of an item over its own keys, which may be a small part of all keys."""
    keys = _keys_of(item)
    hessian = like.hessian is not None
    total = Sums.zeros(keys.stop - keys.start, like.gradient.shape[1], hessian=hessian)
    for block in item:
        own = slice(block.keys.start - keys.start, block.keys.stop - keys.start)
        total.add(own, work(block))
    return total


def _keys_of(item: list[Block]) -> slice:
    return slice(item[0].keys.start, item[-1].keys.stop)

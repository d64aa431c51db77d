"""Work through blocks of rows on all cores, with the same bits whatever their number."""

from collections.abc import Callable, Iterable

from tempocal.kernels.thread_pool import map_on_cores
from tempocal.rows.key_layout import Block
from tempocal.rows.sums import Sums

# NumPy lets go of the interpreter within a block, so that threads run side by side.
BLOCKS_AT_ONCE = 2


def sum_blocks(blocks: Iterable[Block], work: Callable[[Block], Sums], total: Sums) -> Sums:
    """Add the sums of all blocks to ``total``, a fixed number at a time and in their order."""
    everything = list(blocks)
    starts = range(0, len(everything), BLOCKS_AT_ONCE)
    pieces = [everything[start : start + BLOCKS_AT_ONCE] for start in starts]

    def sum_piece(piece: list[Block]) -> Sums:
        return _sum_piece(piece, work, total)

    return _add_pieces(pieces, map_on_cores(sum_piece, pieces), total)


def _sum_piece(piece: list[Block], work: Callable[[Block], Sums], like: Sums) -> Sums:
    """Sum the blocks of a piece, over the keys that it has: there may be far more in all."""
    keys = _keys_of(piece)
    hessian = like.hessian is not None
    total = Sums.zeros(keys.stop - keys.start, like.gradient.shape[1], hessian=hessian)
    for block in piece:
        own = slice(block.keys.start - keys.start, block.keys.stop - keys.start)
        total.add(own, work(block))
    return total


def _add_pieces(pieces: list[list[Block]], sums: Iterable[Sums], total: Sums) -> Sums:
    for piece, one in zip(pieces, sums, strict=True):
        total.add(_keys_of(piece), one)
    return total


def _keys_of(piece: list[Block]) -> slice:
    return slice(piece[0].keys.start, piece[-1].keys.stop)

"""Matrix products over the rows of each key of a block.

One matrix product per key is fast for large keys. For many small keys, a loop over the entries of
the matrix, vectorized over all keys, is faster than a loop over keys.
"""

from collections.abc import Iterator

import numpy as np

from tempocal.links import Array, Floats
from tempocal.rows.key_layout import Block

# Multiplications that take about as long as one call of NumPy.
SMALL_PRODUCT = 2000


def apply_matrices(matrices: Array, x: Floats, block: Block) -> Array:
    """Multiply the rows ``x`` (b, rows) of each key by its matrix (keys, a, b): (a, rows)."""
    if block.is_one_key:
        return np.asarray(matrices[0] @ x)
    _, height, width = matrices.shape
    total = np.zeros((height, x.shape[1]))
    if _are_small(height * width, block):
        for j, row in enumerate(x):
            total += block.spread(matrices[:, :, j].T) * row
    else:
        for matrix, rows in zip(matrices, _rows_by_key(block), strict=True):
            np.matmul(matrix, x[:, rows], out=total[:, rows])
    return total


def sum_outer(a: Array, b: Floats, block: Block) -> Array:
    """Sum the outer products of ``a`` (a, rows) and ``b`` (b, rows) by key: (keys, a, b)."""
    if block.is_one_key:
        return np.asarray(a @ b.T)[None]
    if _are_small(len(a) * len(b), block):
        return np.stack([block.project(b, row) for row in a], axis=1)
    total = np.empty((len(block.starts), len(a), len(b)))
    for out, rows in zip(total, _rows_by_key(block), strict=True):
        np.matmul(a[:, rows], b[:, rows].T, out=out)
    return total


def _are_small(size: int, block: Block) -> bool:
    return size * int(block.counts.sum()) < SMALL_PRODUCT * len(block.counts)


def _rows_by_key(block: Block) -> Iterator[slice]:
    starts = block.starts.tolist()
    return map(slice, starts, [*starts[1:], int(block.counts.sum())])

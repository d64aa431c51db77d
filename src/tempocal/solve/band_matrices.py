"""Symmetric band matrices, stored in blocks.

A stored matrix is an array of shape (2, blocks, n, n). The first part holds the blocks on the
diagonal, the second those to the left of these: a matrix without entries farther than n from the
diagonal is block-tridiagonal in blocks of n. Matrices are added and multiplied by numbers as
arrays.

The inverse of a band matrix is dense, but its entries within the band follow from the Cholesky
factor by a recursion (Takahashi, Fagan and Chen 1973), and the trace of the inverse times another
matrix of that band needs no others. Time and memory are linear in the number of blocks.
"""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from tempocal.links import Array
from tempocal.solve.linear_systems import Inverses

# Narrower bands are cut into blocks of this size: NumPy is slow with smaller ones.
MIN_BLOCK = 16
# With fewer blocks a dense matrix is as fast.
MIN_BLOCKS = 4

Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Bands:
    """Band matrices of one size, in blocks of some width.

    Attributes
    ----------
    size : int
        Number of rows.
    n_blocks, width : int
        Number of blocks, and of rows in each. The last one may extend beyond the matrix.
    """

    size: int
    n_blocks: int
    width: int

    @classmethod
    def of(cls, size: int, bandwidth: int) -> Self:
        """Return the layout of matrices without entries farther than this from the diagonal."""
        width = max(bandwidth, MIN_BLOCK)
        return cls(size, -(-size // width), width)

    def store(self, matrix: Array, scale: Array) -> Array:
        """Store a matrix, given as a dense one or its diagonal, in units of a scale."""
        stored = np.zeros((2, self.n_blocks, self.width, self.width))
        if matrix.ndim == 1:
            np.einsum("tpp->tp", stored[0])[:] = self._split(matrix)
        else:
            matrix = matrix.reshape(self.size, self.size)
            for t in range(self.n_blocks):
                rows = slice(t * self.width, (t + 1) * self.width)
                own = matrix[rows, rows]
                stored[0, t, : len(own), : len(own)] = own
                if t > 0:
                    stored[1, t, : len(own)] = matrix[rows, rows.start - self.width : rows.start]
        units = self._split(scale)
        units = np.where(units > 0.0, units, 1.0)
        stored[0] /= units[:, :, None] * units[:, None, :]
        stored[1, 1:] /= units[1:, :, None] * units[:-1, None, :]
        return stored

    def dot(self, matrices: Array, vectors: Array) -> Array:
        """Product of each stored matrix with its vectors (matrices, vectors, size)."""
        blocks = self._split(vectors)
        product = np.einsum("ktpq,kmtq->kmtp", matrices[:, 0], blocks)
        beside = matrices[:, 1, 1:]
        product[:, :, 1:] += np.einsum("ktpq,kmtq->kmtp", beside, blocks[:, :, :-1])
        product[:, :, :-1] += np.einsum("ktpq,kmtp->kmtq", beside, blocks[:, :, 1:])
        return self._join(product)

    def invert(self, matrices: Array, free: Mask, vectors: Array) -> Inverses:
        """Invert each matrix over the free coefficients, and multiply a vector by its inverse."""
        free_blocks, rhs = self._split(free) != 0, self._split(np.where(free, vectors, 0.0))
        entries, logs, products = _invert_bands(matrices, free_blocks, rhs)
        # Blocks beside the diagonal stand on both sides of it.
        entries[:, 1] *= 2.0
        return Inverses(entries, logs, self._join(products))

    def _split(self, vectors: NDArray[Any]) -> NDArray[Any]:
        """Cut vectors (..., size) into blocks, with zeros beyond the last row."""
        missing = self.n_blocks * self.width - self.size
        if missing:
            vectors = np.pad(vectors, [(0, 0)] * (vectors.ndim - 1) + [(0, missing)])
        return vectors.reshape(*vectors.shape[:-1], self.n_blocks, self.width)

    def _join(self, blocks: Array) -> Array:
        return blocks.reshape(*blocks.shape[:-2], -1)[..., : self.size]


def _invert_bands(matrices: Array, free: Mask, rhs: Array) -> tuple[Array, Array, Array]:
    """Entries of the inverses within the band, log determinants, and products with vectors.

    With ``L`` block-bidiagonal, a matrix is ``L D L'``: `pivots` are the blocks of D and `gains`
    those of L to the left of its diagonal.
    """
    kept = free[:, :, None] & free[:, None, :]
    kept_beside = np.zeros_like(kept)
    kept_beside[1:] = free[1:, :, None] & free[:-1, None, :]
    pivots = np.where(kept, matrices[:, 0], 0.0)
    np.einsum("mtpp->mtp", pivots)[:, ~free] = 1.0
    beside = np.where(kept_beside, matrices[:, 1], 0.0)
    inverse_pivots, gains = np.empty_like(pivots), np.zeros_like(pivots)
    products = rhs.copy()
    n_blocks = len(free)
    for t in range(n_blocks):
        if t > 0:
            gains[:, t] = beside[:, t] @ inverse_pivots[:, t - 1]
            pivots[:, t] -= gains[:, t] @ beside[:, t].swapaxes(1, 2)
            products[:, t] -= np.einsum("mpq,mq->mp", gains[:, t], products[:, t - 1])
        inverse_pivots[:, t] = np.linalg.inv(pivots[:, t])
    signs, logs = np.linalg.slogdet(pivots)
    entries = np.zeros_like(matrices)
    diagonal, left = entries[:, 0], entries[:, 1]
    diagonal[:, -1] = inverse_pivots[:, -1]
    products = np.einsum("mtpq,mtq->mtp", inverse_pivots, products)
    for t in range(n_blocks - 1, 0, -1):
        left[:, t] = -diagonal[:, t] @ gains[:, t]
        diagonal[:, t - 1] = inverse_pivots[:, t - 1] - gains[:, t].swapaxes(1, 2) @ left[:, t]
        products[:, t - 1] -= np.einsum("mpq,mp->mq", gains[:, t], products[:, t])
    entries *= np.stack([kept, kept_beside])
    log_determinants = np.where((signs > 0).all(axis=1), logs.sum(axis=1), -np.inf)
    return entries, log_determinants, np.where(free, products, 0.0)

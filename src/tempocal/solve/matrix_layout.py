"""Symmetric matrices stored in blocks: separate blocks, or a band.

A stored matrix is an array of shape (parts, blocks, n, n). The first part holds the blocks on the
diagonal. A band has a second part, the blocks to the left of these: a matrix without entries
farther than n from the diagonal is block-tridiagonal in blocks of n. Matrices are added and
multiplied by numbers as arrays.

The inverse of a band matrix is dense, but its entries within the band follow from the Cholesky
factor by a recursion (Takahashi, Fagan and Chen 1973), and the trace of the inverse times another
matrix of that band needs no others. Time and memory are linear in the number of blocks.
"""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from tempocal.links import Array
from tempocal.solve.linear_systems import inverses_and_log_determinants

# Narrower bands are cut into blocks of this size: NumPy is slow with smaller ones.
MIN_BLOCK = 16
# With fewer blocks a dense matrix is as fast.
MIN_BLOCKS = 4

Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Inverses:
    """Inverses of several stored matrices; pseudoinverses of singular ones.

    Attributes
    ----------
    entries : ndarray of shape (matrices, parts, blocks, n, n)
        Entries of the inverses where the matrices have theirs.
    log_determinants : ndarray of shape (matrices,)
        Logarithms of the determinants; minus infinity for a band matrix that is not positive
        definite.
    products : ndarray of shape (matrices, size)
        Each inverse times its vector.
    """

    entries: Array
    log_determinants: Array
    products: Array

    def traces(self, matrices: Array) -> Array:
        """Traces of each inverse times each of some stored matrices: (inverses, matrices)."""
        n_parts = self.entries.shape[1]
        # Blocks beside the diagonal stand on both sides of it.
        counted = matrices * np.array([1.0, 2.0])[:n_parts, None, None, None]
        flat = self.entries.reshape(len(self.entries), -1)
        return np.asarray(flat @ counted.reshape(len(matrices), -1).T)


@dataclass(frozen=True)
class MatrixLayout:
    """How symmetric matrices of one size are stored.

    Attributes
    ----------
    size : int
        Number of rows.
    n_blocks, width : int
        Number of blocks, and of rows in each. The last block of a band may extend
        beyond the matrix.
    is_band : bool
        Whether there are blocks beside the diagonal.
    """

    size: int
    n_blocks: int
    width: int
    is_band: bool = False

    @classmethod
    def of(cls, size: int, bandwidth: int) -> Self:
        """Return the layout of matrices without entries farther than this from the diagonal."""
        width = max(bandwidth, MIN_BLOCK)
        if size < MIN_BLOCKS * width:
            return cls(size, 1, size)
        return cls(size, -(-size // width), width, is_band=True)

    def store(self, matrix: Array) -> Array:
        """Store a matrix, given as a dense one, its diagonal, or separate blocks."""
        stored = np.zeros((1 + self.is_band, self.n_blocks, self.width, self.width))
        if matrix.ndim == 3:
            stored[0] = matrix
        elif matrix.ndim == 1:
            np.einsum("tpp->tp", stored[0])[:] = self.split(matrix)
        else:
            for t in range(self.n_blocks):
                rows = slice(t * self.width, (t + 1) * self.width)
                own = matrix[rows, rows]
                stored[0, t, : len(own), : len(own)] = own
                if self.is_band and t > 0:
                    stored[1, t, : len(own)] = matrix[rows, rows.start - self.width : rows.start]
        return stored

    def split(self, vectors: NDArray[Any]) -> NDArray[Any]:
        """Cut vectors (..., size) into blocks, with zeros beyond the last row."""
        missing = self.n_blocks * self.width - self.size
        if missing:
            vectors = np.pad(vectors, [(0, 0)] * (vectors.ndim - 1) + [(0, missing)])
        return vectors.reshape(*vectors.shape[:-1], self.n_blocks, self.width)

    def dot(self, matrix: Array, vectors: Array) -> Array:
        """Product of a stored matrix with each of some vectors (vectors, size)."""
        blocks = self.split(vectors)
        product = np.einsum("tpq,mtq->mtp", matrix[0], blocks)
        if self.is_band:
            product[:, 1:] += np.einsum("tpq,mtq->mtp", matrix[1, 1:], blocks[:, :-1])
            product[:, :-1] += np.einsum("tpq,mtp->mtq", matrix[1, 1:], blocks[:, 1:])
        return self._join(product)

    def invert(self, matrices: Array, free: Mask, vectors: Array) -> Inverses:
        """Invert each matrix over the free coefficients, and multiply a vector by its inverse.

        Rows and columns of coefficients that are not free are zero in the inverse.
        """
        free_blocks, rhs = self.split(free) != 0, self.split(np.where(free, vectors, 0.0))
        if self.is_band:
            entries, logs, products = _invert_bands(matrices, free_blocks, rhs)
            return Inverses(entries, logs, self._join(products))
        count = len(matrices)
        inverses, logs = inverses_and_log_determinants(
            matrices.reshape(-1, self.width, self.width), np.tile(free_blocks, (count, 1))
        )
        inverses = inverses.reshape(matrices.shape)
        products = np.einsum("mtpq,mtq->mtp", inverses[:, 0], rhs)
        return Inverses(inverses, logs.reshape(count, -1).sum(axis=1), self._join(products))

    def _join(self, blocks: Array) -> Array:
        return blocks.reshape(len(blocks), -1)[:, : self.size]


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

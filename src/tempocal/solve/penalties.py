"""Quadratic (ridge) penalties towards the identity map, each with a strength of its own.

A penalty with matrix S and strength s adds ``s / 2 * offset' S offset`` to the summed negative log
likelihood, where ``offset`` is the coefficients minus those of the identity map. This is a normal
prior of precision s S around the identity map. S is the identity matrix over slopes, or over
biases; a smoothing penalty along time penalizes differences between neighbors instead.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import block_diag

from tempocal.links import Array

# One for each penalty of a problem.
Strengths = tuple[float, ...]
# Eigenvalues below this share of the largest belong to unpenalized directions.
RANK_TOLERANCE = 1e-10


@dataclass(frozen=True)
class Penalty:
    """A quadratic penalty on some of the coefficients.

    Attributes
    ----------
    name : str
        What is penalized, for the summary.
    matrix : ndarray of shape (coefficients,), (blocks, n, n) or (coefficients, coefficients)
        S, or its diagonal if S is diagonal, or the blocks on its diagonal.
    stride : int
        If above zero, this is a smoothing penalty: it penalizes differences between coefficients
        that are this many positions apart, and leaves their mean unpenalized.
    unit : float
        Factor for reporting a strength: coefficients may be in other units than those of the map.
    """

    name: str
    matrix: Array
    stride: int = 0
    unit: float = 1.0

    @property
    def is_used(self) -> bool:
        """Whether it penalizes anything."""
        return bool(np.count_nonzero(self.matrix))

    @property
    def diagonal(self) -> Array:
        """Diagonal of S."""
        if self.matrix.ndim == 3:
            return np.asarray(np.einsum("tpp->tp", self.matrix).ravel())
        return self.matrix if self.matrix.ndim == 1 else np.diag(self.matrix)

    @property
    def is_smoothing(self) -> bool:
        """Whether it penalizes differences between coefficients."""
        return self.stride > 0

    def dot(self, offset: Array) -> Array:
        """S times a vector.

        For a smoothing penalty the mean is subtracted first. S maps it to zero, but its rounding
        errors, times a large strength, would exceed the loss.
        """
        return dot(self.matrix, self.centered(offset))

    def centered(self, offset: Array) -> Array:
        """Subtract what S maps to zero from vectors (..., coefficients): the mean of a curve."""
        if not self.is_smoothing:
            return offset
        table = offset.reshape(*offset.shape[:-1], -1, self.stride)
        return np.asarray((table - table.mean(axis=-2, keepdims=True)).reshape(offset.shape))


def total_penalty_matrix(
    penalties: tuple[Penalty, ...], strengths: Strengths, baseline_penalty: Array
) -> Array:
    """Sum of all penalty matrices times their strengths; a diagonal if all of them are.

    It is in blocks if some are, and none is a full matrix.
    """
    total = baseline_penalty
    for penalty, strength in zip(penalties, strengths, strict=True):
        if strength != 0.0:
            total = _add(total, strength * penalty.matrix)
    return total


def dot(penalty_matrix: Array, offset: Array) -> Array:
    """Product of a matrix, its diagonal or its blocks, with a vector."""
    if penalty_matrix.ndim == 1:
        return penalty_matrix * offset
    if penalty_matrix.ndim == 3:
        blocks = offset.reshape(penalty_matrix.shape[:2])
        return np.asarray(np.einsum("tpq,tq->tp", penalty_matrix, blocks).ravel())
    return np.asarray(penalty_matrix @ offset, dtype=np.float64)


def as_matrix(penalty_matrix: Array) -> Array:
    """Return the full matrix of a matrix, its diagonal or its blocks."""
    if penalty_matrix.ndim == 3:
        return np.asarray(block_diag(*penalty_matrix))
    return np.diag(penalty_matrix) if penalty_matrix.ndim == 1 else penalty_matrix


def log_determinant(penalty_matrix: Array) -> float:
    """Log of the pseudo-determinant: the product of the nonzero eigenvalues."""
    values = penalty_matrix if penalty_matrix.ndim == 1 else np.linalg.eigvalsh(penalty_matrix)
    values = values.ravel()
    return float(np.log(values[values > RANK_TOLERANCE * max(values.max(), 0.0)]).sum())


def unpenalized_projection(penalty_matrix: Array) -> Callable[[Array], Array]:
    """Return the projection onto the null space of a penalty matrix."""
    if penalty_matrix.ndim == 1:
        return lambda vector: np.where(penalty_matrix == 0.0, vector, 0.0)
    values, vectors = np.linalg.eigh(penalty_matrix)
    is_null = values <= RANK_TOLERANCE * max(float(values.max()), 0.0)
    null_space = vectors * is_null[..., None, :]
    projection = null_space @ null_space.swapaxes(-1, -2)
    return lambda vector: dot(projection, vector)


def _add(left: Array, right: Array) -> Array:
    if left.ndim == right.ndim or min(left.ndim, right.ndim) > 1:
        return left + right
    diagonal, other = (left, right) if left.ndim == 1 else (right, left)
    total = other.copy()
    of_total = np.einsum("...pp->...p", total)
    of_total += diagonal if other.ndim == 2 else diagonal.reshape(-1, other.shape[-1])
    return total

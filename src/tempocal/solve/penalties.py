"""Quadratic pulls towards the identity, each with a strength of its own.

A strength s adds ``s / 2 * offset' S offset`` to the summed negative log likelihood, ``offset``
being the coefficients minus those of the identity: a normal prior around doing nothing. S is the
identity matrix over slopes, or over biases; along time it can also tie neighbors together.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tempocal.links import Array

# One for each penalty of a problem.
Strengths = tuple[float, ...]
# Eigenvalues below this share of the largest belong to directions that are not pulled.
RANK_TOLERANCE = 1e-10


@dataclass(frozen=True)
class Penalty:
    """A pull on some of the coefficients.

    Attributes
    ----------
    name : str
        What it pulls on, for the summary.
    matrix : ndarray of shape (coefficients,) or (coefficients, coefficients)
        S, or its diagonal where that is all there is.
    ties : int
        If above zero, it ties coefficients that are this many places apart to each other rather
        than to the identity, so that it does not see what they have in common.
    unit : float
        What a strength is multiplied by where it is reported: coefficients may be measured in
        other units than those of the map.
    """

    name: str
    matrix: Array
    stride: int = 0
    unit: float = 1.0

    @property
    def is_used(self) -> bool:
        """Whether it pulls on anything."""
        return bool(np.count_nonzero(self.matrix))

    @property
    def is_smoothing(self) -> bool:
        """Whether it ties coefficients to each other, rather than to the identity."""
        return self.stride > 0

    def dot(self, offset: Array) -> Array:
        """S times a vector.

        What tied coefficients have in common is taken out first. S makes nothing of it, but its
        rounding errors, times a large strength, would drown the loss.
        """
        if not self.is_smoothing:
            return dot(self.matrix, offset)
        table = offset.reshape(-1, self.stride)
        return dot(self.matrix, (table - table.mean(axis=0)).ravel())

    def quadratic_form(self, offset: Array) -> float:
        """``offset' S offset``."""
        return float(offset @ self.dot(offset))


def total_penalty_matrix(
    penalties: tuple[Penalty, ...], strengths: Strengths, baseline_penalty: Array
) -> Array:
    """Add up all pulls: a diagonal where every one of them is."""
    total = baseline_penalty
    for penalty, strength in zip(penalties, strengths, strict=True):
        if strength != 0.0:
            total = _add(total, strength * penalty.matrix)
    return total


def dot(penalty_matrix: Array, offset: Array) -> Array:
    """Product with a vector; ``pull`` is a matrix or its diagonal."""
    return (
        penalty_matrix * offset
        if penalty_matrix.ndim == 1
        else np.asarray(penalty_matrix @ offset, dtype=np.float64)
    )


def as_matrix(penalty_matrix: Array) -> Array:
    """Return the whole matrix."""
    return np.diag(penalty_matrix) if penalty_matrix.ndim == 1 else penalty_matrix


def add_penalty(matrix: Array, penalty_matrix: Array) -> Array:
    """Add a pull, a matrix or its diagonal, to another matrix."""
    if penalty_matrix.ndim == 2:
        return np.asarray(matrix + penalty_matrix)
    total = matrix.copy()
    total.reshape(-1)[:: len(penalty_matrix) + 1] += penalty_matrix
    return total


def log_determinant(penalty_matrix: Array) -> float:
    """Log of the product of the eigenvalues that are not zero."""
    values = penalty_matrix if penalty_matrix.ndim == 1 else np.linalg.eigvalsh(penalty_matrix)
    return float(np.log(values[values > RANK_TOLERANCE * max(values.max(), 0.0)]).sum())


def unpenalized_projection(penalty_matrix: Array) -> Callable[[Array], Array]:
    """Return the projection of a vector onto the directions that nothing pulls back."""
    if penalty_matrix.ndim == 1:
        return lambda vector: np.where(penalty_matrix == 0.0, vector, 0.0)
    values, vectors = np.linalg.eigh(penalty_matrix)
    loose = vectors[:, values <= RANK_TOLERANCE * max(values[-1], 0.0)]
    return lambda vector: np.asarray(loose @ (loose.T @ vector), dtype=np.float64)


def _add(one: Array, other: Array) -> Array:
    if one.ndim == other.ndim:
        return one + other
    return as_matrix(one) + as_matrix(other)

"""Linear systems with positive semidefinite matrices, such as Hessians with flat directions.

Matrices are scaled to unit diagonal first, so that the units of the coefficients do not decide
which directions count as flat. Flat directions get zero in the solution, as with a pseudoinverse.
"""


import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

from tempocal.links import Array

# Eigenvalues below this share of the largest are treated as zero.
FLAT = 1e-13
# From this size on a Cholesky factorization is faster than eigenvectors.
CHOLESKY_SIZE = 40
# Below this pivot of the Cholesky factor an inverse is too inaccurate.
SMALLEST_PIVOT = 1e-5
# Ridge added before factorization, rounds of iterative refinement that undo it, and the largest
# relative residual after them.
RIDGE = 1e-9
ROUNDS = 3
RESIDUAL_TOLERANCE = 1e-8
SUM_AND_DIFFERENCE = np.array([[1.0, 1.0], [1.0, -1.0]])


def solve_semidefinite(matrix: Array, vector: Array, damping: float = 0.0) -> Array:
    """Solve a positive semidefinite system, with zero in its flat directions."""
    if len(matrix) == 1:
        return 0.0 * vector if matrix[0, 0] <= 0.0 else vector / (matrix[0] * (1.0 + damping))
    if len(matrix) == 2:
        free = np.ones((1, 2), dtype=bool)
        pair = _solve_pairs(matrix[None], vector[None], free, np.array([damping]))
        return np.asarray(pair[0])
    scale = np.sqrt(np.maximum(np.diag(matrix), 0.0))
    scale[scale == 0.0] = 1.0
    scaled = matrix / np.outer(scale, scale)
    if len(scaled) >= CHOLESKY_SIZE:
        solution = _solve_cholesky(scaled, vector / scale, damping)
        if solution is not None:
            return solution / scale
    values, vectors = np.linalg.eigh(scaled)
    usable = values > FLAT * max(values[-1], 0.0)
    inverse = np.where(usable, 1.0 / np.where(usable, values + damping, 1.0), 0.0)
    solution = vectors @ (inverse * (vectors.T @ (vector / scale))) / scale
    return np.asarray(solution, dtype=np.float64)


def solve_blocks(blocks: Array, vectors: Array, free: NDArray[np.bool_], damping: Array) -> Array:
    """Solve the system of each block over its free coefficients, as in `solve_semidefinite`."""
    if blocks.shape[1] == 2:
        return _solve_pairs(blocks, vectors, free, damping)
    filled, scale = _scaled(blocks, free)
    if blocks.shape[1] == 1:
        # One number: nothing to factor.
        size = filled[:, 0, 0]
        inverse = np.where(size > 0.0, 1.0 / np.where(size > 0.0, size + damping, 1.0), 0.0)
        return np.where(free, vectors * inverse[:, None] / scale**2, 0.0)
    rhs = np.where(free, vectors / scale, 0.0)
    if _cholesky_pivots(filled) is not None:
        damped = filled + damping[:, None, None] * np.eye(blocks.shape[1])
        return np.where(free, np.linalg.solve(damped, rhs[:, :, None])[:, :, 0] / scale, 0.0)
    values, bases = np.linalg.eigh(filled)
    usable = values > FLAT * np.maximum(values[:, -1:], 0.0)
    inverses = np.where(usable, 1.0 / np.where(usable, values + damping[:, None], 1.0), 0.0)
    inner = np.einsum("tqp,tq->tp", bases, rhs)
    return np.where(free, np.einsum("tpq,tq->tp", bases, inverses * inner) / scale, 0.0)


def _solve_pairs(blocks: Array, vectors: Array, free: NDArray[np.bool_], damping: Array) -> Array:
    inverse_scale, inverses = _pair_inverses(blocks, free, damping[:, None])
    inner = (vectors * inverse_scale) @ SUM_AND_DIFFERENCE
    return np.asarray((inverses * inner) @ SUM_AND_DIFFERENCE * inverse_scale)


def _pair_inverses(
    blocks: Array, free: NDArray[np.bool_], damping: Array | float = 0.0
) -> tuple[Array, Array]:
    """Return the scaling to unit diagonal of 2x2 blocks, and half the inverse eigenvalues after it.

    A symmetric matrix with unit diagonal has the eigenvectors (1, 1) and (1, -1). Coefficients that
    are not free are scaled by zero.
    """
    diagonal = np.einsum("tpp->tp", blocks)
    inverse_scale = 1.0 / np.sqrt(np.where(free & (diagonal > 0.0), diagonal, np.inf))
    correlation = blocks[:, 0, 1] * inverse_scale[:, 0] * inverse_scale[:, 1]
    values = 1.0 + correlation[:, None] * SUM_AND_DIFFERENCE[1]
    # They add up to 2: where one is zero, the largest is 2.
    usable = values > 2.0 * FLAT
    return inverse_scale, np.where(usable, 0.5 / np.where(usable, values + damping, 1.0), 0.0)


def invert_blocks(blocks: Array, free: NDArray[np.bool_]) -> Array:
    """Pseudoinverse of each block (blocks, n, n) over the coefficients that are free (blocks, n).

    Rows and columns of the others are zero.
    """
    return inverses_and_log_determinants(blocks, free)[0]


def inverses_and_log_determinants(blocks: Array, free: NDArray[np.bool_]) -> tuple[Array, Array]:
    """Return `invert_blocks`, and the log determinant of each block over its free coefficients.

    That of a singular block is the sum of the logarithms of its nonzero eigenvalues. Which ones are
    zero depends on the units of the coefficients: scale these first.
    """
    if blocks.shape[1] == 1:
        # One number: nothing to factor.
        usable = free & (blocks[:, :, 0] > 0.0)
        values = np.where(usable, blocks[:, :, 0], 1.0)
        return np.where(usable, 1.0 / values, 0.0)[:, :, None], np.log(values)[:, 0]
    filled, scale = _scaled(blocks, free)
    scales = scale[:, :, None] * scale[:, None, :]
    kept = free[:, :, None] & free[:, None, :]
    pivots = _cholesky_pivots(filled)
    if pivots is not None:
        inverse = np.where(kept, np.linalg.inv(filled) / scales, 0.0)
        return inverse, 2.0 * np.log(pivots * scale).sum(axis=1)
    inverse = np.linalg.pinv(filled, rcond=FLAT, hermitian=True)
    values = np.linalg.eigvalsh(np.where(kept, blocks, filled))
    usable = values > FLAT * np.maximum(values[:, -1:], 0.0)
    logs = np.log(np.where(usable, values, 1.0)).sum(axis=1)
    return np.where(kept, inverse / scales, 0.0), logs


def _scaled(blocks: Array, free: NDArray[np.bool_]) -> tuple[Array, Array]:
    """Scale blocks to unit diagonal; return them and the scale of each coefficient.

    Coefficients that are not free are replaced by rows and columns of the identity matrix.
    """
    diagonal = np.einsum("tpp->tp", blocks)
    scale = np.sqrt(np.where(free & (diagonal > 0.0), diagonal, 1.0))
    kept = free[:, :, None] & free[:, None, :]
    scaled = np.where(kept, blocks / (scale[:, :, None] * scale[:, None, :]), 0.0)
    return scaled + np.where(free, 0.0, 1.0)[:, :, None] * np.eye(blocks.shape[1]), scale


def _cholesky_pivots(blocks: Array) -> Array | None:
    """Diagonals of the Cholesky factors (blocks, n); None if a block has a flat direction."""
    try:
        pivots = np.einsum("tpp->tp", np.linalg.cholesky(blocks))
    except np.linalg.LinAlgError:
        return None
    return pivots if pivots.min() >= SMALLEST_PIVOT else None


def _solve_cholesky(matrix: Array, rhs: Array, damping: float) -> Array | None:
    """Solve by Cholesky with a small ridge and iterative refinement; None if that fails.

    It fails if the right-hand side has a component in a flat direction. Ten times as fast as
    eigenvectors.
    """
    damped = matrix + damping * np.eye(len(matrix))
    try:
        factor = cho_factor(damped + RIDGE * np.eye(len(matrix)), check_finite=False)
    except np.linalg.LinAlgError:
        return None
    solution, residual = np.zeros_like(rhs), rhs
    for _ in range(ROUNDS):
        solution = solution + cho_solve(factor, residual, check_finite=False)
        residual = rhs - damped @ solution
    is_solved = np.linalg.norm(residual) <= RESIDUAL_TOLERANCE * np.linalg.norm(rhs)
    return np.asarray(solution, dtype=np.float64) if is_solved else None


def as_blocks(matrix: Array) -> Array:
    """View a single matrix as one block."""
    return matrix if matrix.ndim == 3 else matrix[None]


def blocks_like(matrix: Array, blocks: Array) -> Array:
    """Arrange a matrix, or its diagonal, in blocks of the shape of ``blocks``."""
    if matrix.ndim == 2:
        return matrix[None]
    return matrix.reshape(blocks.shape[:2])[:, :, None] * np.eye(blocks.shape[1])

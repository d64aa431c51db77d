"""Linear systems of curvatures, which may be flat in some directions."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

from tempocal.links import Array

# Directions in which the curvature is below this share of the largest are left alone.
FLAT = 1e-13
# From this size on Cholesky's factors save time; below this pivot an inverse is not to be trusted.
CHOLESKY_SIZE = 40
SMALLEST_PIVOT = 1e-5
# Added to the curvature of every direction, taken back in so many rounds, and what may be left.
RIDGE = 1e-9
ROUNDS = 3
RESIDUAL_TOLERANCE = 1e-8
SUM_AND_DIFFERENCE = np.array([[1.0, 1.0], [1.0, -1.0]])


def solve_semidefinite(matrix: Array, vector: Array, damping: float = 0.0) -> Array:
    """Solve a positive semidefinite system, moving nowhere in its flat directions."""
    if len(matrix) == 1:
        # One number: nothing to factor. Its scale is its own.
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
    """Solve the system of each block over its free coefficients, as `solve_flat` does."""
    if blocks.shape[1] == 2:
        return _solve_pairs(blocks, vectors, free, damping)
    filled, scale = _scaled(blocks, free)
    if blocks.shape[1] == 1:
        # One number: nothing to factor.
        size = filled[:, 0, 0]
        inverse = np.where(size > 0.0, 1.0 / np.where(size > 0.0, size + damping, 1.0), 0.0)
        return np.where(free, vectors * inverse[:, None] / scale**2, 0.0)
    rhs = np.where(free, vectors / scale, 0.0)
    if _are_well_conditioned(filled):
        damped = filled + damping[:, None, None] * np.eye(blocks.shape[1])
        return np.where(free, np.linalg.solve(damped, rhs[:, :, None])[:, :, 0] / scale, 0.0)
    values, bases = np.linalg.eigh(filled)
    usable = values > FLAT * np.maximum(values[:, -1:], 0.0)
    inverses = np.where(usable, 1.0 / np.where(usable, values + damping[:, None], 1.0), 0.0)
    inner = np.einsum("tqp,tq->tp", bases, rhs)
    return np.where(free, np.einsum("tpq,tq->tp", bases, inverses * inner) / scale, 0.0)


def _solve_pairs(blocks: Array, vectors: Array, free: NDArray[np.bool_], damping: Array) -> Array:
    """Solve systems of two."""
    unit, inverses = _pair_inverses(blocks, free, damping[:, None])
    inner = (vectors * unit) @ SUM_AND_DIFFERENCE
    return np.asarray((inverses * inner) @ SUM_AND_DIFFERENCE * unit)


def _pair_inverses(
    blocks: Array, free: NDArray[np.bool_], damping: Array | float = 0.0
) -> tuple[Array, Array]:
    """Units that put ones on the diagonals, and half the inverses of the eigenvalues then.

    The eigenvectors are the sum and the difference. What does not move has no unit.
    """
    diagonal = np.einsum("tpp->tp", blocks)
    unit = 1.0 / np.sqrt(np.where(free & (diagonal > 0.0), diagonal, np.inf))
    correlation = blocks[:, 0, 1] * unit[:, 0] * unit[:, 1]
    values = 1.0 + correlation[:, None] * SUM_AND_DIFFERENCE[1]
    # Where one of them is flat, the other is 2.
    usable = values > 2.0 * FLAT
    return unit, np.where(usable, 0.5 / np.where(usable, values + damping, 1.0), 0.0)


def invert_blocks(blocks: Array, free: NDArray[np.bool_]) -> Array:
    """Inverse of each block (blocks, n, n) over the coefficients that are free (blocks, n).

    The rest has zeros in its rows and columns, and so do directions without curvature.
    """
    if blocks.shape[1] == 1:
        # One number: nothing to factor.
        usable = free[:, :, None] & (blocks > 0.0)
        return np.where(usable, 1.0 / np.where(usable, blocks, 1.0), 0.0)
    if blocks.shape[1] == 2:
        unit, inverses = _pair_inverses(blocks, free)
        both = (SUM_AND_DIFFERENCE * inverses[:, None, :]) @ SUM_AND_DIFFERENCE
        return np.asarray(both * unit[:, :, None] * unit[:, None, :])
    filled, scale = _scaled(blocks, free)
    if _are_well_conditioned(filled):
        inverse = np.linalg.inv(filled)
    else:
        inverse = np.linalg.pinv(filled, rcond=FLAT, hermitian=True)
    kept = free[:, :, None] & free[:, None, :]
    return np.where(kept, inverse / (scale[:, :, None] * scale[:, None, :]), 0.0)


def approximate_solver(matrix: Array) -> Callable[[Array], Array] | None:
    """Return what solves a positive semidefinite system, about; None if it is not one.

    One vector at a time: for several, BLAS takes threads, which then wait on the cores.
    """
    scale = np.sqrt(np.maximum(np.diag(matrix), 0.0))
    scale[scale == 0.0] = 1.0
    scaled = matrix / np.outer(scale, scale) + RIDGE * np.eye(len(matrix))
    try:
        factor = cho_factor(scaled, check_finite=False)
    except np.linalg.LinAlgError:
        return None
    return lambda rhs: np.asarray(cho_solve(factor, rhs / scale, check_finite=False) / scale)


def _scaled(blocks: Array, free: NDArray[np.bool_]) -> tuple[Array, Array]:
    """Blocks with ones on their diagonals, and what they were divided by on either side.

    So units of the coefficients do not decide what is flat. What is not free is cut off.
    """
    diagonal = np.einsum("tpp->tp", blocks)
    scale = np.sqrt(np.where(free & (diagonal > 0.0), diagonal, 1.0))
    kept = free[:, :, None] & free[:, None, :]
    scaled = np.where(kept, blocks / (scale[:, :, None] * scale[:, None, :]), 0.0)
    return scaled + np.where(free, 0.0, 1.0)[:, :, None] * np.eye(blocks.shape[1]), scale


def _are_well_conditioned(blocks: Array) -> bool:
    """Tell blocks of which none has a flat direction."""
    try:
        pivots = np.einsum("tpp->tp", np.linalg.cholesky(blocks))
    except np.linalg.LinAlgError:
        return False
    return bool(pivots.min() >= SMALLEST_PIVOT)


def _solve_cholesky(matrix: Array, rhs: Array, damping: float) -> Array | None:
    """Solve a system whose flat directions, if any, the right side has nothing of; else None.

    A small ridge makes the matrix definite, and what it has taken off the solution is put back.
    Factors take a tenth of the time of eigenvectors.
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
    """Take a matrix as a single block."""
    return matrix if matrix.ndim == 3 else matrix[None]


def blocks_like(penalty_matrix: Array, blocks: Array) -> Array:
    """Put a matrix, or the diagonal of one, in the blocks that the Hessian comes in."""
    if penalty_matrix.ndim == 2:
        return penalty_matrix[None]
    return penalty_matrix.reshape(blocks.shape[:2])[:, :, None] * np.eye(blocks.shape[1])

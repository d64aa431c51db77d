"""Linear systems with positive semidefinite matrices, such as Hessians with flat directions.

Matrices are scaled to unit diagonal first, so that the units of the coefficients do not decide
which directions count as flat. Flat directions get zero in the solution, as with a pseudoinverse.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve, cho_solve_banded, cholesky_banded

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
# A matrix at least this many times as large as its bandwidth is factored as a band.
MIN_SIZE_PER_BANDWIDTH = 4
SUM_AND_DIFFERENCE = np.array([[1.0, 1.0], [1.0, -1.0]])


Mask = NDArray[np.bool_]


def solve_semidefinite(matrix: Array, vector: Array, damping: float = 0.0) -> Array:
    """Solve a positive semidefinite system, with zero in its flat directions."""
    free = np.ones((1, len(matrix)), dtype=bool)
    return np.asarray(solve_blocks(matrix[None], vector[None], free, np.array([damping]))[0])


def solve_blocks(
    blocks: Array,
    vectors: Array,
    free: Mask,
    damping: Array,
    *,
    bandwidth: int | None = None,
) -> Array:
    """Solve the system of each block over its free coefficients, with zero in flat directions.

    The blocks have no entries farther than ``bandwidth`` from the diagonal, if it is given.
    """
    size = blocks.shape[1]
    if size == 2:
        return _solve_pairs(blocks, vectors, free, damping)
    filled, scale = _scaled(blocks, free)
    if size == 1:
        # One number: nothing to factor.
        value = filled[:, 0, 0]
        inverse = np.where(value > 0.0, 1.0 / np.where(value > 0.0, value + damping, 1.0), 0.0)
        return np.where(free, vectors * inverse[:, None] / scale**2, 0.0)
    rhs = np.where(free, vectors / scale, 0.0)
    if size >= CHOLESKY_SIZE:
        each = zip(filled, rhs, damping, strict=True)
        return np.stack([_solve_one(*one, bandwidth) for one in each]) * free / scale
    if _cholesky_pivots(filled) is not None:
        damped = filled + damping[:, None, None] * np.eye(size)
        return np.where(free, np.linalg.solve(damped, rhs[:, :, None])[:, :, 0] / scale, 0.0)
    return np.where(free, _solve_by_eigenvectors(filled, rhs, damping) / scale, 0.0)


def _solve_by_eigenvectors(scaled: Array, rhs: Array, damping: Array) -> Array:
    values, bases = np.linalg.eigh(scaled)
    usable = values > FLAT * np.maximum(values[:, -1:], 0.0)
    inverses = np.where(usable, 1.0 / np.where(usable, values + damping[:, None], 1.0), 0.0)
    inner = np.einsum("tqp,tq->tp", bases, rhs)
    return np.asarray(np.einsum("tpq,tq->tp", bases, inverses * inner))


def _solve_one(scaled: Array, rhs: Array, damping: float, bandwidth: int | None) -> Array:
    """Solve a system of many coefficients, by Cholesky if it is definite."""
    solution = _solve_cholesky(scaled, rhs, damping, bandwidth)
    if solution is not None:
        return solution
    return np.asarray(_solve_by_eigenvectors(scaled[None], rhs[None], np.array([damping]))[0])


def bounded_steps(
    theta: Array,
    gradient: Array,
    hessian: Array,
    lower: Array,
    damping: Array,
    *,
    bandwidth: int | None = None,
) -> Array:
    """Newton step of each block over its free coefficients, by an active set for the bounds.

    Blocks are along the first axis; ``lower`` may be shared.
    """
    free = (theta > lower) | (gradient < 0)
    if free.all():
        step = -solve_blocks(hessian, gradient, free, damping, bandwidth=bandwidth)
        if (theta + step >= lower).all():
            return step
    to_bound = np.where(np.isfinite(lower), lower - theta, 0.0)
    released_before = np.zeros_like(free)
    while True:
        at_bound = np.where(free, 0.0, to_bound)
        reduced_gradient = gradient + np.einsum("tpq,tq->tp", hessian, at_bound)
        solved = solve_blocks(hessian, reduced_gradient, free, damping, bandwidth=bandwidth)
        step = at_bound - solved
        violated = free & (theta + step < lower)
        # A coefficient at its bound whose gradient is negative after the step is released, once.
        new_gradient = gradient + np.einsum("tpq,tq->tp", hessian, step)
        converged = ~violated.any(axis=1, keepdims=True)
        released = converged & ~free & ~released_before & (new_gradient < 0)
        if not violated.any() and not released.any():
            return np.maximum(theta + step, lower) - theta
        released_before |= released
        free = (free & ~violated) | released


def _solve_pairs(blocks: Array, vectors: Array, free: Mask, damping: Array) -> Array:
    inverse_scale, inverses = _pair_inverses(blocks, free, damping[:, None])
    inner = (vectors * inverse_scale) @ SUM_AND_DIFFERENCE
    return np.asarray((inverses * inner) @ SUM_AND_DIFFERENCE * inverse_scale)


def _pair_inverses(blocks: Array, free: Mask, damping: Array | float = 0.0) -> tuple[Array, Array]:
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


def invert_blocks(blocks: Array, free: Mask, *, bandwidth: int | None = None) -> Array:
    """Pseudoinverse of each block (blocks, n, n) over the coefficients that are free (blocks, n).

    Rows and columns of the others are zero. ``bandwidth`` is as in `solve_blocks`.
    """
    if bandwidth is not None and bandwidth * MIN_SIZE_PER_BANDWIDTH <= blocks.shape[1]:
        inverses = [
            _invert_band(block, kept, bandwidth) for block, kept in zip(blocks, free, strict=True)
        ]
        if all(one is not None for one in inverses):
            return np.array(inverses)
    return inverses_and_log_determinants(blocks, free)[0]


def _invert_band(matrix: Array, free: Mask, bandwidth: int) -> Array | None:
    """Inverse of a band matrix over the free coefficients; None if it has a flat direction."""
    filled, scale = (one[0] for one in _scaled(matrix[None], free[None]))
    band = _lower_band(filled, bandwidth)
    try:
        factor = cholesky_banded(band, lower=True, check_finite=False)
    except np.linalg.LinAlgError:
        return None
    if factor[0].min() < SMALLEST_PIVOT:
        return None
    inverse = cho_solve_banded((factor, True), np.eye(len(matrix)), check_finite=False)
    return np.where(free[:, None] & free, inverse / scale[:, None] / scale, 0.0)


def inverses_and_log_determinants(blocks: Array, free: Mask) -> tuple[Array, Array]:
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


def _scaled(blocks: Array, free: Mask) -> tuple[Array, Array]:
    """Scale blocks to unit diagonal; return them and the scale of each coefficient.

    Coefficients that are not free are replaced by rows and columns of the identity matrix.
    """
    diagonal = np.einsum("tpp->tp", blocks)
    scale = np.sqrt(np.where(free & (diagonal > 0.0), diagonal, 1.0))
    inverse_scale = 1.0 / scale
    scaled = blocks * inverse_scale[:, :, None]
    scaled *= inverse_scale[:, None, :]
    if free.all():
        return scaled, scale
    scaled = np.where(free[:, :, None] & free[:, None, :], scaled, 0.0)
    return scaled + np.where(free, 0.0, 1.0)[:, :, None] * np.eye(blocks.shape[1]), scale


def _cholesky_pivots(blocks: Array) -> Array | None:
    """Diagonals of the Cholesky factors (blocks, n); None if a block has a flat direction."""
    try:
        pivots = np.einsum("tpp->tp", np.linalg.cholesky(blocks))
    except np.linalg.LinAlgError:
        return None
    return pivots if pivots.min() >= SMALLEST_PIVOT else None


def _solve_cholesky(
    matrix: Array, rhs: Array, damping: float, bandwidth: int | None
) -> Array | None:
    """Solve by Cholesky with a small ridge and iterative refinement; None if that fails.

    It fails if the right-hand side has a component in a flat direction. Ten times as fast as
    eigenvectors, and again as fast for a band.
    """
    solve = _cholesky_solver(matrix, damping + RIDGE, bandwidth)
    if solve is None:
        return None
    solution, residual = np.zeros_like(rhs), rhs
    for _ in range(ROUNDS):
        solution = solution + solve(residual)
        residual = rhs - matrix @ solution - damping * solution
    is_solved = np.linalg.norm(residual) <= RESIDUAL_TOLERANCE * np.linalg.norm(rhs)
    return np.asarray(solution, dtype=np.float64) if is_solved else None


def _cholesky_solver(
    matrix: Array, ridge: float, bandwidth: int | None
) -> Callable[[Array], Array] | None:
    """Factor a matrix plus a ridge; None if it is not positive definite."""
    size = len(matrix)
    try:
        if bandwidth is None or bandwidth * MIN_SIZE_PER_BANDWIDTH > size:
            factor = cho_factor(matrix + ridge * np.eye(size), check_finite=False)
            return lambda rhs: np.asarray(cho_solve(factor, rhs, check_finite=False))
        band = _lower_band(matrix, bandwidth)
        band[0] += ridge
        banded = cholesky_banded(band, lower=True, check_finite=False)
    except np.linalg.LinAlgError:
        return None
    return lambda rhs: np.asarray(cho_solve_banded((banded, True), rhs, check_finite=False))


def _lower_band(matrix: Array, bandwidth: int) -> Array:
    """Diagonals of a symmetric matrix from the main one down, as LAPACK stores a band."""
    band = np.zeros((bandwidth + 1, len(matrix)))
    for k in range(bandwidth + 1):
        band[k, : len(matrix) - k] = np.diagonal(matrix, -k)
    return band

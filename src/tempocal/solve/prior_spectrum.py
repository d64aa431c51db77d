"""Eigenvalues of penalties in a basis that they share.

A penalty along a curve is a Kronecker product: a matrix over the functions of the curve, which
holds the level or the roughness, times one over the coefficients of a key, which holds slopes,
biases, or what these have in common. Matrices of either kind have a basis in which all of them are
diagonal. There the determinant of their sum, and its inverse, take no factorization: whatever the
strengths, the eigenvalues of the sum are sums of these.
"""

from collections.abc import Sequence

import numpy as np
from scipy.linalg import solve_triangular

from tempocal.links import Array

# Entries below this share of the largest are rounding errors.
ROUNDING = 1e-12
# Of functions whose penalties differ by more than this, small eigenvalues would be lost.
MAX_SPREAD = 1e6


def prior_spectrum(matrices: Sequence[Array], width: int) -> Array | None:
    """Eigenvalues of some matrices in a basis that they share, up to a common factor of each.

    Parameters
    ----------
    matrices : sequence of ndarray
        Of shape (coefficients,), (blocks, n, n) or (coefficients, coefficients), as those of
        `Penalty`.
    width : int
        Number of coefficients of a key.

    Returns
    -------
    ndarray of shape (matrices, coefficients) or None
        None if there is no such basis, or if it could not be trusted.
    """
    factors = [_factors(matrix, width) for matrix in matrices]
    known = [one for one in factors if one is not None]
    if len(known) < len(factors):
        return None
    over_functions = _relative_eigenvalues([function for function, _ in known])
    within_keys = _common_eigenvalues([within for _, within in known])
    if over_functions is None or within_keys is None:
        return None
    products = over_functions[:, :, None] * within_keys[:, None, :]
    return np.asarray(products.reshape(len(known), -1))


def _factors(matrix: Array, width: int) -> tuple[Array, Array] | None:
    """Split a matrix into one over functions and one within keys, of which it is the product."""
    if matrix.ndim == 1:
        table = matrix.reshape(-1, width)
        row, column = divmod(int(np.argmax(table)), width)
        function, within = np.diag(table[:, column]), np.diag(table[row] / table[row, column])
        is_product = _are_close(table, np.outer(np.diag(function), np.diag(within)))
    elif matrix.ndim == 3:
        diagonal = np.einsum("tpp->tp", matrix)
        row, column = divmod(int(np.argmax(diagonal)), width)
        function = np.diag(matrix[:, column, column])
        within = matrix[row] / matrix[row, column, column]
        is_product = _are_close(matrix, np.diag(function)[:, None, None] * within)
    else:
        blocks = matrix.reshape(len(matrix) // width, width, -1, width)
        row, column = divmod(int(np.argmax(np.diag(matrix))), width)
        function = blocks[:, column, :, column]
        within = blocks[row, :, row] / blocks[row, column, row, column]
        is_product = _are_close(blocks, function[:, None, :, None] * within[:, None, :])
    return (function, within) if is_product else None


def _relative_eigenvalues(matrices: Sequence[Array]) -> Array | None:
    """Eigenvalues of matrices relative to their sum, each scaled to a diagonal of at most 1."""
    diagonals = np.array([np.diag(one) for one in matrices])
    largest = diagonals.max(axis=1)
    if not (diagonals.min(axis=1) * MAX_SPREAD >= largest).all():
        return None
    scaled = [one / size for one, size in zip(matrices, largest, strict=True)]
    try:
        root = np.linalg.cholesky(np.sum(scaled, axis=0))
    except np.linalg.LinAlgError:
        return None
    relative = [_within(root, one) for one in scaled]
    found = _common_eigenvalues(relative)
    return None if found is None else found * largest[:, None]


def _within(root: Array, matrix: Array) -> Array:
    """Return the matrix in units in which the product of ``root`` with itself is the identity."""
    half = solve_triangular(root, matrix, lower=True, check_finite=False)
    return np.asarray(solve_triangular(root, half.T, lower=True, check_finite=False))


def _common_eigenvalues(matrices: Sequence[Array]) -> Array | None:
    """Eigenvalues of symmetric matrices that commute; None if they do not."""
    # With weights that have nothing in common, different eigenvalues have different sums.
    weights = np.sqrt(np.arange(2.0, len(matrices) + 2.0))
    total = np.einsum("k,kpq->pq", weights, matrices)
    basis = np.linalg.eigh(0.5 * (total + total.T))[1]
    in_basis = basis.T @ np.stack(matrices) @ basis
    values = np.einsum("kpp->kp", in_basis).copy()
    for own, one in zip(values, in_basis, strict=True):
        if not _are_close(one, np.diag(own), share=1e-9):
            return None
        own[own <= ROUNDING * own.max()] = 0.0
    return np.asarray(values, dtype=np.float64)


def _are_close(one: Array, other: Array, share: float = ROUNDING) -> bool:
    return bool(np.abs(one - other).max() <= share * np.abs(one).max())

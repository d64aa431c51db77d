"""Gradients of the loss summed by group, the "meat" of the sandwich (cluster-robust) covariance.

With g_c the gradient summed over the rows of group c, the variance of the total gradient is
``J = n / (n - 1) * sum over the n groups of g_c g_c'``.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tempocal.inputs import Groups
from tempocal.links import Array
from tempocal.solve.problem import Problem, Solution

# Maps tables (groups, keys), one per coefficient of a key, to gradients (groups, parameters).
Projection = Callable[[Sequence[Any]], Array]


def gradient_squares(problem: Problem, solution: Solution, groups: Groups) -> Array:
    """Sum over groups of the outer products of their gradients, in the blocks of the Hessian."""
    at_keys = problem.at_keys(solution.theta)
    if not problem.is_separate:
        return projected_squares(problem, at_keys, groups, _by_coefficient(problem))[None]
    width = problem.rows.n_coefficients
    total = np.zeros((width, width, problem.rows.n_keys))
    for tables in problem.rows.group_gradients(at_keys, groups.codes, groups.count):
        # Within each key only: the blocks hold no products across keys.
        for p, one in enumerate(tables):
            for q, other in enumerate(tables[: p + 1]):
                total[p, q] += _by_key(one, other)
                total[q, p] = total[p, q]
    return np.ascontiguousarray(total.transpose(2, 0, 1))


def projected_squares(
    problem: Problem, at_keys: Array, groups: Groups, project: Projection
) -> Array:
    """Sum over groups of the outer products of their gradients in other parameters.

    ``project`` turns gradients by the coefficients of each key into gradients by these parameters.
    """
    tables = problem.rows.group_gradients(at_keys, groups.codes, groups.count)
    group_gradients = map(project, tables)
    return np.asarray(sum(gradients.T @ gradients for gradients in group_gradients))


def _by_coefficient(problem: Problem) -> Projection:
    """Project gradients at the keys onto the coefficients of the problem."""
    basis = problem.basis
    if basis.ndim == 1:
        count = problem.n_coefficients // problem.rows.n_coefficients
        basis = (basis[:, None] == np.arange(count)).astype(np.float64)

    def project(tables: Sequence[Any]) -> Array:
        # (groups, functions) for each coefficient of a key.
        parts = [np.asarray(table @ basis) for table in tables]
        return np.stack(parts, axis=2).reshape(len(parts[0]), -1)

    return project


def _by_key(one: Any, other: Any) -> Array:
    """Sum the products of two tables over groups; both are dense, or both sparse."""
    if isinstance(one, np.ndarray):
        return np.asarray(np.einsum("gk,gk->k", one, other))
    return np.asarray(one.multiply(other).sum(axis=0)).ravel()


def groups_in_blocks(problem: Problem, solution: Solution, groups: Groups) -> Array:
    """Count the groups with rows in each block."""
    if not problem.is_separate:
        return np.array([float(groups.count)])
    return problem.rows.groups_by_key(groups.codes, groups.count)


def cluster_variance(squares: Array, counts: Array) -> Array:
    """Variance of the gradient from the outer products of ``counts`` groups in each block."""
    correction = np.maximum(counts, 2) / np.maximum(counts - 1, 1)
    return np.asarray(squares * correction[:, None, None], dtype=np.float64)


def gradient_variance(problem: Problem, solution: Solution, groups: Groups) -> Array:
    """Variance of the gradient over groups, in the blocks of the Hessian: (blocks, n, n)."""
    squares = gradient_squares(problem, solution, groups)
    return cluster_variance(squares, groups_in_blocks(problem, solution, groups))

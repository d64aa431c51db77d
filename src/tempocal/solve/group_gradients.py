"""Gradients of the loss summed by group: what robust variances are made of."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tempocal.inputs import Groups
from tempocal.links import Array
from tempocal.solve.problem import Problem, Solution

# Tables of groups and keys, one for each coefficient of a key, to what is made of them.
Projection = Callable[[Sequence[Any]], Array]


def gradient_squares(problem: Problem, solution: Solution, groups: Groups) -> Array:
    """Sum over groups of the squares of their gradients, in the blocks that the Hessian has."""
    assert solution.hessian is not None
    at_keys = problem.at_keys(solution.theta)
    if solution.hessian.ndim == 2:
        return projected_squares(problem, at_keys, groups, _by_coefficient(problem))[None]
    width = problem.rows.n_coefficients
    total = np.zeros((width, width, problem.rows.n_keys))
    for tables in problem.rows.group_gradients(at_keys, groups.codes, groups.count):
        # Of each key alone: what is shared between keys no block holds.
        for p, one in enumerate(tables):
            for q, other in enumerate(tables[: p + 1]):
                total[p, q] += _by_key(one, other)
                total[q, p] = total[p, q]
    return np.ascontiguousarray(total.transpose(2, 0, 1))


def projected_squares(
    problem: Problem, at_keys: Array, groups: Groups, project: Projection
) -> Array:
    """Sum over groups of the squares of their gradients by some parameters.

    ``along`` makes these, (groups, parameters), of the gradients by the coefficients at each key.
    """
    tables = problem.rows.group_gradients(at_keys, groups.codes, groups.count)
    by_group = map(project, tables)
    return np.asarray(sum(gradients.T @ gradients for gradients in by_group))


def _by_coefficient(problem: Problem) -> Projection:
    """Gradients by the coefficients of the problem."""
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
    """Sum the products of two tables over groups; both are whole, or neither."""
    if isinstance(one, np.ndarray):
        return np.asarray(np.einsum("gk,gk->k", one, other))
    return np.asarray(one.multiply(other).sum(axis=0)).ravel()


def groups_in_blocks(problem: Problem, solution: Solution, groups: Groups) -> Array:
    """How many groups have rows in each block."""
    assert solution.hessian is not None
    if solution.hessian.ndim == 2:
        return np.array([float(groups.count)])
    return problem.rows.groups_by_key(groups.codes, groups.count)


def cluster_variance(squares: Array, counts: Array) -> Array:
    """Variance of the sum over groups, from the squares of so many of them in each block."""
    more = np.maximum(counts, 2) / np.maximum(counts - 1, 1)
    return np.asarray(squares * more[:, None, None], dtype=np.float64)


def gradient_variance(problem: Problem, solution: Solution, groups: Groups) -> Array:
    """Variance of the gradient over groups, in the blocks that the Hessian has: (blocks, n, n)."""
    squares = gradient_squares(problem, solution, groups)
    return cluster_variance(squares, groups_in_blocks(problem, solution, groups))

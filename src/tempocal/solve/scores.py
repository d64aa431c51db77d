"""Gradients of the loss summed by group: what robust variances are made of."""

from typing import Any

import numpy as np

from tempocal.inputs import Groups
from tempocal.links import Array
from tempocal.solve.problem import Problem, Solution


def group_scores(problem: Problem, theta: Array, groups: Groups) -> Array:
    """Gradient of the loss, without the pull, of each group: (groups, coefficients)."""
    basis, width = problem.basis, problem.rows.n_coefficients
    tables = problem.rows.group_gradients(problem.at_keys(theta), groups.codes, groups.count)
    if basis.ndim == 1:
        count = problem.n_coefficients // width
        basis = (basis[:, None] == np.arange(count)).astype(np.float64)
    # (groups, functions) for each coefficient of a key.
    parts = [np.asarray(table @ basis) for table in tables]
    return np.stack(parts, axis=2).reshape(len(parts[0]), -1)


def score_squares(problem: Problem, solution: Solution, groups: Groups) -> Array:
    """Sum over groups of the squares of their gradients, in the blocks that the Hessian has."""
    assert solution.hessian is not None
    if solution.hessian.ndim == 2:
        scores = group_scores(problem, solution.theta, groups)
        return (scores.T @ scores)[None]
    tables = problem.rows.group_gradients(
        problem.at_keys(solution.theta), groups.codes, groups.count
    )
    # Of each key alone: what is shared between keys no block holds.
    products = [[_by_key(a, b) for b in tables] for a in tables]
    return np.asarray(np.stack(products).transpose(2, 0, 1), dtype=np.float64)


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


def variance_of(squares: Array, counts: Array) -> Array:
    """Variance of the sum over groups, from the squares of so many of them in each block."""
    more = np.maximum(counts, 2) / np.maximum(counts - 1, 1)
    return np.asarray(squares * more[:, None, None], dtype=np.float64)


def score_variance(problem: Problem, solution: Solution, groups: Groups) -> Array:
    """Variance of the gradient over groups, in the blocks that the Hessian has: (blocks, n, n)."""
    squares = score_squares(problem, solution, groups)
    return variance_of(squares, groups_in_blocks(problem, solution, groups))

"""Gradients of the loss summed by group, and the design effect: rows come in groups (clusters).

With g_c the gradient summed over the rows of group c, the variance of the total gradient is
``J = n / (n - 1) * sum over the n groups of g_c g_c'``, the "meat" of the sandwich covariance.

With H the Hessian of the loss and A that of the penalized loss, the design effect is the ratio of
the sandwich variance of the coefficients to the one for independent rows,
``d = trace(A^-1 J) / trace(A^-1 H)``. A weighs directions by how well the data determine them.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tempocal.inputs import Groups
from tempocal.links import Array
from tempocal.rows import SequenceRows
from tempocal.solve.linear_systems import invert_blocks
from tempocal.solve.penalties import Strengths
from tempocal.solve.problem import Problem, Solution

# Pseudo-groups in which all rows are perfectly correlated: with few groups d cannot be estimated.
PRIOR_GROUPS = 4
SMALLEST = 1e-300
TINY = 1e-3
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


def design_effect(
    problem: Problem,
    solution: Solution,
    groups: Groups | None,
    strengths: Strengths,
    *,
    variance: Array | None = None,
) -> float:
    """Return the number of rows that carry as much information as one independent row, at least 1.

    The estimate is averaged, on the log scale, with the mean group size as if there were
    ``PRIOR_GROUPS`` more groups. Pass the ``variance`` J of the gradient if it is already known.
    """
    if groups is None or solution.hessian is None:
        return 1.0
    mean_group_size = problem.rows.total_weight / groups.count
    if groups.count == 1:
        return max(1.0, mean_group_size)
    blocks = solution.hessian
    penalized = blocks + problem.penalty_blocks(strengths)
    free = np.ones(blocks.shape[:2], dtype=bool)
    inverse = invert_blocks(penalized, free, bandwidth=problem.bandwidth)
    if variance is None:
        squares = gradient_squares(problem, solution, groups)
        variance = cluster_variance(squares, groups_in_blocks(problem, solution, groups))
    independent = float(np.einsum("tpq,tqp->", inverse, blocks))
    inflation = float(np.einsum("tpq,tqp->", inverse, variance)) / max(independent, SMALLEST)
    if isinstance(problem.rows, SequenceRows):
        # The variance of light weights is that of their squares, but they count as few rows.
        inflation /= min(problem.rows.mean_weight, 1.0)
    # On the log scale, or 4 pseudo-groups of a thousand rows would outweigh 25 real groups.
    logs = np.log([max(inflation, least_effect(problem)), max(mean_group_size, 1.0)])
    return float(np.exp(np.average(logs, weights=[groups.count, PRIOR_GROUPS])))


def least_effect(problem: Problem) -> float:
    """Least design effect: rows that learn from forecasts may say more than independent ones."""
    return TINY if isinstance(problem.rows, SequenceRows) else 1.0

"""How much the rows of a group say, beside as many independent rows."""

import numpy as np

from tempocal.inputs import Groups
from tempocal.links import Array
from tempocal.solve.group_gradients import gradient_variance
from tempocal.solve.linear_systems import as_blocks, blocks_like, invert_blocks
from tempocal.solve.penalties import Strengths
from tempocal.solve.problem import Problem, Solution

# Groups that are taken to say no more than a row each, beside those that are there.
PRIOR_GROUPS = 4
SMALLEST = 1e-300


def design_effect(
    problem: Problem,
    solution: Solution,
    groups: Groups | None,
    strengths: Strengths,
    *,
    variance: Array | None = None,
) -> float:
    """How many rows of these groups say as much as one independent row; at least 1.

    It is the variance of the coefficients over groups, beside what it were if rows were
    independent: ``trace(A^-1 J) / trace(A^-1 H)``, with the curvature A of the penalized loss. So
    directions count as far as the data determine them. A handful of groups cannot tell, so that
    some are added in which all rows are as one. The ``variance`` J of the gradient may be known.
    """
    if groups is None or solution.hessian is None:
        return 1.0
    at_most = problem.rows.total_weight / groups.count
    if groups.count == 1:
        return max(1.0, at_most)
    blocks = as_blocks(solution.hessian)
    penalty_matrix = blocks_like(problem.penalty_matrix(strengths), blocks)
    inverse = invert_blocks(blocks + penalty_matrix, np.ones(blocks.shape[:2], dtype=bool))
    if variance is None:
        variance = gradient_variance(problem, solution, groups)
    alone = float(np.einsum("tpq,tqp->", inverse, blocks))
    inflation = float(np.einsum("tpq,tqp->", inverse, variance)) / max(alone, SMALLEST)
    # In logarithms, or four groups of a thousand rows would outweigh twenty-five that are there.
    logs = np.log([max(inflation, 1.0), max(at_most, 1.0)])
    return float(np.exp(np.average(logs, weights=[groups.count, PRIOR_GROUPS])))

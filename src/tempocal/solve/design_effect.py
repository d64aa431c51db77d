"""Design effect: variance inflation of the coefficients because rows come in groups (clusters).

With H the Hessian of the loss, J the variance of its gradient over groups and A the Hessian of the
penalized loss, ``d = trace(A^-1 J) / trace(A^-1 H)``: the ratio of the sandwich variance to the one
for independent rows. A weighs directions by how well the data determine them.
"""

import numpy as np

from tempocal.inputs import Groups
from tempocal.links import Array
from tempocal.rows import SequenceRows
from tempocal.solve.group_gradients import gradient_variance
from tempocal.solve.linear_systems import invert_blocks
from tempocal.solve.penalties import Strengths
from tempocal.solve.problem import Problem, Solution

# Pseudo-groups in which all rows are perfectly correlated: with few groups d cannot be estimated.
PRIOR_GROUPS = 4
SMALLEST = 1e-300
TINY = 1e-3


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
        variance = gradient_variance(problem, solution, groups)
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

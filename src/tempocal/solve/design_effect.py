"""Design effect: variance inflation of the coefficients because rows come in groups (clusters).

With H the Hessian of the loss, J the variance of its gradient over groups and A the Hessian of the
penalized loss, ``d = trace(A^-1 J) / trace(A^-1 H)``: the ratio of the sandwich variance to the one
for independent rows. A weighs directions by how well the data determine them. Where
the curve has a trend, the ratio is also taken for what is left without it (`trend.py`).
"""

import numpy as np

from tempocal.inputs import Groups
from tempocal.links import Array
from tempocal.rows import SequenceRows
from tempocal.solve.group_gradients import gradient_variance
from tempocal.solve.linear_systems import invert_blocks
from tempocal.solve.penalties import Strengths
from tempocal.solve.problem import Problem, Solution
from tempocal.solve.trend import Effects, TrendSplit

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
) -> Effects:
    """Return the numbers of rows that carry as much information as one independent row.

    They are at least 1. Estimates are averaged, on the log scale, with the mean group size as if
    there were ``PRIOR_GROUPS`` more groups. Pass the ``variance`` J of the gradient if it is
    already known.
    """
    if groups is None or solution.hessian is None:
        return Effects(1.0)
    mean_group_size = problem.rows.total_weight / groups.count
    if groups.count == 1:
        return Effects(max(1.0, mean_group_size))
    if variance is None:
        variance = gradient_variance(problem, solution, groups)
    raw = raw_effects(problem, solution.hessian, variance, strengths)
    return raw.averaged_with(mean_group_size, PRIOR_GROUPS / (groups.count + PRIOR_GROUPS))


def raw_effects(problem: Problem, hessian: Array, variance: Array, strengths: Strengths) -> Effects:
    """Return the ratios of the two variances, at least the least that there can be."""
    free = np.ones(hessian.shape[:2], dtype=bool)
    penalized = hessian + problem.penalty_blocks(strengths)
    inverse = invert_blocks(penalized, free, bandwidth=problem.bandwidth)
    least = least_effect(problem)
    mean = max(_ratio(inverse, variance, hessian), least)
    split = None if isinstance(problem.rows, SequenceRows) else TrendSplit.of(problem, hessian)
    if split is None:
        return Effects(mean)
    of_rough = split.rough @ variance[0] @ split.rough.T
    return Effects(mean, max(_ratio(inverse, of_rough[None], split.rough @ hessian), least))


def _ratio(inverse: Array, variance: Array, hessian: Array) -> float:
    clustered, independent = (
        float(np.einsum("tpq,tqp->", inverse, one)) for one in (variance, hessian)
    )
    return clustered / max(independent, SMALLEST)


def least_effect(problem: Problem) -> float:
    """Least design effect: rows that learn from forecasts may say more than independent ones."""
    return TINY if isinstance(problem.rows, SequenceRows) else 1.0

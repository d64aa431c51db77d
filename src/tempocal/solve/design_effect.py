"""Design effect: variance inflation of the coefficients because rows come in groups (clusters).

With H the Hessian of the loss, J the variance of its gradient over groups and A the Hessian of the
penalized loss, ``d = trace(A^-1 J) / trace(A^-1 H)``: the ratio of the sandwich variance to the one
for independent rows. A weighs directions by how well the data determine them.

Curves without roughness, such as straight lines in the clock, are the *trend* of curves that a
penalty makes smooth. With N their coefficients, ``P = H N (N' H N)^-1 N'`` projects gradients onto
what belongs to the trend; ``1 - P`` is about how a curve turns once the best trend is taken out.
Rows of one sequence share an outcome. Their errors all point the same way, so that for the level of
a curve they say as much as few independent rows. For its turns the errors of early and late rows
cancel, and rows say as much as independent ones, or more. On simulated matches d was 4 to 6: 8 to
10 for the trend and below 1 for all turns but the first two. One number for both would smooth humps
away. So where the curve has a trend, its roughness has a design effect of its own.
"""

from dataclasses import dataclass
from typing import Self

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


# With more coefficients the two are not told apart: divided by two numbers a band matrix is dense.
MOST_COEFFICIENTS = 256


@dataclass(frozen=True)
class Effects:
    """Design effects of a fit.

    Attributes
    ----------
    mean : float
        On average over all directions.
    rough : float or None
        In the directions that smoothing penalizes; None where it is not told apart.
    """

    mean: float
    rough: float | None = None

    def averaged_with(self, other: float, share: float) -> "Effects":
        """Average with another number on the log scale, in which it has a share.

        Of the numbers themselves, 4 groups of a thousand rows would outweigh 25 real groups.
        """
        own = np.log([self.mean, self.mean if self.rough is None else self.rough])
        mean, rough = np.exp((1.0 - share) * own + share * np.log(max(other, 1.0))).tolist()
        return Effects(mean, None if self.rough is None else rough)

    def of_penalties(self, problem: Problem) -> Array:
        """Return the design effect in the directions of each penalty."""
        rough = self.mean if self.rough is None else self.rough
        return np.array([rough if one.is_smoothing else self.mean for one in problem.penalties])

    def relative(self, problem: Problem, strengths: Strengths) -> Strengths:
        """Multiply strengths by the design effects of their penalties, relative to the mean."""
        effects = self.of_penalties(problem)
        return tuple(s * e / self.mean for s, e in zip(strengths, effects.tolist(), strict=True))


@dataclass(frozen=True)
class TrendSplit:
    """Projection of gradients onto the part of the trend, and onto the rest."""

    trend: Array
    rough: Array

    @classmethod
    def of(cls, problem: Problem, hessian: Array) -> Self | None:
        """Split by the Hessian of the loss; None for a problem without a trend."""
        if problem.trend is None or len(hessian[0]) > MOST_COEFFICIENTS:
            return None
        products = hessian[0] @ problem.trend
        trend = products @ np.linalg.pinv(problem.trend.T @ products) @ problem.trend.T
        return cls(trend, np.eye(len(trend)) - trend)

    def scaled(self, vectors: Array, effects: Effects) -> Array:
        """Divide the two parts of a gradient, or of the Hessian, by their design effects."""
        rough = effects.mean if effects.rough is None else effects.rough
        return np.asarray(self.trend @ vectors / effects.mean + self.rough @ vectors / rough)


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
    if isinstance(problem.rows, SequenceRows):
        # The variance of light weights is that of their squares, but they count as few rows.
        raw = Effects(raw.mean / min(problem.rows.mean_weight, 1.0))
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

"""Trend and roughness: the two parts that a smoothing penalty splits curves into.

Curves without roughness, such as straight lines in the clock, are the *trend*; with N their
coefficients and H the Hessian of the loss, ``P = H N (N' H N)^-1 N'`` projects gradients onto the
part that belongs to the trend. What is left, ``1 - P``, tells how a curve turns once the best trend
is taken out.

Rows of one sequence share an outcome. Their errors all point the same way, so that for the level of
a curve they say as much as few independent rows. For its turns the errors of early and late rows
cancel, and rows say as much as independent ones, or more. One design effect for both would smooth
humps away: on simulated matches it was 4 to 6, but 8 to 10 for the trend and below 1 for all turns
but the first two. So roughness has a design effect of its own.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np

from tempocal.links import Array
from tempocal.solve.penalties import Strengths
from tempocal.solve.problem import Problem

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
        """Average with another number on the log scale, in which it has a share."""

        def average(own: float) -> float:
            logs = np.log([own, max(other, 1.0)])
            return float(np.exp(np.average(logs, weights=[1.0 - share, share])))

        # Not of the numbers: 4 groups of a thousand rows would outweigh 25 whose effect is known.
        return Effects(average(self.mean), None if self.rough is None else average(self.rough))

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

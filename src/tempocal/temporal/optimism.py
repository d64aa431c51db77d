"""By how much the loss of a fit is lower on its own rows than on new sequences.

Each group is left out to first order (the infinitesimal jackknife). Without a group whose gradient
is g, coefficients would be ``theta + B g``. What that adds to the losses of the groups left out is
``trace(B J)``, with the variance J of the gradient over groups. Coefficients move for two reasons.
At fixed strengths B is ``A^-1``. But the group has had a say in the strengths, too. With the
penalty matrices S_s at their strengths, the offset u from the identity and ``v_s = A^-1 S_s u``,
the logarithms of the strengths move by ``R V g / d``::

    B  =  A^-1  +  V' R V / d ,      R  =  (C + VAGUE)^-1

C is minus the second derivative of the log evidence in these logarithms, d the design effect in the
directions of each penalty. A strength at a bound stays there. What is subtracted from the gain is
uncertain, too: its variance is that of a sum of squares, ``trace(B J B J)`` beyond what the
variance of the gain contains already.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tempocal.inputs import Groups
from tempocal.links import Array
from tempocal.solve import Posterior, projected_squares
from tempocal.solve.group_gradients import cluster_variance
from tempocal.solve.laplace import LaplaceApproximation

if TYPE_CHECKING:
    from tempocal.temporal.fit_along_time import CurveFit

# Precision of a vague prior on the logarithm of each strength, with a standard deviation of three
# e-folds. Where the evidence is flat, a linear answer would move a strength by any factor.
VAGUE = 0.1


@dataclass(frozen=True)
class Optimism:
    """Difference of the summed loss between new rows and the rows of the fit.

    Attributes
    ----------
    mean : float
        Its expectation.
    of_strengths : float
        The part of it that comes from the choice of the strengths.
    variance : float
        Its variance.
    """

    mean: float
    of_strengths: float
    variance: float


@dataclass(frozen=True)
class StrengthResponse:
    """How the strengths answer to the coefficients.

    Attributes
    ----------
    pulls : ndarray of shape (strengths, coefficients)
        Change of the penalty's gradient with the logarithm of each strength.
    response : ndarray of shape (strengths, strengths)
        R / d, of the strengths that are chosen and inside their bounds; columns have their own d.
    """

    pulls: Array
    response: Array

    @classmethod
    def of(cls, fitted: "CurveFit", posterior: Posterior) -> "StrengthResponse":
        """Return it for the strengths of a fit."""
        problem, result, effects = fitted.problem, fitted.result, posterior.effects
        approximation = LaplaceApproximation.at(problem, result.solution, result.strengths, effects)
        chosen, curvature = approximation.curvature_of_evidence(
            posterior.min_strengths, fitted.fixed_strengths
        )
        offset = result.solution.theta - problem.identity
        pulls = [result.strengths[k] * problem.penalties[k].dot(offset) for k in chosen]
        sizes, vectors = np.linalg.eigh(curvature)
        response = (vectors / (np.abs(sizes) + VAGUE)) @ vectors.T / approximation.effects[chosen]
        return cls(np.reshape(pulls, (len(chosen), len(offset))), response)

    def with_rates(self, n_rates: int) -> "StrengthResponse":
        """Add the log rates of the curve, which no penalty pulls at."""
        return StrengthResponse(np.pad(self.pulls, ((0, 0), (0, n_rates))), self.response)


def optimism_of(inverse: Array, noise: Array, strengths: StrengthResponse) -> Optimism:
    """Return the optimism, given ``A^-1`` and J; neither need be symmetric."""
    moved = inverse @ noise
    by_strengths = (inverse @ strengths.pulls.T) @ strengths.response @ (strengths.pulls @ moved)
    extra = float(np.trace(by_strengths))
    moved = moved + by_strengths
    return Optimism(
        float(np.trace(moved)), extra, max(float(np.einsum("pq,qp->", moved, moved)), 0.0)
    )


def optimism_of_steps(
    fitted: "CurveFit",
    groups: Groups | None,
    inverse: Array,
    noise: Array,
    strengths: StrengthResponse,
) -> Optimism:
    """Return the optimism of separate steps, from matrices of shape (steps, n, n).

    Rows of a group lie in several steps, and the strengths answer to their sum. The variance is
    then the largest there can be, as if the noise of all steps were one.
    """
    by_step = strengths.pulls.reshape(len(strengths.pulls), *inverse.shape[:2])
    pulls = np.einsum("tpq,stq->stp", inverse, by_step)
    moved = inverse @ noise
    fixed = float(np.einsum("tpp->", moved))
    if groups is None:
        squares = np.einsum("stp,tpq,rtq->sr", pulls, noise, pulls)
    else:
        squares = _squares_over_groups(fitted, groups, pulls)
    extra = float(np.einsum("sr,rs->", strengths.response, squares))
    independent = max(float(np.einsum("tpq,tqp->", moved, moved)), 0.0) + extra**2
    return Optimism(fixed + extra, extra, independent if groups is None else (fixed + extra) ** 2)


def _squares_over_groups(fitted: "CurveFit", groups: Groups, pulls: Array) -> Array:
    """Variance over groups of the gradient along each pull, of shape (strengths, steps, n)."""

    def project(tables: Sequence[Any]) -> Array:
        parts = [table @ pulls[:, :, p].T for p, table in enumerate(tables)]
        return np.asarray(np.sum(parts, axis=0))

    at_keys = fitted.problem.at_keys(fitted.result.solution.theta)
    squares = projected_squares(fitted.problem, at_keys, groups, project)
    return np.asarray(cluster_variance(squares[None], np.array([float(groups.count)]))[0])

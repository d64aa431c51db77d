"""Sandwich covariance of coefficients that learn from the forecasts in between.

With A minus the derivative of the estimating function Psi (not symmetric), M its variance over
groups, S the penalty matrix and d the design effect::

    V  =  (A + S)^-1  (M + d S)  (A + S)^-T

How much lower the loss is on the rows of the fit than on new ones follows from the covariance of
Psi with the gradient of the outcomes' loss, whose rows the fit is judged on.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tempocal.inputs import Groups
from tempocal.links import Array
from tempocal.rows import Rows, SequenceRows
from tempocal.solve import MovingTargets, Posterior, Strengths
from tempocal.temporal.linearization import Linearization

# Singular values below this share of the largest count as zero.
SINGULAR, TINY = 1e-13, 1e-300
# Upper bound of the average leverage of a group.
MAX_LEVERAGE = 0.5


@dataclass(frozen=True)
class SequenceSandwich:
    """Uncertainty of a fit that learned from the forecasts in between.

    Attributes
    ----------
    covariance : ndarray of shape (n, n)
        Of the coefficients and the rates.
    n_effective : float
        Effective number of coefficients.
    """

    covariance: Array
    n_effective: float


@dataclass(frozen=True)
class SequenceParts:
    """What the covariance is made of.

    Attributes
    ----------
    targets, outcomes : ndarray of shape (groups, n)
        Gradient of each group with moving targets, and with outcomes.
    jacobian, hessian : ndarray of shape (n, n)
        Derivatives of their sums; the Jacobian includes earlier rows.
    jacobian_inverse, hessian_inverse : ndarray of shape (n, n)
        Inverses of the two, each with the penalty of the fit.
    n_effective : float
        Effective number of coefficients.
    inflation : float
        Corrects variances over groups for their mean and for overfitting at the optimum.
    moving : MovingTargets
        What later rows need to know of all rows so far.
    """

    targets: Array
    outcomes: Array
    jacobian: Array
    hessian: Array
    jacobian_inverse: Array
    hessian_inverse: Array
    n_effective: float
    inflation: float
    moving: MovingTargets

    @property
    def noise(self) -> Array:
        """Covariance over groups of the estimating function with the gradient of the outcomes."""
        return self.inflation * (self.targets.T @ self.outcomes)


def sequence_parts(
    linearized: Linearization, groups: Groups, previous: Posterior | None = None
) -> SequenceParts:
    """Return the parts of the sandwich; ``previous`` is the posterior of earlier rows."""
    rows, fitted = linearized.problem.rows, linearized.fitted
    assert isinstance(rows, SequenceRows)
    at_keys = linearized.problem.at_keys(fitted.result.solution.theta)
    targets = _by_group(rows, at_keys, linearized, groups)
    moving = MovingTargets(linearized.jacobian, targets.T @ targets, float(groups.count))
    if previous is not None and previous.moving is not None:
        moving = moving + previous.moving
    jacobian = moving.jacobian
    penalty = linearized.penalty_matrix(fitted.result.strengths, 1.0)
    inverse = _inverse(jacobian + penalty, linearized.free)
    n_effective = float(np.einsum("pq,qp->", inverse, jacobian))
    by_outcomes = rows.outcome_rows.all_rows
    hessian = linearized.hessian
    return SequenceParts(
        targets=targets,
        outcomes=_by_group(by_outcomes, at_keys, linearized, groups),
        jacobian=jacobian,
        hessian=hessian,
        jacobian_inverse=inverse,
        hessian_inverse=_inverse(hessian + penalty, linearized.free),
        n_effective=n_effective,
        inflation=_inflation(n_effective, moving.count),
        moving=moving,
    )


def sequence_sandwich(
    linearized: Linearization, parts: SequenceParts, strengths: Strengths, effect: float
) -> SequenceSandwich:
    """Return the covariance at ``strengths`` and a design effect."""
    variance = parts.inflation * parts.moving.squares
    penalty = linearized.penalty_matrix(strengths, effect)
    inverse = _inverse(parts.jacobian + penalty, linearized.free)
    return SequenceSandwich(
        inverse @ (variance + effect * penalty) @ inverse.T,
        n_effective=parts.n_effective,
    )


def _by_group(rows: Rows, at_keys: Array, linearized: Linearization, groups: Groups) -> Array:
    """Gradients of each group in the coefficients and rates: (groups, n)."""
    directions = linearized.directions
    chunks = [
        np.sum([np.asarray(table @ directions[:, p]) for p, table in enumerate(tables)], axis=0)
        for tables in rows.group_gradients(at_keys, groups.codes, groups.count)
    ]
    return np.concatenate(chunks)


def _inflation(n_effective: float, n_groups: float) -> float:
    """Correct the variance over groups for its mean and for overfitting at the optimum."""
    leverage = min(n_effective / n_groups, MAX_LEVERAGE)
    return max(n_groups, 2) / max(n_groups - 1, 1) / (1.0 - leverage) ** 2


def _inverse(matrix: Array, free: NDArray[np.bool_]) -> Array:
    """Pseudoinverse of a matrix that is not symmetric, over the coefficients that are free."""
    scale = np.sqrt(np.maximum(np.abs(np.diag(matrix)), TINY))
    kept = np.ix_(free, free)
    scaled = (matrix / scale[:, None] / scale)[kept]
    inverse = np.zeros_like(matrix)
    inverse[kept] = np.linalg.pinv(scaled, rcond=SINGULAR)
    return np.asarray(inverse / scale[:, None] / scale)

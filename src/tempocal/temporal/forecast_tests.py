"""Tests of what learning from forecasts assumes: that the next forecast knows what this one knew.

A calibrated forecast is the expected next one only then. A model that forgets breaks it, and
coefficients from forecasts are then wrong. Two tests look for that; both compare with outcomes.

*Outcomes against forecasts* (a Hausman test). With theta the coefficients from forecasts, the
scores of the outcomes,

    m  =  Psi_inf(theta)  -  H (A + S)^-1 Psi_h(theta),

have mean zero where both say the same: Psi_inf and Psi_h are the estimating functions by outcomes
and by forecasts, H and A minus their derivatives, S the penalty matrix; the second term removes the
noise of theta. Their spread over groups gives the variance. The statistic is ``m' (H + S)^-1 m``, a
sum of squares, whose distribution is approximated by a scaled F (Satterthwaite).

*Memory*. Does an earlier forecast say anything about the outcome that the present one does not? As
a further feature of each row, take the calibrated log-odds of the row before, or their mean over
all rows before. Their scores, cleaned of one slope and one bias, are on average positive if a
model forgets, and negative if it reacts too little to what is new, so that forecasts go on moving
in the direction in which they moved. Either makes the next forecast predictable. This test sees it
in a few dozen sequences, for each of their rows counts.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import fdtrc, stdtr

from tempocal.inputs import Groups
from tempocal.links import Array
from tempocal.rows import SequenceRows
from tempocal.temporal.linearization import Linearization
from tempocal.temporal.sequence_bands import SequenceParts, sequence_parts

if TYPE_CHECKING:
    from tempocal.temporal.fit_along_time import CurveFit

TINY = 1e-300
# Effective coefficients below which a fit is next to the identity.
NEARLY_NONE = 0.5


@dataclass(frozen=True)
class ForecastTests:
    """Results of the tests.

    Attributes
    ----------
    against_outcomes : float
        Probability of such a difference of the coefficients if forecasts say what outcomes say.
    memory : float
        Probability of earlier forecasts telling so much more if the present one says all they say.
    variance_ratio : float
        Variance of coefficients from outcomes over that of those from forecasts: how many times the
        sequences would be needed for the same fit by outcomes. None where the fit is next to the
        identity, which says nothing of either.
    """

    against_outcomes: float
    memory: float
    variance_ratio: float | None

    @property
    def lowest(self) -> float:
        """The lower of the two probabilities."""
        return min(self.against_outcomes, self.memory)


def check_forecasts(models: Sequence["CurveFit"], groups: Groups) -> ForecastTests:
    """Compare a fit by forecasts with the outcomes of its rows."""
    statistic = mean = spread = by_outcomes = by_forecasts = inflation = n_effective = 0.0
    squares: Array = np.zeros(1)
    scores_of_past: list[Array] = []
    for model in models:
        linearized = Linearization(model)
        parts = sequence_parts(linearized, groups)
        weight = parts.hessian_inverse
        influences = parts.targets @ parts.jacobian_inverse.T
        scores = parts.outcomes - influences @ parts.hessian
        total = scores.sum(axis=0)
        weighted = parts.inflation * weight @ scores.T @ scores
        statistic += float(total @ weight @ total)
        squares = squares + np.einsum("gp,pq,gq->g", scores, weight, scores)
        mean += float(np.trace(weighted))
        spread += float(np.einsum("pq,qp->", weighted, weighted))
        outcome_influences = parts.outcomes @ weight
        by_outcomes += _variance(outcome_influences, parts.hessian)
        by_forecasts += _variance(influences, parts.hessian)
        inflation = max(inflation, parts.inflation)
        n_effective += parts.n_effective
        scores_of_past.append(_scores_of_past(linearized, parts, groups))
    freedom = float(_freedom(squares))
    p_value = float(fdtrc(mean**2 / spread, freedom, statistic / mean)) if spread > TINY else 1.0
    return ForecastTests(
        p_value,
        _memory(np.sum(scores_of_past, axis=0), inflation),
        by_outcomes / by_forecasts if by_forecasts > TINY and n_effective > NEARLY_NONE else None,
    )


def _variance(influences: Array, hessian: Array) -> float:
    """Variance of the linear predictors, from the influence of each group (groups, n)."""
    return float(np.einsum("gp,pq,gq->", influences, hessian, influences))


def _scores_of_past(linearized: Linearization, parts: SequenceParts, groups: Groups) -> Array:
    """Scores of each group in features of earlier forecasts, cleaned of the coefficients."""
    rows = linearized.problem.rows
    assert isinstance(rows, SequenceRows)
    at_keys = linearized.problem.at_keys(linearized.fitted.result.solution.theta)
    found = rows.sequences.past_scores(at_keys, linearized.directions, groups.codes, groups.count)
    # Of coefficients that are the same at all times: a fit that is shrunk has little else to clean.
    n, width = len(linearized.problem.identity), linearized.table.shape[1]
    constant = np.zeros((len(parts.hessian), width))
    constant[np.arange(n), np.arange(n) % width] = 1.0
    information = constant.T @ parts.hessian @ constant
    cleaning = constant @ np.linalg.pinv(information) @ constant.T
    # Gradients are minus the scores.
    return np.stack([one.by_group + parts.outcomes @ cleaning @ one.slopes for one in found])


def _memory(scores: Array, inflation: float) -> float:
    """Smallest two-sided p-value of several scores (kinds, groups), times their number."""
    count = scores.shape[1]
    if count < 2:
        return 1.0
    squares = (scores - scores.mean(axis=1, keepdims=True)) ** 2
    total = squares.sum(axis=1)
    if not (total > TINY).all():
        return 1.0
    freedom = _freedom(squares)
    t = scores.sum(axis=1) / np.sqrt(inflation * total)
    return float(min(1.0, 2 * len(scores) * stdtr(freedom, -np.abs(t)).min()))


def _freedom(squares: Array) -> Array:
    """Degrees of freedom of a sum of squares over groups, the last axis.

    Few groups with large squares are worth fewer groups.
    """
    total = squares.sum(axis=-1) ** 2
    return np.asarray(np.maximum(total / np.maximum((squares**2).sum(axis=-1), TINY) - 1.0, 1.0))

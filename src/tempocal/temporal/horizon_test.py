"""Test whether forecasts in between say the same as outcomes (a Hausman test).

A calibrated forecast is the expected next one only if the next row knows all that this one knew: a
model that forgets breaks it. Then coefficients from forecasts converge to others than those from
outcomes. With theta those from forecasts, the scores of the outcomes,

    m  =  Psi_inf(theta)  -  H (A + S)^-1 Psi_h(theta),

have mean zero where both say the same: Psi_inf and Psi_h are the estimating functions by outcomes
and by forecasts, H and A minus their derivatives, S the penalty matrix; the second term removes the
influence of the noise in theta. Their spread over groups gives the variance. The statistic is
``m' (H + S)^-1 m``, the gain that outcomes promise; under the null hypothesis it is a sum of
squares, whose distribution is approximated by a scaled F (Satterthwaite).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import f as f_distribution

from tempocal.inputs import Groups
from tempocal.temporal.linearization import Linearization
from tempocal.temporal.sequence_bands import sequence_parts

if TYPE_CHECKING:
    from tempocal.temporal.fit_along_time import CurveFit


@dataclass(frozen=True)
class HorizonTest:
    """Result of the test.

    Attributes
    ----------
    p_value : float
        Probability of a statistic at least this large if forecasts say the same as outcomes.
    variance_ratio : float
        Variance of coefficients from outcomes over that of those from forecasts: how many times the
        sequences would be needed for the same fit by outcomes.
    """

    p_value: float
    variance_ratio: float
    statistic: float = 0.0
    mean: float = 0.0


def test_horizon(models: Sequence["CurveFit"], groups: Groups) -> HorizonTest:
    """Compare a fit by forecasts with the outcomes of its rows."""
    statistic = mean = spread = by_outcomes = by_forecasts = 0.0
    for model in models:
        parts = sequence_parts(Linearization(model), groups)
        weight, projection = parts.hessian_inverse, parts.hessian @ parts.jacobian_inverse
        scores = parts.outcomes - parts.targets @ projection.T
        total = scores.sum(axis=0)
        variance = parts.inflation * scores.T @ scores
        weighted = weight @ variance
        statistic += float(total @ weight @ total)
        mean += float(np.trace(weighted))
        spread += float(np.einsum("pq,qp->", weighted, weighted))
        by_outcomes += parts.inflation * float(
            np.einsum("gp,pq,gq->", parts.outcomes, weight @ parts.hessian @ weight, parts.outcomes)
        )
        influence = parts.targets @ parts.jacobian_inverse.T
        by_forecasts += parts.inflation * float(
            np.einsum("gp,pq,gq->", influence, parts.hessian, influence)
        )
    if not mean > 0.0:
        return HorizonTest(1.0, 1.0)
    freedom = mean**2 / spread
    p_value = float(f_distribution.sf(statistic / mean, freedom, max(groups.count - 1, 1)))
    return HorizonTest(p_value, by_outcomes / max(by_forecasts, 1e-300), statistic, mean)

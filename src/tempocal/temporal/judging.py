"""What candidates are judged by: outcomes, or the raw forecasts that follow a row.

Few outcomes say little about a candidate. Where candidates learn from the forecasts in between,
these judge them, too. The target of a row is ``G = (1 - decay) p' + decay G'`` with the raw
forecast p' of the next row, and the outcome at the end of its sequence; the loss of a candidate
with forecasts q is the cross entropy ``-sum of G_k log q_k``. It varies much less than that of
outcomes. Raw forecasts make the targets, the same for all candidates, so that it leans to doing
nothing; and the more so, the shorter the horizon is.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from tempocal.calibrators.fit_data import FitData
from tempocal.calibrators.table_fit_data import TableFitData
from tempocal.calibrators.temperature import TemperatureScaling
from tempocal.links import Array, log_proba_from_logits
from tempocal.rows.following_targets import following_targets
from tempocal.temporal.held_out import ForecastsAhead
from tempocal.temporal.horizon import decay_of, usual_horizon, why_only_outcomes

if TYPE_CHECKING:
    from tempocal.temporal.cross_validation import Trial

# Horizon of judging in multiples of the usual one of fits: by simulation, and on real predictions.
JUDGED_AHEAD = 2.5


def forecasts_that_judge(data: FitData) -> ForecastsAhead | None:
    """Return the forecasts that candidates are judged by; None if only outcomes judge."""
    if why_only_outcomes(TemperatureScaling(), data, None) is not None:
        return None
    assert data.groups is not None
    assert data.sequence_facts is not None
    horizon = JUDGED_AHEAD * usual_horizon(data.groups.count)
    decay = decay_of(horizon, data.sequence_facts.mean_length)
    if not decay < 1.0:
        return None
    is_table = isinstance(data, TableFitData)
    return ForecastsAhead(decay, None if is_table else _targets_of(data, decay))


def learned_from_forecasts(trials: Sequence["Trial"], prior: Array, identity: int) -> bool:
    """Whether candidates with half of the prior or more, beside Identity, did so.

    The others were told to learn from outcomes, or tests spoke against the forecasts.
    """
    shares = prior.copy()
    shares[identity] = 0.0
    ahead = [one.fitted is not None and np.isfinite(one.fitted.choice.horizon) for one in trials]
    return bool(shares[ahead].sum() >= 0.5 * shares.sum() > 0.0)


def _targets_of(data: FitData, decay: float) -> Array:
    """Target of each row in each class, from the raw forecasts that follow it: (n, classes)."""
    order = data.sequence_order
    assert order is not None
    rows, runs = order.permutation, order.runs
    p = np.exp(log_proba_from_logits(data.logits_of(rows)))
    targets = np.empty_like(p)
    targets[rows] = following_targets(p, data.labels[rows], runs[rows], decay)
    return targets

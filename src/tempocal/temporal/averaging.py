"""Weights of candidates from their losses on held-out rows, and the average of their fits.

The weight of a candidate is ``prior * exp(-loss / (d (1 + FEW / groups)))``, normalized, with its
summed loss on held-out rows. The design effect d is the same for all candidates: rows of one
sequence share an outcome, so that n rows say as much as n / d independent ones. Outcomes of few
groups decide even less, for the fits behind them are uncertain too: that is the last factor, whose
constant was found by simulation. Where candidates are judged by the forecasts that follow
(`tempocal.temporal.judging`) it is 1. Half of the prior is on doing nothing, which is hard to beat
with few sequences; a third where forecasts judge, for these lean to doing nothing. The rest is
shared in inverse proportion to the coefficients of a calibrator: 1 for a temperature, 2 for slope
and bias. Weights below ``MIN_WEIGHT`` become 0.
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf

import numpy as np

from tempocal.calibrators.fit_data import FitData
from tempocal.calibrators.summary import Summary
from tempocal.errors import TempocalWarning
from tempocal.links import Array
from tempocal.maps import Average, Curves
from tempocal.temporal.comparison import Comparison, HeldOutResult, in_order, to_candidates
from tempocal.temporal.cross_validation import Trial
from tempocal.temporal.fit_along_time import TemporalFitResult
from tempocal.temporal.gain_interval import Gain, compare_losses, gain_of
from tempocal.temporal.held_out import Losses, combine
from tempocal.temporal.horizon import ASKED, NO_SEQUENCE, HorizonChoice
from tempocal.temporal.judging import learned_from_forecasts

PRIOR_OF_IDENTITY, PRIOR_WHERE_FORECASTS_JUDGE = 0.5, 1.0 / 3.0
FEW = 60.0
MIN_WEIGHT = 0.01
# Entries of a summary that do not depend on the candidate.
_OF_THE_ROWS = ("times", "thin_steps")


def prior_of(
    trials: Sequence[Trial], identity: int, of_identity: float = PRIOR_OF_IDENTITY
) -> Array:
    """Prior weight of each candidate; 0 of those that failed, and of those that can say 0.

    The latter have no coefficients. No average would give more than 0 where one of them says 0.
    """
    prior = np.zeros(len(trials))
    for k, trial in enumerate(trials):
        if k != identity and trial.fitted is not None:
            fitted = trial.fitted.fitted
            n_coefficients = sum(len(one.model.identity) for one in fitted.models)
            if isinstance(fitted.map, Curves):
                prior[k] = 1.0 / max(n_coefficients, 1)
    if not prior.any():
        prior[identity] = 1.0
        return prior
    prior *= (1.0 - of_identity) / prior.sum()
    prior[identity] = of_identity
    return prior


def weigh(
    each: Sequence[Losses | None], prior: Array, few: float, identity: int
) -> tuple[Array, float]:
    """Return the weight of each candidate, and the design effect, from losses on held-out rows.

    ``few`` is what losses are divided by beside the design effect.
    """
    raw = each[identity]
    assert raw is not None
    weights = np.zeros(len(each))
    if not np.isfinite(raw.standard_error):
        # Of one group none can be left out.
        weights[identity] = 1.0
        return weights, 1.0
    averaged = np.flatnonzero(prior)
    losses = [one for one in (each[k] for k in averaged.tolist()) if one is not None]
    effect = design_effect(losses, raw)
    scale = raw.total_weight / (effect * few)
    log_weights = np.log(prior[averaged]) - scale * np.array([one.mean for one in losses])
    weights[averaged] = np.exp(log_weights - log_weights.max())
    weights /= weights.sum()
    weights[weights < MIN_WEIGHT] = 0.0
    return weights / weights.sum(), effect


@dataclass(frozen=True)
class Weights:
    """Weights of the candidates, and what they follow from.

    Attributes
    ----------
    values, prior : ndarray of shape (candidates,)
        Weights after and before the losses.
    design_effect : float
        How many rows say as much as an independent one.
    by_forecasts : bool
        Whether the forecasts that follow judged, in place of outcomes.
    """

    values: Array
    prior: Array
    design_effect: float
    by_forecasts: bool

    @classmethod
    def of(cls, trials: Sequence[Trial], n_groups: float, identity: int) -> "Weights":
        """Weigh the trials; without groups ``n_groups`` is the number of rows."""
        results, prior = [one.held_out for one in trials], prior_of(trials, identity)
        ahead = [one.ahead for one in results]
        if ahead[identity] is not None and learned_from_forecasts(trials, prior, identity):
            prior = prior_of(trials, identity, PRIOR_WHERE_FORECASTS_JUDGE)
            values, effect = weigh(ahead, prior, 1.0, identity)
            return cls(values, prior, effect, by_forecasts=True)
        losses = [one.losses for one in results]
        values, effect = weigh(losses, prior, 1.0 + FEW / n_groups, identity)
        return cls(values, prior, effect, by_forecasts=False)


def design_effect(each: Sequence[Losses], raw: Losses) -> float:
    """How many rows say as much as an independent one, of differences to the raw predictions.

    It is the variance of their sums over groups, over that of independent rows; at least 1.
    """
    between_groups, between_rows = np.sum([one.clustering(raw) for one in each], axis=0)  # type: ignore[arg-type]
    return max(float(between_groups / between_rows), 1.0) if between_rows > 0.0 else 1.0


def compare_weights(
    results: Sequence[HeldOutResult], weights: Array, prior: Array, data: FitData
) -> Comparison:
    """Return the table of the candidates with their weights."""
    each = zip(to_candidates(results), results, weights.tolist(), prior.tolist(), strict=True)
    rows = [
        replace(row, weight=weight, verdict=_verdict(one, weight, share, weights.max()))
        for row, one, weight, share in each
    ]
    return in_order(rows, data)


def _verdict(one: HeldOutResult, weight: float, prior: float, most: float) -> str:
    if one.failure:
        return f"failed: {one.failure}"
    if prior == 0.0:
        return 'not averaged, for it can say 0: compare it with combine="choose"'
    if weight == 0.0:
        return f"left out: its weight would be below {MIN_WEIGHT:g}"
    if weight == 1.0:
        return "averaged, the only one with a weight"
    return "averaged, with the largest weight" if weight == most else "averaged"


def by_weight(results: Sequence[HeldOutResult], weights: Array) -> list[int]:
    """Return the candidates that are kept, the leading one first; the order given is no matter."""
    kept = np.flatnonzero(weights).tolist()
    return sorted(kept, key=lambda k: (-weights[k], results[k].parameters, results[k].name))


def average(
    trials: Sequence[Trial], found: Weights, data: FitData, identity: int
) -> tuple[int, TemporalFitResult, TemporalFitResult]:
    """Average the candidates that have a weight.

    Return the index of the leading one, the average, and the fit of the leading one.
    """
    weights = found.values
    kept = by_weight([one.held_out for one in trials], weights)
    fits = [trials[k].fitted for k in kept]
    leader = fits[0].with_bands()  # type: ignore[union-attr]
    if len(kept) == 1:
        return kept[0], leader, leader
    with warnings.catch_warnings():
        # What is said of a curve beside the leading one is not relevant to the user.
        warnings.simplefilter("ignore", TempocalWarning)
        members = [leader, *(one.with_bands() for one in fits[1:])]  # type: ignore[union-attr]
    maps = tuple(one.map for one in members if isinstance(one.map, Curves))
    mean = Average(weights[kept], maps)
    losses = [trials[k].held_out.losses for k in (identity, *kept)]
    gains = combine(losses, [1.0, *(-weights[kept])])  # type: ignore[arg-type]
    # The strengths of the fits without a fold are those of all rows.
    of_strengths = float(weights[kept] @ [one.of_strengths for one in members])
    new = gain_of(gains.mean - of_strengths / data.total_weight, gains.standard_error, data)
    effect = None if found.by_forecasts else found.design_effect
    summary = _summarize(data, mean, leader.summary, effect, new)
    learned = describe_horizons([one.horizon for one in members])
    if found.by_forecasts:
        learned["judged"] = "by the raw forecasts that follow left-out rows, not only by outcomes"
    summary = replace(summary, details={**summary.details, **learned})
    bands = tuple(band for one in members for band in one.bands)
    result = TemporalFitResult(mean, bands, summary, None, leader.track, ())
    return kept[0], result, leader


def describe_horizons(choices: Sequence[HorizonChoice | None]) -> dict[str, str]:
    """Say from what members learned, as an entry of the summary; none if by outcomes as asked."""
    taken = [inf if one is None else one.horizon for one in choices]
    if all(one is None or one.because in (ASKED, NO_SEQUENCE) for one in choices):
        return {}
    each = [
        f"{taken.count(horizon)} from "
        + ("outcomes only" if horizon == inf else f"forecasts, horizon {horizon:.2g}")
        for horizon in sorted(set(taken))
    ]
    return {"learned": "; ".join(each)}


def _summarize(
    data: FitData, mean: Average, leader: Summary, effect: float | None, new: Gain
) -> Summary:
    """Summarize the average; without a design effect no number of independent rows is known.

    The gain on new rows is that of held-out rows: the weighted mean of the members' gains, which
    the gain of their average is never below.
    """
    comparison = compare_losses(data, mean)
    gain = comparison.gain
    details = {name: leader.details[name] for name in _OF_THE_ROWS if name in leader.details}
    details |= {
        "gain": gain.mean,
        "gain_interval": [gain.lower, gain.upper],
        "gain_on_new_rows": new.mean,
        "gain_on_new_rows_interval": [new.lower, new.upper],
    }
    return replace(
        leader,
        calibrator=f"Average of {len(mean.maps)} candidates",
        effective_number=None if effect is None else data.total_weight / effect,
        nll_before=comparison.before,
        nll_after=comparison.after,
        details=details,
    )

"""Weights of candidates from their losses on held-out rows, and the average of their fits.

The weight of a candidate is ``prior * exp(-loss / (d (1 + FEW / groups)))``, normalized, with its
summed loss on held-out rows. The design effect d is the same for all candidates: rows of one
sequence share an outcome, so that n rows say as much as n / d independent ones. Held-out losses of
few groups decide even less, for the fits behind them are uncertain too: that is the last factor,
whose constant was found by simulation. Half of the prior is on doing nothing, which is hard to beat
with few sequences. The other half is shared in inverse proportion to the coefficients of a
calibrator: 1 for a temperature, 2 for slope and bias. Weights below ``MIN_WEIGHT`` become 0.
"""

import warnings
from collections.abc import Sequence
from dataclasses import replace
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

PRIOR_OF_IDENTITY = 0.5
FEW = 60.0
MIN_WEIGHT = 0.01
# Entries of a summary that do not depend on the candidate.
_OF_THE_ROWS = ("times", "thin_steps")


def prior_of(trials: Sequence[Trial], identity: int) -> Array:
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
    prior *= (1.0 - PRIOR_OF_IDENTITY) / prior.sum()
    prior[identity] = PRIOR_OF_IDENTITY
    return prior


def weigh(
    results: Sequence[HeldOutResult], prior: Array, n_groups: float, identity: int
) -> tuple[Array, float]:
    """Return the weight of each candidate, and the design effect.

    Without groups ``n_groups`` is the number of rows.
    """
    raw = results[identity].losses
    assert raw is not None
    weights = np.zeros(len(results))
    if not np.isfinite(raw.standard_error):
        # Of one group none can be left out.
        weights[identity] = 1.0
        return weights, 1.0
    averaged = np.flatnonzero(prior)
    losses = [one for one in (results[k].losses for k in averaged.tolist()) if one is not None]
    effect = design_effect(losses, raw)
    scale = raw.total_weight / (effect * (1.0 + FEW / n_groups))
    log_weights = np.log(prior[averaged]) - scale * np.array([one.mean for one in losses])
    weights[averaged] = np.exp(log_weights - log_weights.max())
    weights /= weights.sum()
    weights[weights < MIN_WEIGHT] = 0.0
    return weights / weights.sum(), effect


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
    trials: Sequence[Trial], weights: Array, effect: float, data: FitData, identity: int
) -> tuple[int, TemporalFitResult, TemporalFitResult]:
    """Average the candidates that have a weight.

    Return the index of the leading one, the average, and the fit of the leading one.
    """
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
    new = gain_of(gains.mean, gains.standard_error, data)
    summary = _summarize(data, mean, leader.summary, effect, new)
    learned = describe_horizons([one.horizon for one in members])
    summary = replace(summary, details={**summary.details, **learned})
    bands = tuple(band for one in members for band in one.bands)
    found = TemporalFitResult(mean, bands, summary, None, leader.track, ())
    return kept[0], found, leader


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


def _summarize(data: FitData, mean: Average, leader: Summary, effect: float, new: Gain) -> Summary:
    """Summarize the average.

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
        effective_number=data.total_weight / effect,
        nll_before=comparison.before,
        nll_after=comparison.after,
        details=details,
    )

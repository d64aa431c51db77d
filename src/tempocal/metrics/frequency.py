"""Confidence intervals of the observed frequency in each bin, for independent or grouped rows."""

from dataclasses import dataclass

import numpy as np

from tempocal.links import Array
from tempocal.metrics.binsums import BinSums
from tempocal.metrics.metric_intervals import student_quantile


@dataclass(frozen=True, eq=False)
class FrequencyInterval:
    """Interval of the frequency in each bin, and the number of independent units behind it."""

    units: Array
    lower: Array
    upper: Array


def interval_over_rows(sums: BinSums, level: float = 0.95) -> FrequencyInterval:
    """Interval for independent rows; a weight is a number of rows."""
    return _score_interval(sums, sums.weight, sums.weight, level)


def interval_from_group_sums(
    sums: BinSums, weights: Array, deviations: Array, level: float = 0.95
) -> FrequencyInterval:
    """Interval from sums over the groups in each bin.

    The cluster-robust variance of the frequency gives an effective number of independent trials,
    ``f (1 - f) / variance``.

    Parameters
    ----------
    sums : BinSums
        Sums over the rows.
    weights, deviations : ndarray of shape (B,)
        Sums over groups of the squared weight of a group, and of its squared sum of
        ``w * (outcome - frequency)``.
    level : float
        Confidence level.
    """
    frequency = _frequency(sums)
    totals = np.where(sums.weight > 0.0, sums.weight, 1.0)
    # Effective number of groups, sum(w)^2 / sum(w^2).
    n_groups = 1.0 / np.maximum(weights / totals**2, 1e-300)
    variance = deviations / totals**2
    variance *= n_groups / np.maximum(n_groups - 1.0, 1e-9)
    known = (variance > 0.0) & np.isfinite(variance)
    binomial = frequency * (1.0 - frequency)
    n_trials = np.where(known, binomial / np.where(known, variance, 1.0), n_groups)
    n_rows = np.maximum(sums.count, 1.0)
    return _score_interval(sums, n_groups, np.clip(n_trials, 0.5, n_rows), level)


def _frequency(sums: BinSums) -> Array:
    return np.asarray(sums.outcome / np.where(sums.weight > 0.0, sums.weight, 1.0))


def _score_interval(
    sums: BinSums, units: Array, n_trials: Array, level: float
) -> FrequencyInterval:
    """Wilson's score interval with an effective number of trials; it lies within [0, 1]."""
    filled = sums.weight > 0.0
    n = np.where(filled, np.maximum(n_trials, 1e-12), 1.0)
    z = student_quantile(0.5 + level / 2, np.maximum(units - 1.0, 1.0))
    frequency = _frequency(sums)
    center = (frequency + z**2 / (2.0 * n)) / (1.0 + z**2 / n)
    half = z / (1.0 + z**2 / n)
    half *= np.sqrt(np.maximum(frequency * (1.0 - frequency), 0.0) / n + z**2 / (4.0 * n**2))
    # Despite rounding, the interval must include the frequency.
    lower = np.where(filled, np.maximum(np.minimum(center - half, frequency), 0.0), np.nan)
    upper = np.where(filled, np.minimum(np.maximum(center + half, frequency), 1.0), np.nan)
    return FrequencyInterval(units, lower, upper)

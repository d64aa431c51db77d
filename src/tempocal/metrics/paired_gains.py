"""A metric before minus after in each time bin: intervals of the paired difference.

Rows hold the probabilities before as ``p0``, ..., and those after as ``after0``, .... Groups are
drawn, or left out, in both at once, so that what both have in common cancels.
"""

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from tempocal.links import Array
from tempocal.metrics.jackknife import Metric, jackknife_difference, jackknife_values
from tempocal.metrics.mean_losses import (
    MeanSums,
    difference_in_loss,
    means_of_losses,
    predicted_errors,
)
from tempocal.metrics.metric_intervals import half_width
from tempocal.metrics.row_losses import LossFormula
from tempocal.metrics.scored_arrays import ScoredArrays
from tempocal.metrics.scored_rows import ScoredRows

# Draws of the largest deviation over all time bins.
DRAWS = 4000


@dataclass(frozen=True, eq=False)
class PairedGains:
    """Gains of the time bins, and of their mean: each column of shape (S,)."""

    before: Array
    after: Array
    value: Array
    lower: Array
    upper: Array
    lower_all: Array
    upper_all: Array
    mean: tuple[float, float, float]  # value, lower, upper
    units: Array


def loss_gains(rows: ScoredRows, formula: LossFormula, level: float, seed: int) -> PairedGains:
    """Gains in a mean loss: Student's t with the cluster-robust error of the difference.

    The error is at least the one that the probabilities themselves predict.
    """
    before, after = means_of_losses(rows, formula)
    sums = difference_in_loss(rows, formula)
    observed = np.sqrt((sums.deviations**2).sum(axis=0))
    predicted = predicted_errors(rows, formula)
    errors = np.maximum(observed, predicted)
    width = np.array([half_width(level, units) for units in sums.units])
    all_width = _simultaneous(sums, observed, level, seed)
    mean = float(sums.values.mean())
    mean_error = max(
        float(np.sqrt((sums.deviations.mean(axis=1) ** 2).sum())),
        float(np.sqrt((predicted**2).sum())) / len(predicted),
    )
    low, high = _around(mean, _times(half_width(level, sums.total_units), mean_error))
    limits = [_around(sums.values, _times(each, errors)) for each in (width, all_width)]
    return PairedGains(
        before,
        after,
        sums.values,
        *limits[0],
        *limits[1],
        (mean, float(low), float(high)),
        sums.units,
    )


def other_gains(old: ScoredArrays, new: ScoredArrays, metric: Metric, level: float) -> PairedGains:
    """Gains in any metric, by leaving out a twentieth of the groups of both at a time."""
    before, after = jackknife_values(old, metric), jackknife_values(new, metric)
    n_bins = len(before.values)
    found = jackknife_difference(before, after, level)
    # Twenty folds are too few to find out how time bins vary together: Bonferroni's inequality.
    sure = jackknife_difference(before, after, 1.0 - (1.0 - level) / n_bins)
    mean = found.mean
    units = old.groups_by_time_bin() if old.groups is not None else old.time_bins.n_rows
    return PairedGains(
        before.values,
        after.values,
        before.values - after.values,
        found.lower,
        found.upper,
        sure.lower,
        sure.upper,
        mean,
        np.asarray(units, dtype=np.float64),
    )


def _simultaneous(sums: MeanSums, errors: Array, level: float, seed: int) -> Array:
    """Half-widths, in standard errors, of intervals that hold in all time bins together.

    The largest of the normal deviates, which vary together as the groups do, gives the share that
    each time bin may miss; Student's t has the width of that share.
    """
    known = errors > 0.0
    share = 1.0 - level
    if known.sum() > 1:
        scaled = sums.deviations[:, known] / errors[known]
        deviates = np.random.default_rng([seed, 2]).standard_normal((DRAWS, len(scaled))) @ scaled
        largest = float(np.quantile(np.abs(deviates).max(axis=1), level))
        share = min(share, 2.0 * (1.0 - NormalDist().cdf(largest)))
    return np.array([half_width(1.0 - share, units) for units in sums.units])


def _times(width: Array | float, error: Array | float) -> Array:
    """Half-width of an interval; with a single unit it is infinite even if the error is 0."""
    width = np.asarray(width, dtype=np.float64)
    return np.where(np.isfinite(width), np.where(np.isfinite(width), width, 0.0) * error, np.inf)


def _around(value: Array | float, half: Array) -> tuple[Array, Array]:
    """Limits; those of an infinite value are the value."""
    known = np.isfinite(value)
    with np.errstate(invalid="ignore"):
        return np.where(known, value - half, value), np.where(known, value + half, value)

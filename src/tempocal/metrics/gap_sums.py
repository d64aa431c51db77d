"""Intervals and floors of calibration errors that are sums of absolute gaps over cells.

With gaps ``g_c``, the error of a time bin is ``sum_c |g_c|``. The noise in the gaps is drawn by a
multiplier bootstrap over groups, and `absolute_sum` turns the draws into an interval. The floor is
the mean error of labels drawn from the predicted probabilities.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from tempocal.links import Array
from tempocal.metrics.absolute_sum import absolute_sum_bound, absolute_sum_interval
from tempocal.metrics.metric_intervals import MetricByTimeBin, MetricInterval, half_width

# Draws of the noise in the gaps.
DRAWS = 400
# Draws of labels for the floor; with more rows fewer are needed.
MIN_DRAWS, MAX_DRAWS, DRAWN_ROWS = 20, 100, 2e7


@dataclass(frozen=True, eq=False)
class GapSums:
    """Sums that errors over time and their intervals are computed from; S time bins."""

    gaps: Sequence[Array]  # S of (cells,): confidence minus outcome, over the time bin's weight
    noise: Sequence[Array]  # S of (draws, cells): draws of the noise in the gaps
    drawn: Array  # (draws, S) errors of labels drawn from the probabilities
    units: Array  # (S,) independent units
    total_units: float


def calibration_error_from_sums(sums: GapSums, name: str, level: float) -> MetricByTimeBin:
    """Calibration error of each time bin, and its mean over them."""
    floors = sums.drawn.mean(axis=0)
    normal_quantile = NormalDist().inv_cdf(0.5 + level / 2)
    by_time_bin = tuple(
        _interval(gap, noise, half_width(level, units) / normal_quantile, floor, level)
        for gap, noise, units, floor in zip(sums.gaps, sums.noise, sums.units, floors, strict=True)
    )
    share = 1.0 / len(sums.gaps)
    width = half_width(level, sums.total_units) / normal_quantile
    gaps, noise = np.concatenate(list(sums.gaps)), np.concatenate(list(sums.noise), axis=1)
    mean = _interval(gaps * share, noise * share, width, float(floors.mean()), level)
    ratio = _chance_ratio(sums.drawn, floors)
    return MetricByTimeBin(by_time_bin, mean, name, sums.units, ratio)


def noise_rng(seed: int) -> np.random.Generator:
    """Random generator of the noise in the gaps."""
    return np.random.default_rng([seed, 0])


def floor_rng(seed: int) -> np.random.Generator:
    """Random generator of the labels for the floor."""
    return np.random.default_rng([seed, 1])


def _interval(
    gaps: Array, noise: Array, width: float, floor: float, level: float
) -> MetricInterval:
    value = float(np.abs(gaps).sum())
    if not np.isfinite(width):
        return MetricInterval(value, 0.0, 1.0, floor, only_upper=True)
    if value <= 2.0 * floor:
        upper = absolute_sum_bound(gaps, width * noise, level)
        return MetricInterval(value, 0.0, min(upper, 1.0), floor, only_upper=True)
    lower, upper = absolute_sum_interval(gaps, width * noise, level)
    return MetricInterval(value, lower, min(upper, 1.0), floor)


def _chance_ratio(drawn: Array, floors: Array) -> float:
    """98 % quantile of the largest ratio of error to floor over all time bins.

    Time bins are taken as independent. If the labels of a sequence agree they are positively
    dependent, and the true quantile is smaller.
    """
    ratios = drawn / np.where(floors > 0.0, floors, np.inf)
    share = 0.98 ** (1.0 / len(floors))
    return float(np.quantile(ratios, share, method="higher"))

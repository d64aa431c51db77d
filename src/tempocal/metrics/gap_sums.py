"""Intervals and floors of calibration errors that are sums of absolute gaps over cells.

With gaps ``g_c``, the error of a time bin is ``sum_c |g_c|``. The noise in the gaps is drawn by a
multiplier bootstrap over groups, and `absolute_sum` turns the draws into an interval. The floor is
the mean error of labels drawn from the predicted probabilities.
"""

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from tempocal.errors import InputError
from tempocal.links import Array
from tempocal.metrics.absolute_sum import absolute_sum_bound, absolute_sum_interval
from tempocal.metrics.cells import GapCells, GapMetric, gaps_by_cell, make_cells
from tempocal.metrics.metric_intervals import MetricByTimeBin, MetricInterval, half_width
from tempocal.metrics.sample import Sample, total_units

# Draws of the noise in the gaps.
DRAWS = 400
# Limit of the memory for these draws, in doubles: 4 GiB.
MAX_NOISE_NUMBERS = 2**29
# Draws of labels for the floor; with more rows fewer are needed.
MIN_DRAWS, MAX_DRAWS, DRAWN_ROWS = 20, 100, 2e7


@dataclass(frozen=True, eq=False)
class GapSums:
    """Sums that errors over time and their intervals are computed from; S time bins.

    They come from rows in memory or from a table.
    """

    gaps: Array  # (S, cells) confidence minus outcome, divided by the weight of the time bin
    noise: Array  # (S, draws, cells) draws of the noise in the gaps
    drawn: Array  # (draws, S) errors of labels drawn from the probabilities
    units: Array  # (S,) independent units
    total_units: float


def calibration_error_by_time_bin(
    sample: Sample, metric: GapMetric, name: str, level: float, seed: int
) -> MetricByTimeBin:
    """Calibration error of each time bin."""
    cells = make_cells(sample, metric)
    _require_memory(sample, cells, metric.bins)
    gaps = gaps_by_cell(sample, cells, cells.outcome)
    drawn = _drawn_errors(sample, cells, floor_rng(seed))
    noise = _noise(sample, cells, gaps, noise_rng(seed))
    sums = GapSums(gaps, noise, drawn, sample.units, total_units(sample))
    return calibration_error_from_sums(sums, name, level)


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
    noise = np.concatenate(list(sums.noise), axis=1)
    mean = _interval(sums.gaps.ravel() * share, noise * share, width, float(floors.mean()), level)
    return MetricByTimeBin(by_time_bin, mean, name, _chance_ratio(sums.drawn, floors))


def noise_rng(seed: int) -> np.random.Generator:
    """Random generator of the noise in the gaps."""
    return np.random.default_rng([seed, 0])


def floor_rng(seed: int) -> np.random.Generator:
    """Random generator of the labels for the floor."""
    return np.random.default_rng([seed, 1])


def number_of_draws(n_numbers: int) -> int:
    """Return how often labels are drawn, given the number of rows times events."""
    return int(np.clip(DRAWN_ROWS / n_numbers, MIN_DRAWS, MAX_DRAWS))


def _require_memory(sample: Sample, cells: GapCells, bins: int) -> None:
    """Refuse bins whose noise draws would not fit into memory."""
    drawn = max(sample.time_bins.count * DRAWS, sample.buckets()[1]) * cells.per_time_bin
    if drawn > MAX_NOISE_NUMBERS:
        raise InputError(
            f"metric has {bins} bins, of which rows fill {cells.per_time_bin} in one of "
            f"{sample.time_bins.count} stretches of time: the noise in so many takes "
            f"{drawn * 8 / 2**30:.0f} GiB. Take fewer bins of confidence, such as 15, or fewer "
            "stretches"
        )


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


def _noise(sample: Sample, cells: GapCells, gaps: Array, random: np.random.Generator) -> Array:
    """Multiplier bootstrap of the gaps, (S, draws, cells): one normal deviate for each bucket."""
    buckets, n_buckets = sample.buckets()
    deviates = random.standard_normal((DRAWS, n_buckets))
    weight, width = sample.deviation_weight, cells.per_time_bin
    noise = np.empty((len(gaps), DRAWS, width))
    for time_bin, part in enumerate(sample.parts):
        values = (cells.confidence[part] - cells.outcome[part]) * weight[part, None]
        index = buckets[part, None] * width + (cells.codes[part] - time_bin * width)
        sums = np.bincount(index.ravel(), values.ravel(), minlength=n_buckets * width)
        bucket_gaps = sums.reshape(n_buckets, width) / cells.n_events
        shares = np.bincount(buckets[part], weight[part], minlength=n_buckets)
        noise[time_bin] = deviates @ (bucket_gaps - shares[:, None] * gaps[time_bin])
    return noise / sample.totals[:, None, None]


def _drawn_errors(sample: Sample, cells: GapCells, random: np.random.Generator) -> Array:
    """Errors (draws, S) of drawn labels; the rows of a group share one uniform number."""
    n_groups, totals = int(sample.groups.max()) + 1, sample.rows.proba.sum(axis=1)
    draws = number_of_draws(cells.codes.size)
    errors = np.empty((draws, sample.time_bins.count))
    for draw in range(draws):
        uniform = (random.random(n_groups)[sample.groups] * totals)[:, None]
        outcome = (uniform >= cells.below) & (uniform < cells.below + cells.confidence)
        errors[draw] = np.abs(gaps_by_cell(sample, cells, outcome)).sum(axis=1)
    return errors


def _chance_ratio(drawn: Array, floors: Array) -> float:
    """98 % quantile of the largest ratio of error to floor over all time bins.

    Time bins are taken as independent. If the labels of a sequence agree they are positively
    dependent, and the true quantile is smaller.
    """
    ratios = drawn / np.where(floors > 0.0, floors, np.inf)
    share = 0.98 ** (1.0 / len(floors))
    return float(np.quantile(ratios, share, method="higher"))

"""Calibration errors that are sums of absolute gaps over cells: their interval and their floor."""

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
# Numbers that they may be, in all cells of all time bins: 4 GiB.
MAX_NOISE_NUMBERS = 2**29
# Draws of labels for the floor: the more rows there are, the fewer it takes.
MIN_DRAWS, MAX_DRAWS, DRAWN_ROWS = 20, 100, 2e7


@dataclass(frozen=True, eq=False)
class GapSums:
    """What errors over time and their intervals come from, wherever the rows were summed."""

    gaps: Array  # (S, cells) confidence minus outcome, by the weight of the time bin
    noise: Array  # (S, draws, cells) draws of the noise in them
    drawn: Array  # (draws, S) errors of labels that were drawn from the probabilities
    units: Array  # (S,) independent units
    total_units: float


def calibration_error_by_time_bin(
    sample: Sample, metric: GapMetric, name: str, level: float, seed: int
) -> MetricByTimeBin:
    """Calibration error of each time bin."""
    cells = make_cells(sample, metric)
    _require_few(sample, cells, metric.bins)
    gaps = gaps_by_cell(sample, cells, cells.outcome)
    drawn = _drawn_errors(sample, cells, floor_rng(seed))
    noise = _noise(sample, cells, gaps, noise_rng(seed))
    sums = GapSums(gaps, noise, drawn, sample.units, total_units(sample))
    return calibration_error_from_sums(sums, name, level)


def calibration_error_from_sums(sums: GapSums, name: str, level: float) -> MetricByTimeBin:
    """Calibration error of each time bin, and its mean over them."""
    floors = sums.drawn.mean(axis=0)
    unit = NormalDist().inv_cdf(0.5 + level / 2)
    by_time_bin = tuple(
        _range(gap, one, half_width(level, units) / unit, floor, level)
        for gap, one, units, floor in zip(sums.gaps, sums.noise, sums.units, floors, strict=True)
    )
    share = 1.0 / len(sums.gaps)
    width = half_width(level, sums.total_units) / unit
    together = np.concatenate(list(sums.noise), axis=1)
    mean = _range(sums.gaps.ravel() * share, together * share, width, float(floors.mean()), level)
    return MetricByTimeBin(by_time_bin, mean, name, _chance_ratio(sums.drawn, floors))


def noise_rng(seed: int) -> np.random.Generator:
    """Return where the noise in the gaps is drawn from."""
    return np.random.default_rng([seed, 0])


def floor_rng(seed: int) -> np.random.Generator:
    """Return where the labels of the floor are drawn from."""
    return np.random.default_rng([seed, 1])


def number_of_draws(n_numbers: int) -> int:
    """How often labels are drawn for so many rows and events."""
    return int(np.clip(DRAWN_ROWS / n_numbers, MIN_DRAWS, MAX_DRAWS))


def _require_few(sample: Sample, cells: GapCells, bins: int) -> None:
    """Refuse bins whose noise would not go into memory."""
    drawn = max(sample.time_bins.count * DRAWS, sample.buckets()[1]) * cells.per_time_bin
    if drawn > MAX_NOISE_NUMBERS:
        raise InputError(
            f"metric has {bins} bins, of which rows fill {cells.per_time_bin} in one of "
            f"{sample.time_bins.count} stretches of time: the noise in so many takes "
            f"{drawn * 8 / 2**30:.0f} GiB. Take fewer bins of confidence, such as 15, or fewer "
            "stretches"
        )


def _range(gaps: Array, noise: Array, width: float, floor: float, level: float) -> MetricInterval:
    value = float(np.abs(gaps).sum())
    if not np.isfinite(width):
        return MetricInterval(value, 0.0, 1.0, floor, only_upper=True)
    if value <= 2.0 * floor:
        upper = absolute_sum_bound(gaps, width * noise, level)
        return MetricInterval(value, 0.0, min(upper, 1.0), floor, only_upper=True)
    lower, upper = absolute_sum_interval(gaps, width * noise, level)
    return MetricInterval(value, lower, min(upper, 1.0), floor)


def _noise(sample: Sample, cells: GapCells, gaps: Array, random: np.random.Generator) -> Array:
    """Draws of the noise in the gaps: (S, draws, cells). Groups keep their sums together."""
    buckets, n_buckets = sample.buckets()
    deviates = random.standard_normal((DRAWS, n_buckets))
    weight, width = sample.deviation_weight, cells.per_time_bin
    noise = np.empty((len(gaps), DRAWS, width))
    for time_bin, part in enumerate(sample.parts):
        values = (cells.confidence[part] - cells.outcome[part]) * weight[part, None]
        where = buckets[part, None] * width + (cells.codes[part] - time_bin * width)
        sums = np.bincount(where.ravel(), values.ravel(), minlength=n_buckets * width)
        moved = sums.reshape(n_buckets, width) / cells.n_events
        shares = np.bincount(buckets[part], weight[part], minlength=n_buckets)
        noise[time_bin] = deviates @ (moved - shares[:, None] * gaps[time_bin])
    return noise / sample.totals[:, None, None]


def _drawn_errors(sample: Sample, cells: GapCells, random: np.random.Generator) -> Array:
    """Errors (draws, S) of labels drawn from the probabilities, by one number for each group."""
    n_groups, totals = int(sample.groups.max()) + 1, sample.rows.proba.sum(axis=1)
    draws = number_of_draws(cells.codes.size)
    errors = np.empty((draws, sample.time_bins.count))
    for draw in range(draws):
        drawn = (random.random(n_groups)[sample.groups] * totals)[:, None]
        came = (drawn >= cells.below) & (drawn < cells.below + cells.confidence)
        errors[draw] = np.abs(gaps_by_cell(sample, cells, came)).sum(axis=1)
    return errors


def _chance_ratio(drawn: Array, floors: Array) -> float:
    """How far the worst of all time bins is above its floor, in all but 2 % of cases.

    TimeBins are taken as independent. If labels of a sequence agree they are not, and the worst
    of them is not as far off.
    """
    ratios = drawn / np.where(floors > 0.0, floors, np.inf)
    share = 0.98 ** (1.0 / len(floors))
    return float(np.quantile(ratios, share, method="higher"))

"""Metrics that are means over rows, such as the NLL: intervals over groups.

The standard error is cluster-robust: ``sqrt(sum_g d_g^2) / w``, where ``d_g`` is the sum over a
group of ``w_i * (loss_i - mean)`` and ``w`` the total weight.
"""

from dataclasses import dataclass

import numpy as np

from tempocal.links import Array
from tempocal.metrics.metric_intervals import MetricByTimeBin, MetricInterval, half_width
from tempocal.metrics.predictions import RowLoss, row_blocks
from tempocal.metrics.sample import Sample, total_units


@dataclass(frozen=True, eq=False)
class MeanSums:
    """Sums that means over time and their intervals are computed from; S time bins.

    They come from rows in memory or from a table.
    """

    values: Array  # (S,) mean loss of each time bin
    floors: Array  # (S,) expected loss if the probabilities are true
    deviations: Array  # (units, S) contribution of each independent unit to the error of the mean
    units: Array  # (S,) number of independent units
    total_units: float


def mean_loss_by_time_bin(
    sample: Sample, loss: RowLoss, name: str, level: float
) -> MetricByTimeBin:
    """Mean loss of each time bin; the floor is the expected loss under the probabilities."""
    losses, expected = _losses(sample, loss)
    values = _means(sample, losses)
    sums = MeanSums(
        values,
        _means(sample, expected),
        _deviations(sample, losses, values),
        sample.units,
        total_units(sample),
    )
    return mean_loss_from_sums(sums, name, level)


def mean_loss_from_sums(sums: MeanSums, name: str, level: float) -> MetricByTimeBin:
    """Mean loss of each time bin, and its mean over the time bins."""
    by_time_bin = tuple(
        _interval(value, deviation, floor, half_width(level, units))
        for value, deviation, floor, units in zip(
            sums.values, sums.deviations.T, sums.floors, sums.units, strict=True
        )
    )
    mean = _interval(
        sums.values.mean(),
        sums.deviations.mean(axis=1),
        sums.floors.mean(),
        half_width(level, sums.total_units),
    )
    return MetricByTimeBin(by_time_bin, mean, name)


def mean_with_interval(sample: Sample, losses: Array, level: float) -> MetricInterval:
    """Mean of one number for each row, for a sample with a single time bin."""
    value = _means(sample, losses)
    deviation = _deviations(sample, losses, value)[:, 0]
    return _interval(float(value[0]), deviation, 0.0, half_width(level, sample.units[0]))


def _losses(sample: Sample, loss: RowLoss) -> tuple[Array, Array]:
    rows = sample.rows
    losses, expected = np.empty(len(rows.codes)), np.zeros(len(rows.codes))
    for part in row_blocks(len(rows.codes), rows.n_classes):
        proba = rows.proba[part]
        losses[part] = loss(proba, rows.codes[part])
        for column in range(rows.n_classes):
            of_class = loss(proba, np.full(len(proba), column))
            # A class of probability 0 adds nothing, even if its loss is infinite.
            possible = proba[:, column] > 0.0
            expected[part] += np.where(possible, proba[:, column], 0.0) * np.where(
                possible, of_class, 0.0
            )
    return losses, expected


def _means(sample: Sample, values: Array) -> Array:
    codes, count = sample.time_bins.codes, sample.time_bins.count
    total = np.bincount(codes, values * sample.weight, minlength=count)
    return np.asarray(total / sample.totals, dtype=np.float64)


def _deviations(sample: Sample, losses: Array, means: Array) -> Array:
    """Sum weighted deviations from the mean by bucket: (buckets, time bins)."""
    buckets, n_buckets = sample.buckets()
    codes, count = sample.time_bins.codes, sample.time_bins.count
    finite = np.isfinite(means)[codes]
    centered = np.where(finite, losses, 0.0) - np.where(finite, means[codes], 0.0)
    sums = np.bincount(
        buckets * count + codes, centered * sample.deviation_weight, minlength=n_buckets * count
    )
    return np.asarray(sums.reshape(n_buckets, count) / sample.totals, dtype=np.float64)


def _interval(value: float, deviation: Array, floor: float, width: float) -> MetricInterval:
    if not np.isfinite(value):
        return MetricInterval(value, value, value, floor)
    error = float(np.sqrt((deviation**2).sum()))
    half = width * error if np.isfinite(width) else np.inf
    return MetricInterval(float(value), float(value - half), float(value + half), float(floor))

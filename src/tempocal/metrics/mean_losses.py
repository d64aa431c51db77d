"""Metrics that are means over rows, such as the likelihood: intervals over groups."""

from dataclasses import dataclass

import numpy as np

from tempocal.links import Array
from tempocal.metrics.metric_intervals import MetricByTimeBin, MetricInterval, half_width
from tempocal.metrics.predictions import RowLoss, row_blocks
from tempocal.metrics.sample import Sample, total_units


@dataclass(frozen=True, eq=False)
class MeanSums:
    """What means over time and their intervals come from, wherever the rows were summed."""

    values: Array  # (S,) mean loss of each time bin
    floors: Array  # (S,) the loss that the probabilities expect
    deviations: Array  # (parts, S) what each independent part adds to the error of the means
    units: Array  # (S,) independent units
    total_units: float


def mean_loss_by_time_bin(
    sample: Sample, loss: RowLoss, name: str, level: float
) -> MetricByTimeBin:
    """Mean loss of each time bin; the floor is the loss that the probabilities expect."""
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
    """Mean loss of each time bin, and of all of them."""
    by_time_bin = tuple(
        _range(value, deviation, floor, half_width(level, units))
        for value, deviation, floor, units in zip(
            sums.values, sums.deviations.T, sums.floors, sums.units, strict=True
        )
    )
    mean = _range(
        sums.values.mean(),
        sums.deviations.mean(axis=1),
        sums.floors.mean(),
        half_width(level, sums.total_units),
    )
    return MetricByTimeBin(by_time_bin, mean, name)


def mean_with_interval(sample: Sample, losses: Array, level: float) -> MetricInterval:
    """Mean of one number for each row, over all of a sample that is one time bin."""
    value = _means(sample, losses)
    deviation = _deviations(sample, losses, value)[:, 0]
    return _range(float(value[0]), deviation, 0.0, half_width(level, sample.units[0]))


def _losses(sample: Sample, loss: RowLoss) -> tuple[Array, Array]:
    rows = sample.rows
    losses, expected = np.empty(len(rows.codes)), np.zeros(len(rows.codes))
    for part in row_blocks(len(rows.codes), rows.n_classes):
        proba = rows.proba[part]
        losses[part] = loss(proba, rows.codes[part])
        for column in range(rows.n_classes):
            of_class = loss(proba, np.full(len(proba), column))
            # A class that cannot come adds nothing, also where its loss is infinite.
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
    """Deviations of bucket sums from what they would be at the mean, (buckets, time bins)."""
    buckets, n_buckets = sample.buckets()
    codes, count = sample.time_bins.codes, sample.time_bins.count
    finite = np.isfinite(means)[codes]
    centered = np.where(finite, losses, 0.0) - np.where(finite, means[codes], 0.0)
    sums = np.bincount(
        buckets * count + codes, centered * sample.deviation_weight, minlength=n_buckets * count
    )
    return np.asarray(sums.reshape(n_buckets, count) / sample.totals, dtype=np.float64)


def _range(value: float, deviation: Array, floor: float, width: float) -> MetricInterval:
    if not np.isfinite(value):
        return MetricInterval(value, value, value, floor)
    spread = float(np.sqrt((deviation**2).sum()))
    half = width * spread if np.isfinite(width) else np.inf
    return MetricInterval(float(value), float(value - half), float(value + half), float(floor))

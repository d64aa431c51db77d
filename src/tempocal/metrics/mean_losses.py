"""Metrics that are means over rows, such as the likelihood: intervals over groups."""

from dataclasses import dataclass

import numpy as np

from tempocal.links import Array
from tempocal.metrics.binned_values import Profile, Range
from tempocal.metrics.predictions import RowLoss, row_blocks
from tempocal.metrics.quantiles import half_width
from tempocal.metrics.sample import Sample, whole_units


@dataclass(frozen=True, eq=False)
class MeanSums:
    """What means over time and their intervals come from, wherever the rows were summed."""

    values: Array  # (S,) mean loss of each stretch
    floors: Array  # (S,) the loss that the probabilities expect
    deviations: Array  # (parts, S) what each independent part adds to the error of the means
    units: Array  # (S,) independent units
    whole_units: float


def profile_of_mean(sample: Sample, loss: RowLoss, name: str, level: float) -> Profile:
    """Mean loss of each stretch; the floor is the loss that the probabilities expect."""
    losses, expected = _losses(sample, loss)
    values = _means(sample, losses)
    sums = MeanSums(
        values,
        _means(sample, expected),
        _deviations(sample, losses, values),
        sample.units,
        whole_units(sample),
    )
    return profile_of_mean_sums(sums, name, level)


def profile_of_mean_sums(sums: MeanSums, name: str, level: float) -> Profile:
    """Mean loss of each stretch, and of all of them."""
    by_stretch = tuple(
        _range(value, deviation, floor, half_width(level, units))
        for value, deviation, floor, units in zip(
            sums.values, sums.deviations.T, sums.floors, sums.units, strict=True
        )
    )
    mean = _range(
        sums.values.mean(),
        sums.deviations.mean(axis=1),
        sums.floors.mean(),
        half_width(level, sums.whole_units),
    )
    return Profile(by_stretch, mean, name)


def range_of_mean(sample: Sample, losses: Array, level: float) -> Range:
    """Mean of one number for each row, over all of a sample that is one stretch."""
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
    codes, count = sample.stretches.codes, sample.stretches.count
    total = np.bincount(codes, values * sample.weight, minlength=count)
    return np.asarray(total / sample.totals, dtype=np.float64)


def _deviations(sample: Sample, losses: Array, means: Array) -> Array:
    """Deviations of bucket sums from what they would be at the mean, (buckets, stretches)."""
    buckets, n_buckets = sample.buckets()
    codes, count = sample.stretches.codes, sample.stretches.count
    finite = np.isfinite(means)[codes]
    centered = np.where(finite, losses, 0.0) - np.where(finite, means[codes], 0.0)
    sums = np.bincount(
        buckets * count + codes, centered * sample.deviation_weight, minlength=n_buckets * count
    )
    return np.asarray(sums.reshape(n_buckets, count) / sample.totals, dtype=np.float64)


def _range(value: float, deviation: Array, floor: float, width: float) -> Range:
    if not np.isfinite(value):
        return Range(value, value, value, floor)
    spread = float(np.sqrt((deviation**2).sum()))
    half = width * spread if np.isfinite(width) else np.inf
    return Range(float(value), float(value - half), float(value + half), float(floor))

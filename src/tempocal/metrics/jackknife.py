"""Any metric in each time bin, with intervals by a jackknife over groups."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tempocal.inputs import Codes
from tempocal.links import Array
from tempocal.metrics.estimates import Estimate
from tempocal.metrics.metric_intervals import MetricByTimeBin, MetricInterval, half_width
from tempocal.metrics.sampling_floor import sampling_floor
from tempocal.metrics.scored_arrays import ScoredArrays
from tempocal.metrics.scored_rows import assign_buckets

# Groups are dealt into this many folds, which are left out one at a time.
FOLDS = 20
FLOOR_DRAWS = 40

Metric = Callable[..., float]


@dataclass(frozen=True, eq=False)
class JackknifeValues:
    """A metric in each time bin, and without each fold of the groups."""

    values: Array  # (S,)
    without: Array  # (S, FOLDS): NaN where a fold has no rows, or all


@dataclass(frozen=True, eq=False)
class JackknifeDifference:
    """Limits of the difference of two metrics, and its mean over the time bins."""

    lower: Array
    upper: Array
    mean: tuple[float, float, float]  # value, lower, upper


def jackknife_values(rows: ScoredArrays, metric: Metric) -> JackknifeValues:
    """Metric of each time bin, with all rows and without each fold."""
    fold_of = assign_buckets(rows.n_units, FOLDS)[0]
    parts = [np.arange(rows.n_rows)[part] for part in rows.rows_by_time_bin()]
    values = np.array([float(_call(rows, part, metric)) for part in parts])
    return JackknifeValues(
        values, np.array([_without(rows, part, fold_of, metric) for part in parts])
    )


def jackknife_difference(
    before: JackknifeValues, after: JackknifeValues, level: float
) -> JackknifeDifference:
    """Before minus after of the same rows: the same folds are left out of both."""
    values, without = before.values - after.values, before.without - after.without

    def interval(value: float, replicates: Array) -> MetricInterval:
        # Groups or rows may be fewer than the folds.
        return _interval(value, replicates, 0.0, half_width(level, len(replicates)))

    found = [
        interval(value, replicates[np.isfinite(replicates)])
        for value, replicates in zip(values.tolist(), without, strict=True)
    ]
    filled = np.where(np.isfinite(without), without, values[:, None]).mean(axis=0)
    mean = interval(float(values.mean()), filled[np.isfinite(without).any(axis=0)])
    return JackknifeDifference(
        np.array([one.lower for one in found]),
        np.array([one.upper for one in found]),
        (mean.value, mean.lower, mean.upper),
    )


def jackknife_by_time_bin(
    rows: ScoredArrays, metric: Metric, level: float, seed: int
) -> MetricByTimeBin:
    """Metric of each time bin; the intervals are centered at the bias-corrected value."""
    fold_of = assign_buckets(rows.n_units, FOLDS)[0]
    parts = [np.arange(rows.n_rows)[part] for part in rows.rows_by_time_bin()]
    values = [_call(rows, part, metric) for part in parts]
    without = np.array([_without(rows, part, fold_of, metric) for part in parts])
    floors = np.array([_floor(rows, part, metric, seed) for part in parts])
    # Calibration errors return an Estimate and are nonnegative; losses return a float.
    make = _error_interval if isinstance(values[0], Estimate) else _interval

    def interval(value: float, replicates: Array, floor: float) -> MetricInterval:
        return make(value, replicates, floor, half_width(level, len(replicates)))

    by_time_bin = tuple(
        interval(float(value), replicates[np.isfinite(replicates)], floor)
        for value, replicates, floor in zip(values, without, floors.tolist(), strict=True)
    )
    # Leaving out a fold that has no rows in a time bin does not change its value.
    filled = np.where(np.isfinite(without), without, np.array(values, dtype=np.float64)[:, None])
    mean = interval(
        float(np.mean(values)),
        filled.mean(axis=0)[np.isfinite(without).any(axis=0)],
        float(floors.mean()),
    )
    name = getattr(values[0], "estimator", getattr(metric, "__name__", "a metric"))
    grouped = rows.groups is not None
    units = rows.groups_by_time_bin() if grouped else rows.time_bins.n_rows.astype(np.float64)
    return MetricByTimeBin(by_time_bin, mean, name, units)


def _without(rows: ScoredArrays, part: Codes, fold_of: Codes, metric: Metric) -> Array:
    """Jackknife replicates: the value without each fold; NaN if it has no rows, or all of them."""
    values = np.full(FOLDS, np.nan)
    fold = fold_of[part if rows.groups is None else rows.groups.codes[part]]
    for k in range(FOLDS):
        kept = part[fold != k]
        if 0 < len(kept) < len(part):
            values[k] = float(_call(rows, kept, metric))
    return values


def _call(rows: ScoredArrays, part: Codes, metric: Metric) -> float:
    taken = rows.rows.take(part)
    return metric(
        taken.classes[taken.codes], taken.proba, sample_weight=taken.weight, classes=taken.classes
    )


def _floor(rows: ScoredArrays, part: Codes, metric: Metric, seed: int) -> float:
    taken = rows.rows.take(part)
    drawn = sampling_floor(
        taken.proba,
        groups=None if rows.groups is None else rows.groups.codes[part],
        metric=metric,
        n_draws=FLOOR_DRAWS,
        seed=seed,
        sample_weight=taken.weight,
    )
    return float(drawn)


def _interval(value: float, replicates: Array, floor: float, width: float) -> MetricInterval:
    if not np.isfinite(value) or not np.isfinite(width) or len(replicates) < 2:
        return MetricInterval(value, -np.inf, np.inf, floor)
    count = len(replicates)
    center = value - (count - 1) * float(replicates.mean() - value)
    # sqrt((n - 1) / n * sum of squares), divided by the factor sqrt(n / (n - 1)) of `half_width`.
    error = (count - 1) / count * float(np.sqrt(((replicates - replicates.mean()) ** 2).sum()))
    return MetricInterval(value, center - width * error, center + width * error, floor)


def _error_interval(value: float, replicates: Array, floor: float, width: float) -> MetricInterval:
    """Interval of an error in [0, 1], which may be all noise."""
    found = _interval(value, replicates, floor, width)
    if value <= 2.0 * floor or not np.isfinite(found.upper):
        return MetricInterval(value, 0.0, min(max(found.upper, value), 1.0), floor, only_upper=True)
    return MetricInterval(value, max(found.lower, 0.0), min(max(found.upper, 0.0), 1.0), floor)

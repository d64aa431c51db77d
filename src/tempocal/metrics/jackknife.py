"""Any metric over time: called on the rows of each time bin, with a jackknife over groups."""

from collections.abc import Callable

import numpy as np

from tempocal.inputs import Codes
from tempocal.links import Array
from tempocal.metrics.estimates import Estimate
from tempocal.metrics.metric_intervals import MetricByTimeBin, MetricInterval, half_width
from tempocal.metrics.sample import Sample
from tempocal.metrics.sampling_floor import sampling_floor

# Groups are left out in so many parts, one after the other.
FOLDS = 20
FLOOR_DRAWS = 40

Metric = Callable[..., float]


def jackknife_by_time_bin(
    sample: Sample, metric: Metric, level: float, seed: int
) -> MetricByTimeBin:
    """Metric of each time bin; intervals around the value less its bias, by the jackknife."""
    fold = sample.buckets(FOLDS)[0]
    values = [_call(sample, np.arange(part.start, part.stop), metric) for part in sample.parts]
    without = np.array([_without(sample, part, fold, metric) for part in sample.parts])
    floors = np.array([_floor(sample, part, metric, seed) for part in sample.parts])
    # An error says which estimator it is, and would be zero without noise; a score would not.
    judge = _error_range if isinstance(values[0], Estimate) else _range

    def judged(value: float, left: Array, floor: float) -> MetricInterval:
        return judge(value, left, floor, half_width(level, len(left)))

    by_time_bin = tuple(
        judged(float(value), left[np.isfinite(left)], floor)
        for value, left, floor in zip(values, without, floors.tolist(), strict=True)
    )
    # A part without rows in a time bin leaves it as it was.
    filled = np.where(np.isfinite(without), without, np.array(values, dtype=np.float64)[:, None])
    mean = judged(
        float(np.mean(values)),
        filled.mean(axis=0)[np.isfinite(without).any(axis=0)],
        float(floors.mean()),
    )
    unnamed = getattr(metric, "__name__", "a metric")
    return MetricByTimeBin(by_time_bin, mean, getattr(values[0], "estimator", unnamed))


def _without(sample: Sample, part: slice, fold: Codes, metric: Metric) -> Array:
    """Values without one part of the groups; NaN where that has no rows, or all of them."""
    rows = np.arange(part.start, part.stop)
    values = np.full(FOLDS, np.nan)
    for k in range(FOLDS):
        left = rows[fold[part] != k]
        if 0 < len(left) < len(rows):
            values[k] = float(_call(sample, left, metric))
    return values


def _call(sample: Sample, rows: Codes, metric: Metric) -> float:
    taken = sample.rows.take(rows)
    return metric(
        taken.classes[taken.codes], taken.proba, sample_weight=taken.weight, classes=taken.classes
    )


def _floor(sample: Sample, part: slice, metric: Metric, seed: int) -> float:
    rows = sample.rows.take(part)
    groups = sample.groups[part] if sample.grouped else None
    drawn = sampling_floor(
        rows.proba,
        groups=groups,
        metric=metric,
        n_draws=FLOOR_DRAWS,
        seed=seed,
        sample_weight=rows.weight,
    )
    return float(drawn)


def _range(value: float, without: Array, floor: float, half: float) -> MetricInterval:
    if not np.isfinite(value) or not np.isfinite(half):
        return MetricInterval(value, -np.inf, np.inf, floor)
    count = len(without)
    center = value - (count - 1) * float(without.mean() - value)
    # The width has a factor for few parts already: what is left of the jackknife's is this.
    spread = (count - 1) / count * float(np.sqrt(((without - without.mean()) ** 2).sum()))
    return MetricInterval(value, center - half * spread, center + half * spread, floor)


def _error_range(value: float, without: Array, floor: float, half: float) -> MetricInterval:
    """MetricInterval of what lies between 0 and 1, and may be all noise."""
    found = _range(value, without, floor, half)
    if value <= 2.0 * floor or not np.isfinite(found.upper):
        return MetricInterval(value, 0.0, min(max(found.upper, value), 1.0), floor, only_upper=True)
    return MetricInterval(value, max(found.lower, 0.0), min(max(found.upper, 0.0), 1.0), floor)

"""Any metric along time, with an interval over groups and the floor that chance alone shows."""

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tempocal.inputs import check_seed, time_text
from tempocal.links import Array
from tempocal.metrics.dispatch import metric_by_time_bin
from tempocal.metrics.estimates import IntervalEstimate
from tempocal.metrics.jackknife import Metric
from tempocal.metrics.metric_intervals import MetricByTimeBin, MetricInterval
from tempocal.metrics.predictions import (
    check_groups_of,
    check_level,
    check_predictions,
    check_time_of,
)
from tempocal.metrics.sample import make_sample
from tempocal.metrics.time_bins import Bins, TimeBins, cut_times, single_time_bin


@dataclass(frozen=True, eq=False)
class OverTime:
    """A metric along time: a table with an entry for each time bin.

    ``pandas.DataFrame(table.columns())`` is the table.

    Attributes
    ----------
    time_from, time_to, time_middle : ndarray
        Earliest, latest and mean time of the rows of each time bin, of the kind that was given.
    rows, sequences : ndarray of int
        Rows and groups in it; without groups, every row is one of its own.
    value : ndarray
        The metric.
    lower, upper : ndarray
        Its interval over groups, which holds the value. It is one of the error without noise, so
        that a calibration error, to which noise adds, lies in its upper part or at its upper end.
    floor : ndarray
        What perfect probabilities would show on these rows: the sampling floor.
    only_upper : ndarray of bool
        Whether the error is under twice its floor. It may be all noise then: ``lower`` is 0 and
        ``upper`` a bound.
    mean : IntervalEstimate
        Mean over the time bins, with an interval of its own.
    estimator : str
        Which estimator it is, in words.
    level : float
        How often such intervals hold the truth.
    n_groups : int or None
        Groups in all; None if rows were taken as independent.
    chance_ratio : float
        Of a calibration error: by chance alone the worst of all time bins has no more than this
        times its floor, in 98 % of cases. Infinite where that was not drawn.
    """

    time_from: NDArray[Any]
    time_to: NDArray[Any]
    time_middle: NDArray[Any]
    rows: NDArray[np.intp]
    sequences: NDArray[np.intp]
    value: Array
    lower: Array
    upper: Array
    floor: Array
    only_upper: NDArray[np.bool_]
    mean: IntervalEstimate
    estimator: str
    level: float
    n_groups: int | None
    chance_ratio: float

    def columns(self) -> dict[str, NDArray[Any]]:
        """Return the columns by name."""
        found = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: column for name, column in found.items() if isinstance(column, np.ndarray)}

    def __len__(self) -> int:
        return len(self.value)

    def __str__(self) -> str:
        head = f"{self.estimator}, {self.level:.0%} intervals over {_units(self.n_groups)}"
        lines: list[tuple[str, ...]] = [
            ("from", "to", "rows", "sequences", "value", "lower", "upper", "floor")
        ]
        lines += [self._line(k) for k in range(len(self))]
        widths = [max(map(len, column)) + 2 for column in zip(*lines, strict=True)]
        text = [head, *("".join(map(str.rjust, line, widths)) for line in lines)]
        if self.only_upper.any():
            text.append("No lower end: under twice the floor, so it may be all noise.")
        return "\n".join(text)

    def _line(self, k: int) -> tuple[str, ...]:
        """Return the numbers of one time bin."""
        numbers = (self.value[k], self.lower[k], self.upper[k], self.floor[k])
        value, lower, upper, floor = (f"{number:.4f}" for number in numbers)
        return (
            time_text(self.time_from[k]),
            time_text(self.time_to[k]),
            str(self.rows[k]),
            str(self.sequences[k]),
            value,
            "-" if self.only_upper[k] else lower,
            upper,
            floor,
        )


def over_time(
    metric: Metric,
    y: ArrayLike,
    proba: ArrayLike,
    time: Any,
    *,
    bins: Bins = 20,
    groups: ArrayLike | None = None,
    level: float = 0.95,
    sample_weight: ArrayLike | None = None,
    classes: ArrayLike | None = None,
    seed: int = 0,
) -> OverTime:
    """Take a metric on each time bin, with intervals.

    Parameters
    ----------
    metric : callable
        Such as `ece`, `nll` or ``functools.partial(ece, bins=10)``; called as
        ``metric(y, proba, sample_weight=..., classes=...)``.
    y, proba, sample_weight, classes
        As in `ece`.
    time : array-like of shape (n,)
        Time of each row: numbers, datetimes or timedeltas.
    bins : int or "steps", default=20
        TimeBins of about as many rows each, or one for each distinct time. Rows of one time share
        a time bin, so that there may be fewer than asked for.
    groups : array-like of shape (n,), optional
        The sequence, or coarser cluster, of each row. Without groups rows are taken as independent,
        which makes intervals far too narrow where they are not.
    level : float, default=0.95
        How often intervals hold the truth.
    seed : int, default=0
        Where the draws of intervals and floors start from.

    Returns
    -------
    OverTime
        Columns ``time_from, time_to, time_middle, rows, sequences, value, lower, upper, floor,
        only_upper``, one entry for each time bin, and the ``mean`` over time bins.

    Notes
    -----
    The truth that an interval is to hold is what the metric would be on endlessly many sequences of
    the same kind, in the same bins.

    - Means over rows (`nll`, `brier`): value and standard error over groups. The floor is the mean
      that the probabilities themselves expect.
    - `ece` and `classwise_ece`: noise adds to them, so that a bootstrap of them covers almost
      nothing. The interval holds the errors under which the one that was seen is neither too large
      nor too small (see `docs/metrics.md` for its coverage). Where an error is under twice
      its floor only the upper end means something.
    - Any other metric: value less its bias, and standard error, by a jackknife that leaves out
      groups in twenty parts. Rough for metrics that are not smooth, such as the largest gap.

    Examples
    --------
    >>> import tempocal as tc
    >>> m = tc.datasets.simulate_match(1000)
    >>> proba = 1 / (1 + np.exp(-m.logits))
    >>> table = tc.metrics.over_time(
    ...     tc.metrics.ece, m.label, proba, m.time, bins=4, groups=m.sequence
    ... )
    >>> print(table)
    top-label ECE, 15 equal-width bins, 95% intervals over 1000 groups
    ...
    >>> bool(table.lower[0] > table.floor[0])
    True
    """
    rows = check_predictions(y, proba, sample_weight, classes)
    times, clusters = check_time_of(rows, time), check_groups_of(rows, groups)
    check_level(level)
    sample = make_sample(rows, cut_times(times, rows.weight, bins), clusters)
    profile = metric_by_time_bin(sample, metric, level, check_seed(seed))
    time_bins = sample.time_bins
    counts = np.bincount(time_bins.codes, minlength=time_bins.count)
    sequences = sample.units.astype(np.intp) if sample.grouped else counts
    n_groups = None if clusters is None else clusters.count
    return make_over_time(
        time_bins, profile, level, rows=counts, sequences=sequences, n_groups=n_groups
    )


def make_over_time(
    time_bins: TimeBins,
    profile: MetricByTimeBin,
    level: float,
    *,
    rows: NDArray[np.intp],
    sequences: NDArray[np.intp],
    n_groups: int | None,
) -> OverTime:
    """Put a profile beside the time bins that it is of."""
    return OverTime(
        time_from=time_bins.first,
        time_to=time_bins.last,
        time_middle=time_bins.middle,
        rows=rows,
        sequences=sequences,
        value=profile.column("value"),
        lower=profile.column("lower"),
        upper=profile.column("upper"),
        floor=profile.column("floor"),
        only_upper=profile.column("only_upper"),
        mean=make_estimate(profile.mean, f"mean over time of {profile.estimator}", level),
        estimator=profile.estimator,
        level=level,
        n_groups=n_groups,
        chance_ratio=profile.chance_ratio,
    )


def with_interval(
    metric: Metric,
    y: ArrayLike,
    proba: ArrayLike,
    *,
    groups: ArrayLike | None = None,
    level: float = 0.95,
    sample_weight: ArrayLike | None = None,
    classes: ArrayLike | None = None,
    seed: int = 0,
) -> IntervalEstimate:
    """Take a metric on all rows at once, with an interval over groups and its sampling floor.

    Parameters
    ----------
    metric, y, proba, groups, level, sample_weight, classes, seed
        As in `over_time`.

    Returns
    -------
    IntervalEstimate
        A float, with ``lower``, ``upper``, ``floor`` and ``only_upper``, as in `over_time`.

    Examples
    --------
    >>> import tempocal as tc
    >>> m = tc.datasets.simulate_match(1000)
    >>> score = tc.metrics.with_interval(
    ...     tc.metrics.nll, m.label, m.true_probability, groups=m.sequence
    ... )
    >>> print(f"{score:.2f} [{score.lower:.2f}, {score.upper:.2f}], expected {score.floor:.2f}")
    0.45 [0.42, 0.47], expected 0.45
    """
    rows = check_predictions(y, proba, sample_weight, classes)
    clusters = check_groups_of(rows, groups)
    check_level(level)
    sample = make_sample(rows, single_time_bin(len(rows.codes)), clusters)
    profile = metric_by_time_bin(sample, metric, level, check_seed(seed))
    return make_estimate(profile.by_time_bin[0], profile.estimator, level)


def make_estimate(found: MetricInterval, name: str, level: float) -> IntervalEstimate:
    """Return a range as the float that it is of."""
    return IntervalEstimate(
        found.value, name, found.lower, found.upper, found.floor, found.only_upper, level
    )


def _units(n_groups: int | None) -> str:
    return "rows, taken as independent" if n_groups is None else f"{n_groups} groups"

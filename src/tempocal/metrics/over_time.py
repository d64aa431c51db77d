"""Any metric in each time bin, with confidence intervals over groups and the sampling floor."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tempocal.inputs import Inputs, check_seed, time_text
from tempocal.links import Array
from tempocal.metrics.dispatch import check_arguments, metric_by_time_bin, require_summable, unwrap
from tempocal.metrics.estimates import IntervalEstimate
from tempocal.metrics.jackknife import Metric
from tempocal.metrics.metric_intervals import MetricInterval
from tempocal.metrics.predictions import (
    CheckedPredictions,
    check_groups_of,
    check_level,
    check_predictions,
    check_time_of,
    check_two_classes,
)
from tempocal.metrics.scored_arrays import ScoredArrays
from tempocal.metrics.scored_rows import ScoredRows
from tempocal.metrics.time_bins import Bins, count_given, cut_times
from tempocal.notebook import FrameLibrary, HtmlTable, as_frame, render

_HEAD = ("from", "to", "rows", "sequences", "value", "lower", "upper", "floor")
_NO_LOWER_END = "No lower end: under twice the floor, so it may be all noise."


@dataclass(frozen=True, eq=False)
class OverTime:
    """A metric over time: a table with one row for each time bin.

    ``pandas.DataFrame(table.columns())`` is the table.

    Attributes
    ----------
    time_from, time_to, time_middle : ndarray
        Earliest, latest and mean time of the rows in each time bin, in the type of the input.
    rows, sequences : ndarray of int
        Number of rows and of groups; without groups, every row is its own group.
    value : ndarray
        The metric.
    lower, upper : ndarray
        Confidence interval over groups, which includes the value. It is an interval for the error
        without noise. Noise increases a calibration error, so the value lies in the upper part of
        the interval or at its upper limit.
    floor : ndarray
        The sampling floor: the value that perfect probabilities would show on these rows.
    only_upper : ndarray of bool
        Whether the error is below twice its floor, and so may be all noise. Then ``lower`` is 0 and
        only ``upper`` is informative.
    mean : IntervalEstimate
        Mean over the time bins, with its own interval.
    estimator : str
        Name of the estimator, in words.
    level : float
        Confidence level.
    n_groups : int or None
        Total number of groups; None if rows were taken as independent.
    chance_ratio : float
        For a calibration error, the 98 % quantile by chance alone of the largest ratio of value to
        floor over all time bins. Infinite if it was not drawn.
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
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: column for name, column in values.items() if isinstance(column, np.ndarray)}

    def to_frame(self, library: FrameLibrary | None = None) -> Any:
        """Return a row for each time bin as a data frame.

        Parameters
        ----------
        library : {"pandas", "polars", "pyarrow"}, optional
            What makes it; by default the first of these that is installed.
        """
        return as_frame(self.columns(), library)

    def __len__(self) -> int:
        return len(self.value)

    def _repr_html_(self) -> str:
        rows = [self._line(k) for k in range(len(self))]
        notes = [_NO_LOWER_END] if self.only_upper.any() else []
        return render(HtmlTable(self._title(), _HEAD, rows), *notes)

    def _title(self) -> str:
        return f"{self.estimator}, {self.level:.0%} intervals over {_units(self.n_groups)}"

    def __str__(self) -> str:
        lines = [_HEAD, *(self._line(k) for k in range(len(self)))]
        widths = [max(map(len, column)) + 2 for column in zip(*lines, strict=True)]
        text = [self._title(), *("".join(map(str.rjust, line, widths)) for line in lines)]
        if self.only_upper.any():
            text.append(_NO_LOWER_END)
        return "\n".join(text)

    def _line(self, k: int) -> tuple[str, ...]:
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
    sequence: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    level: float = 0.95,
    sample_weight: ArrayLike | None = None,
    classes: ArrayLike | None = None,
    inputs: Inputs = "proba",
    seed: int = 0,
    soft_label: bool = False,
) -> OverTime:
    """Compute a metric in each time bin, with confidence intervals.

    Parameters
    ----------
    metric : callable
        For example `ece`, `nll` or ``functools.partial(ece, bins=10)``; called as
        ``metric(y, proba, sample_weight=..., classes=...)``.
    y, proba, sample_weight, classes, inputs
        As in `ece`. Other metrics than those of this package are called with probabilities.
    time : array-like of shape (n,)
        Time of each row: numbers, datetimes or timedeltas.
    bins : int or "steps", default=20
        Number of time bins with about equal numbers of rows, or one bin for each distinct time.
        Rows with the same time share a bin, so there may be fewer bins than requested.
    sequence : array-like of shape (n,), optional
        Id of the sequence of each row.
    groups : array-like of shape (n,), optional
        What is independent: clusters that hold whole sequences. By default the sequences. Without
        either, rows are taken as independent, which makes the intervals far too narrow if they are
        not.
    level : float, default=0.95
        Confidence level.
    seed : int, default=0
        Seed of the draws for intervals and floors.
    soft_label : bool, default=False
        Whether ``y`` holds probabilities in place of classes, as in `nll`. Values are those
        expected of labels with these probabilities; the interval is over groups, or rows. Floors
        are of class labels drawn from ``proba``, which vary more. For `nll`, `brier`,
        `overconfidence`, `ece` and `classwise_ece`.

    Returns
    -------
    OverTime
        Columns ``time_from, time_to, time_middle, rows, sequences, value, lower, upper, floor,
        only_upper``, one entry for each time bin, and the ``mean`` over time bins.

    Notes
    -----
    The interval is for the value that the metric would have on infinitely many sequences of the
    same kind, in the same bins.

    - Means over rows (`nll`, `brier`): value and cluster-robust standard error. The floor is the
      expected loss if the probabilities are true.
    - `ece` and `classwise_ece`: noise biases them upward, so that a bootstrap interval has almost
      no coverage. The interval inverts a test instead: it holds the errors under which the observed
      one is neither too large nor too small (see `docs/metrics.md` for its coverage). If the error
      is below twice its floor, only the upper limit is informative.
    - Any other metric: bias-corrected value and standard error by a jackknife over twenty folds of
      the groups. Rough for metrics that are not smooth, such as the largest gap.

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
    rows = _rows(metric, y, proba, sample_weight, classes, soft_label=soft_label, inputs=inputs)
    times, clusters = check_time_of(rows, time), check_groups_of(rows, groups, sequence)
    check_level(level)
    time_bins = count_given(cut_times(times, rows.weight, bins), rows.row)
    scored = ScoredArrays.of(rows, clusters, time_bins)
    _check_of(metric, rows.n_classes)
    return estimate_over_time(scored, metric, level, check_seed(seed))


def estimate_over_time(rows: ScoredRows, metric: Metric, level: float, seed: int) -> OverTime:
    """Compute a metric in the time bins of some rows."""
    time_bins, result = rows.time_bins, metric_by_time_bin(rows, metric, level, seed)
    return OverTime(
        time_from=time_bins.first,
        time_to=time_bins.last,
        time_middle=time_bins.middle,
        rows=time_bins.n_rows,
        sequences=time_bins.n_rows if rows.n_groups is None else result.units.astype(np.intp),
        value=result.column("value"),
        lower=result.column("lower"),
        upper=result.column("upper"),
        floor=result.column("floor"),
        only_upper=result.column("only_upper"),
        mean=make_estimate(result.mean, f"mean over time of {result.estimator}", level),
        estimator=result.estimator,
        level=level,
        n_groups=rows.n_groups,
        chance_ratio=result.chance_ratio,
    )


def with_interval(
    metric: Metric,
    y: ArrayLike,
    proba: ArrayLike,
    *,
    sequence: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    level: float = 0.95,
    sample_weight: ArrayLike | None = None,
    classes: ArrayLike | None = None,
    inputs: Inputs = "proba",
    seed: int = 0,
    soft_label: bool = False,
) -> IntervalEstimate:
    """Compute a metric on all rows, with a confidence interval over groups and its sampling floor.

    Parameters
    ----------
    metric, y, proba, sequence, groups, level, sample_weight, classes, inputs, seed, soft_label
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
    rows = _rows(metric, y, proba, sample_weight, classes, soft_label=soft_label, inputs=inputs)
    clusters = check_groups_of(rows, groups, sequence)
    check_level(level)
    _check_of(metric, rows.n_classes)
    return estimate_overall(ScoredArrays.of(rows, clusters), metric, level, check_seed(seed))


def estimate_overall(rows: ScoredRows, metric: Metric, level: float, seed: int) -> IntervalEstimate:
    """Compute a metric on all rows, which are in one time bin."""
    result = metric_by_time_bin(rows, metric, level, seed)
    return make_estimate(result.by_time_bin[0], result.estimator, level)


def _rows(
    metric: Metric,
    y: Any,
    proba: Any,
    sample_weight: Any,
    classes: Any,
    *,
    soft_label: bool,
    inputs: Inputs,
) -> CheckedPredictions:
    """Check the predictions, and split them by soft labels."""
    unwrap(metric)  # refuses what it cannot take
    check_arguments(metric)
    rows = check_predictions(y, proba, sample_weight, classes, soft_label=soft_label, inputs=inputs)
    if rows.soft is not None:
        require_summable(metric, "with soft_label=True")
    return rows.split()


def _check_of(metric: Metric, n_classes: int) -> None:
    check_two_classes(unwrap(metric)[1].get("of", ""), n_classes, "another of=")


def make_estimate(found: MetricInterval, name: str, level: float) -> IntervalEstimate:
    """Convert a metric with its interval into the public float."""
    return IntervalEstimate(
        found.value, name, found.lower, found.upper, found.floor, found.only_upper, level
    )


def _units(n_groups: int | None) -> str:
    return "rows, taken as independent" if n_groups is None else f"{n_groups} groups"

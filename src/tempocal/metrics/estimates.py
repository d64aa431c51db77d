"""Return types of the metrics: floats with the name of the estimator and its bins or intervals."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from tempocal.links import Array
from tempocal.metrics.binsums import BinSums
from tempocal.metrics.edges import Edges
from tempocal.metrics.frequency import FrequencyInterval, interval_over_rows
from tempocal.notebook import FrameLibrary, HtmlTable, as_frame, render


@dataclass(frozen=True, eq=False)
class ReliabilityTable:
    """Mean confidence and observed frequency in each bin.

    The fields are columns of equal length: ``pandas.DataFrame(vars(table))`` is the table.

    Attributes
    ----------
    lower, upper : ndarray
        Edges: a bin holds ``lower < confidence <= upper``, and the first one 0 as well.
    count : ndarray of int
        Number of rows in the bin.
    weight : ndarray
        Total weight; the count if no weights were given.
    confidence : ndarray
        Mean predicted probability of the event; NaN in an empty bin.
    frequency : ndarray
        Observed frequency of the event (the accuracy, for the top label); NaN in an empty bin.
    groups : ndarray
        Effective number of groups in the bin, ``sum(w)^2 / sum(w^2)`` over the weights of its
        groups; the total weight if no groups were given.
    lower_frequency, upper_frequency : ndarray
        Confidence interval of the frequency over groups; NaN in an empty bin.
    """

    lower: Array
    upper: Array
    count: NDArray[np.intp]
    weight: Array
    confidence: Array
    frequency: Array
    groups: Array
    lower_frequency: Array
    upper_frequency: Array

    def to_frame(self, library: FrameLibrary | None = None) -> Any:
        """Return a row for each bin as a data frame.

        Parameters
        ----------
        library : {"pandas", "polars", "pyarrow"}, optional
            What makes it; by default the first of these that is installed.
        """
        return as_frame(vars(self), library)

    def _repr_html_(self) -> str:
        columns = (self.confidence, self.frequency, self.lower_frequency, self.upper_frequency)
        rows = [
            [
                f"{self.lower[k]:.3f} to {self.upper[k]:.3f}",
                f"{self.count[k]:,}",
                *("" if np.isnan(column[k]) else f"{column[k]:.4f}" for column in columns),
            ]
            for k in range(len(self.count))
        ]
        head = ["confidence from, to", "rows", "mean confidence", "frequency", "lower", "upper"]
        return render(HtmlTable("Reliability in each bin", head, rows))


def reliability_table(
    sums: BinSums, edges: Edges, interval: FrequencyInterval | None = None
) -> ReliabilityTable:
    """Turn sums into means; without an interval, rows are taken as independent."""
    interval = interval or interval_over_rows(sums)
    return ReliabilityTable(
        lower=edges.values[:-1],
        upper=edges.values[1:],
        count=sums.count,
        weight=sums.weight,
        confidence=_mean(sums.confidence, sums.weight),
        frequency=_mean(sums.outcome, sums.weight),
        groups=interval.units,
        lower_frequency=interval.lower,
        upper_frequency=interval.upper,
    )


# Equality and hash stay those of the number, and repr leaves the tables out.
@dataclass(frozen=True, eq=False, repr=False)
class Estimate(float):
    """A float with the name of its estimator.

    It behaves as a float in every respect: comparison, arithmetic, formatting, JSON, and as the
    score of a scikit-learn scorer.

    Attributes
    ----------
    value : float
        The number itself.
    estimator : str
        Name of the estimator, in words.

    Examples
    --------
    >>> from tempocal.metrics import smooth_ece
    >>> error = smooth_ece([0, 1, 1, 1], [0.2, 0.4, 0.6, 0.9])
    >>> error < 0.3, f"{error:.3f}", error.estimator
    (True, '0.095', 'smooth top-label ECE (Blasiok & Nakkiran 2023)')
    """

    value: float
    estimator: str

    def __new__(cls, value: float, *_fields: object, **_named_fields: object) -> Self:
        """Create the float; the dataclass sets the other fields."""
        return super().__new__(cls, value)

    def __str__(self) -> str:
        return repr(self.value)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.value:.6g}, {self.estimator!r})"


@dataclass(frozen=True, eq=False, repr=False)
class BinnedEstimate(Estimate):
    """A float with the bins that it was computed from.

    Attributes
    ----------
    bins : ReliabilityTable
        The bins.
    """

    bins: ReliabilityTable


@dataclass(frozen=True, eq=False, repr=False)
class ClasswiseEstimate(Estimate):
    """A mean over classes, with the estimate of each class.

    Attributes
    ----------
    classes : ndarray of shape (K,)
        The classes.
    by_class : tuple of BinnedEstimate
        The estimate of each class, in that order.
    """

    classes: NDArray[Any]
    by_class: tuple[BinnedEstimate, ...]


@dataclass(frozen=True, eq=False, repr=False)
class DebiasedEstimate(BinnedEstimate):
    """The square root of a debiased square, with the square.

    Attributes
    ----------
    squared : float
        Debiased square. Noise can make it negative; the root is then 0.
    """

    squared: float


@dataclass(frozen=True, eq=False, repr=False)
class SamplingFloor(Estimate):
    """The mean of a metric over draws of the labels, with the draws.

    Attributes
    ----------
    lower, median, upper : float
        Quantiles 2.5 %, 50 % and 97.5 % of the draws.
    draws : ndarray of shape (n_draws,)
        The metric of each draw.
    """

    lower: float
    median: float
    upper: float
    draws: Array


@dataclass(frozen=True, eq=False, repr=False)
class IntervalEstimate(Estimate):
    """A float with a confidence interval over groups and its sampling floor.

    Attributes
    ----------
    lower, upper : float
        Limits of the interval.
    floor : float
        The sampling floor: the value that perfect probabilities would show.
    only_upper : bool
        Whether the error is below twice its floor, and so may be all noise. Then ``lower`` is 0 and
        only ``upper`` is informative.
    level : float
        Confidence level.

    Examples
    --------
    >>> from tempocal.metrics import brier, with_interval
    >>> with_interval(brier, [0, 1, 1, 0], [0.2, 0.4, 0.9, 0.3])
    IntervalEstimate(0.25, 95% interval [-0.259523, 0.759523], floor 0.35, 'Brier score')
    """

    lower: float
    upper: float
    floor: float
    only_upper: bool
    level: float

    def __repr__(self) -> str:
        interval = f"[{'-' if self.only_upper else f'{self.lower:.6g}'}, {self.upper:.6g}]"
        return (
            f"{type(self).__name__}({self.value:.6g}, {self.level:.0%} interval {interval}, "
            f"floor {self.floor:.6g}, {self.estimator!r})"
        )


def _mean(total: Array, weight: Array) -> Array:
    mean = np.full(len(weight), np.nan)
    np.divide(total, weight, out=mean, where=weight > 0)
    return mean

"""What the metrics return: numbers that know which estimator they are and what they came from."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from tempocal.links import Array
from tempocal.metrics.binsums import BinSums
from tempocal.metrics.edges import Edges
from tempocal.metrics.frequency import FrequencyInterval, interval_over_rows


@dataclass(frozen=True, eq=False)
class ReliabilityTable:
    """One entry for each bin: what was said, and how often it came true.

    The fields are columns of equal length: ``pandas.DataFrame(vars(table))`` is the table.

    Attributes
    ----------
    lower, upper : ndarray
        Edges: a bin holds ``lower < confidence <= upper``, and the first one 0 as well.
    count : ndarray of int
        Rows in the bin.
    weight : ndarray
        Their weight; the count, where no weights were given.
    confidence : ndarray
        Mean probability given to the event; NaN in an empty bin.
    frequency : ndarray
        How often the event came (the accuracy, for the top label); NaN in an empty bin.
    groups : ndarray
        Independent units in the bin: groups, as many of the same weight as would be as sure; or
        the weight, where none were given.
    lower_frequency, upper_frequency : ndarray
        Interval of the frequency over groups; NaN in an empty bin.
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


def reliability_table(
    sums: BinSums, edges: Edges, spread: FrequencyInterval | None = None
) -> ReliabilityTable:
    """Turn sums into means; without a spread, rows are taken as independent."""
    spread = spread or interval_over_rows(sums)
    return ReliabilityTable(
        lower=edges.values[:-1],
        upper=edges.values[1:],
        count=sums.count,
        weight=sums.weight,
        confidence=_mean(sums.confidence, sums.weight),
        frequency=_mean(sums.outcome, sums.weight),
        groups=spread.units,
        lower_frequency=spread.lower,
        upper_frequency=spread.upper,
    )


# Equality and hash stay those of the number, and repr leaves the tables out.
@dataclass(frozen=True, eq=False, repr=False)
class Estimate(float):
    """A float that says which estimator it is.

    It is a float in full: it compares, adds, formats and goes to JSON as one, and can be the
    score of a scikit-learn scorer.

    Attributes
    ----------
    value : float
        The number itself.
    estimator : str
        Which estimator it is, in words.

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
        """Make the float; the other fields are the dataclass's to set."""
        return super().__new__(cls, value)

    def __str__(self) -> str:
        return repr(self.value)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.value:.6g}, {self.estimator!r})"


@dataclass(frozen=True, eq=False, repr=False)
class BinnedEstimate(Estimate):
    """A float that comes from bins, and has them.

    Attributes
    ----------
    bins : ReliabilityTable
        The bins.
    """

    bins: ReliabilityTable


@dataclass(frozen=True, eq=False, repr=False)
class ClasswiseEstimate(Estimate):
    """A float that is a mean over classes, and has what each class gave.

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
    """The root of a debiased square, with the square.

    Attributes
    ----------
    squared : float
        Debiased square. Noise can take it below zero, where the root is given as zero.
    """

    squared: float


@dataclass(frozen=True, eq=False, repr=False)
class SamplingFloor(Estimate):
    """The mean of a metric over draws of labels, with the draws.

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
    """A float with an interval over groups, and what perfect probabilities would show.

    Attributes
    ----------
    lower, upper : float
        Ends of the interval.
    floor : float
        The sampling floor.
    only_upper : bool
        Whether the error is under twice its floor and may be all noise: ``lower`` is 0 then, and
        ``upper`` a bound.
    level : float
        How often such intervals hold the truth.

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
        ends = f"[{'-' if self.only_upper else f'{self.lower:.6g}'}, {self.upper:.6g}]"
        return (
            f"{type(self).__name__}({self.value:.6g}, {self.level:.0%} interval {ends}, "
            f"floor {self.floor:.6g}, {self.estimator!r})"
        )


def _mean(total: Array, weight: Array) -> Array:
    mean = np.full(len(weight), np.nan)
    np.divide(total, weight, out=mean, where=weight > 0)
    return mean

"""Rows collapsed to their distinct log-odds: the input of every nonparametric fit."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tempocal.links import Array, proba_from_logits

Positions = NDArray[np.intp]


@dataclass(frozen=True)
class Distinct:
    """The distinct log-odds in increasing order, with sums over the rows that share each.

    Attributes
    ----------
    odds : array of shape (d,)
        Strictly increasing.
    weights : array of shape (d,)
        Summed weight, above zero.
    positives : array of shape (d,)
        Summed weight * target.
    """

    odds: Array
    weights: Array
    positives: Array

    @property
    def negatives(self) -> Array:
        """Summed weight * (1 - target), exactly zero if all targets are 1."""
        return self.weights - self.positives

    @property
    def proba(self) -> Array:
        """Predicted probabilities: the sigmoid of the log-odds."""
        return proba_from_logits(self.odds)[:, 1]

    def part(self, rows: slice) -> "Distinct":
        """Return a view of some of the values."""
        return Distinct(self.odds[rows], self.weights[rows], self.positives[rows])


def collapse(odds: Array, targets: NDArray[Any], weights: Array | None) -> Distinct:
    """Sum weights and targets over rows of equal log-odds; rows without weight are dropped.

    Examples
    --------
    >>> data = collapse(np.array([2.0, -1.0, 2.0]), np.array([1.0, 0.0, 0.0]), None)
    >>> data.odds, data.weights, data.positives
    (array([-1., 2.]), array([1., 2.]), array([0., 1.]))
    """
    weights = np.ones_like(odds) if weights is None else weights
    if not weights.all():
        kept = weights > 0
        odds, targets, weights = odds[kept], targets[kept], weights[kept]
    if bool((odds[1:] > odds[:-1]).all()):
        return Distinct(odds, weights, weights * targets)
    # Ties are sorted too, so that rounding does not depend on the order of the rows.
    order = np.lexsort((targets, weights, odds))
    odds, targets, weights = odds[order], targets[order], weights[order]
    first = np.flatnonzero(np.append(True, odds[1:] != odds[:-1]))
    weight = np.add.reduceat(weights, first)
    return Distinct(odds[first], weight, np.add.reduceat(weights * targets, first))


def count_classes(odds: Array, is_second: NDArray[np.bool_]) -> Distinct:
    """Count the rows of either class at each log-odds.

    Examples
    --------
    >>> data = count_classes(np.array([2.0, -1.0, 2.0]), np.array([True, False, False]))
    >>> data.odds, data.weights, data.positives
    (array([-1., 2.]), array([1., 2.]), array([0., 1.]))
    """
    # Sorting the log-odds of each class and merging them takes half the time of sorting rows.
    first, second = np.sort(odds[~is_second]), np.sort(odds[is_second])
    merged = np.sort(np.concatenate([first, second]), kind="stable")
    values = merged[np.append(True, merged[1:] != merged[:-1])]
    positives = np.diff(np.searchsorted(second, values, side="right"), prepend=0)
    negatives = np.diff(np.searchsorted(first, values, side="right"), prepend=0)
    return Distinct(values, (positives + negatives) * 1.0, positives * 1.0)


def mean_targets(data: Distinct) -> Array:
    """Mean target at each distinct value."""
    return data.positives / data.weights


def shrink_blocks(data: Distinct, values: Array, shrinkage: float) -> Array:
    """Shrink each block of equal values toward its mean prediction, by ``shrinkage`` pseudo-rows.

    The pseudo-rows of a block have its mean prediction p as their target: a value v on a weight w
    becomes (w v + shrinkage * p) / (w + shrinkage), as in a bin of `fit_histogram`.

    Examples
    --------
    >>> data = collapse(np.array([0.0, 0.0, 9.0]), np.array([1.0, 1.0, 1.0]), None)
    >>> shrink_blocks(data, np.array([1.0, 1.0]), shrinkage=3.0).round(4)
    array([0.8333, 0.8333])
    """
    starts = np.flatnonzero(np.append(True, values[1:] != values[:-1]))
    weight = np.add.reduceat(data.weights, starts)
    predicted = np.add.reduceat(data.weights * data.proba, starts) / weight
    sizes = np.diff(np.append(starts, len(values)))
    return np.repeat(shrink_means(values[starts], predicted, weight, shrinkage), sizes)


def shrink_means(means: Array, predicted: Array, weights: Array, shrinkage: float) -> Array:
    """Shrink the means of blocks toward their mean predictions, by ``shrinkage`` pseudo-rows."""
    share = shrinkage / (weights + shrinkage)
    shrunk: Array = means + share * (predicted - means)
    return shrunk

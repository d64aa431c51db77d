"""Rows with the same log-odds are one observation: what every nonparametric fit starts from."""

from dataclasses import dataclass

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
    positives, negatives : array of shape (d,)
        Summed weight * target and weight * (1 - target). A sum that should be zero is exactly so.
    """

    odds: Array
    weights: Array
    positives: Array
    negatives: Array

    @property
    def proba(self) -> Array:
        """What the predictions say: the sigmoid of the log-odds."""
        return proba_from_logits(self.odds)[:, 1]


def collapse(odds: Array, targets: Array, weights: Array | None) -> Distinct:
    """Sum weights and targets over rows of equal log-odds; rows without weight are dropped.

    Examples
    --------
    >>> data = collapse(np.array([2.0, -1.0, 2.0]), np.array([1.0, 0.0, 0.0]), None)
    >>> data.odds, data.weights, data.positives
    (array([-1., 2.]), array([1., 2.]), array([0., 1.]))
    """
    is_plain = weights is None
    weights = np.ones_like(odds) if weights is None else weights
    if not weights.all():
        kept = weights > 0
        odds, targets, weights = odds[kept], targets[kept], weights[kept]
    if bool((odds[1:] > odds[:-1]).all()):
        positives = weights * targets
        return Distinct(odds, weights, positives, weights - positives)
    if not (is_plain and bool((odds[1:] >= odds[:-1]).all())):
        # Ties are ordered too, so that sums round alike whatever the order of the rows.
        order = np.lexsort((targets, weights, odds))
        odds, targets, weights = odds[order], targets[order], weights[order]
    first = np.flatnonzero(np.append(True, odds[1:] != odds[:-1]))
    weight = np.add.reduceat(weights, first)
    positives = np.add.reduceat(weights * targets, first)
    return Distinct(odds[first], weight, positives, weight - positives)


def mean_targets(data: Distinct) -> Array:
    """Mean target at each distinct value."""
    return data.positives / data.weights


def shrink_blocks(data: Distinct, values: Array, shrinkage: float) -> Array:
    """Draw each block of equal values toward what was predicted there, by ``shrinkage`` rows.

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
    share, value = shrinkage / (weight + shrinkage), values[starts]
    sizes = np.diff(np.append(starts, len(values)))
    return np.repeat(value + share * (predicted - value), sizes)

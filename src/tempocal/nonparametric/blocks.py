"""Blocks of isotonic regression, by pooling adjacent violators."""

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
from scipy.optimize import isotonic_regression

from tempocal.kernels import native
from tempocal.kernels import order as kernels
from tempocal.links import Array
from tempocal.nonparametric.distinct import Distinct, Positions


@dataclass(frozen=True)
class Blocks:
    """Blocks in increasing order.

    Attributes
    ----------
    first, last : array of shape (b,)
        Lowest and highest log-odds.
    weights, positives, predicted : array of shape (b,)
        Summed weight, weight * target and weight * prediction.
    """

    first: Array
    last: Array
    weights: Array
    positives: Array
    predicted: Array


def pool(data: Distinct) -> Blocks:
    """Pool adjacent values until the means of the blocks increase.

    Examples
    --------
    >>> blocks = pool(Distinct(np.arange(4.0), np.ones(4), np.array([0.0, 1.0, 0.0, 1.0])))
    >>> blocks.first, blocks.last, blocks.positives
    (array([0., 1., 3.]), array([0., 2., 3.]), array([0., 1., 1.]))
    """
    predicted = data.weights * data.proba
    return _pooled(Blocks(data.odds, data.odds, data.weights, data.positives, predicted))


def pool_parts(parts: Sequence[Blocks]) -> Blocks:
    """Pool the blocks of consecutive parts; the result does not depend on the order of pooling."""
    if len(parts) == 1:
        return parts[0]
    columns = ([getattr(part, one.name) for part in parts] for one in fields(Blocks))
    return _pooled(Blocks(*(np.concatenate(column) for column in columns)))


def _pooled(blocks: Blocks) -> Blocks:
    starts, weights, positives = (_pool if native is None else kernels.pool)(
        blocks.weights, blocks.positives
    )
    last = np.append(starts[1:], len(blocks.first)) - 1
    predicted = np.add.reduceat(blocks.predicted, starts)
    return Blocks(blocks.first[starts], blocks.last[last], weights, positives, predicted)


def _pool(weights: Array, positives: Array) -> tuple[Positions, Array, Array]:
    """Pool as `tempocal.kernels.order.pool` does, with SciPy."""
    values = isotonic_regression(positives / weights, weights=weights).x
    starts = np.flatnonzero(np.append(True, values[1:] != values[:-1]))
    # SciPy's running means may differ by rounding where they are equal; means of sums do not.
    means = np.add.reduceat(positives, starts) / np.add.reduceat(weights, starts)
    starts = starts[np.append(True, means[1:] > means[:-1])]
    return starts, np.add.reduceat(weights, starts), np.add.reduceat(positives, starts)

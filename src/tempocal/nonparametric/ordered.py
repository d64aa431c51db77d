"""Rows in the order of their log-odds, a stretch at a time: what is between stays in the cache."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from tempocal.kernels import native
from tempocal.kernels.binary_losses import compare
from tempocal.kernels.order import map_sorted, merge, sorted_classes
from tempocal.kernels.partition import BUCKET_ROWS, Classes
from tempocal.kernels.thread_pool import map_on_cores
from tempocal.lazy import cached
from tempocal.links import Array, nll_from_logits
from tempocal.maps.binary import BinaryMap, Knots
from tempocal.nonparametric.blocks import Blocks, pool, pool_parts
from tempocal.nonparametric.distinct import Distinct, collapse, count_classes

Result = TypeVar("Result")

# Rows of a group that is sorted while others are not held, and most such groups: each takes a pass.
GROUP, MOST_GROUPS = 2**20, 8
# Rows whose losses are worked out at once.
BLOCK = 2**15


class OrderedRows(Protocol):
    """Rows of one class against the rest.

    Work is done for a stretch at a time, on all cores; its results come in order.
    """

    @property
    def blocks(self) -> Blocks:
        """The blocks of their isotonic regression."""

    def distinct(self) -> Distinct:
        """Return all of them."""

    def map(self, work: Callable[[Distinct], Result]) -> list[Result]:
        """Do some work for each stretch."""

    def map_classes(self, work: Callable[[Array, int, Array | None], Result]) -> list[Result]:
        """Do some work for the log-odds, the code and the weights of either class in a stretch."""


def sort_rows(odds: Array, targets: NDArray[Any], weights: Array | None) -> OrderedRows:
    """Put rows in the order of their log-odds; rows of equal ones are one.

    Parameters
    ----------
    odds, targets, weights : arrays of shape (n,)
        Log-odds, targets in [0, 1] and weights of the rows; None is a weight of one each. It is
        faster if targets are True and False and there are no weights.

    Examples
    --------
    >>> rows = sort_rows(np.array([2.0, -1.0, 2.0]), np.array([True, False, False]), None)
    >>> rows.distinct().positives
    array([0., 1.])
    """
    if weights is not None or targets.dtype != np.bool_:
        return _Collapsed(collapse(odds, targets, weights))
    if native is None:
        return _Collapsed(count_classes(odds, targets))
    return _Counted(odds, targets)


@dataclass(frozen=True)
class _Collapsed:
    data: Distinct

    @cached
    def blocks(self) -> Blocks:
        return pool_parts(self.map(pool))

    def distinct(self) -> Distinct:
        return self.data

    def map(self, work: Callable[[Distinct], Result]) -> list[Result]:
        starts = range(0, len(self.data.odds), BUCKET_ROWS)
        return map_on_cores(lambda k: work(self.data.part(slice(k, k + BUCKET_ROWS))), starts)

    def map_classes(self, work: Callable[[Array, int, Array | None], Result]) -> list[Result]:
        def work_on(data: Distinct) -> list[Result]:
            return [
                work(data.odds[mass > 0], code, mass[mass > 0])
                for code, mass in enumerate((data.negatives, data.positives))
            ]

        return [result for results in self.map(work_on) for result in results]


@dataclass(frozen=True)
class _Counted:
    """Rows of weight one, in any order; they are sorted and merged when they are needed."""

    odds: Array
    targets: NDArray[np.bool_]

    @cached
    def stretches(self) -> list[Classes]:
        """Either class in order: a copy of all log-odds."""
        return sorted_classes(self.odds, self.targets)

    @cached
    def blocks(self) -> Blocks:
        n_groups = min(max(len(self.odds) // GROUP, 1), MOST_GROUPS)
        parts = map_sorted(
            lambda classes: pool(_merged(classes)), self.odds, self.targets, n_groups
        )
        return pool_parts(parts)

    def loss(self) -> float:
        """Mean negative log likelihood, for which they need no order."""

        def total(start: int) -> float:
            rows = slice(start, start + BLOCK)
            return float(compare(self.odds[rows], self.odds[rows], self.targets[rows], None)[0])

        totals = map_on_cores(total, range(0, len(self.odds), BLOCK))
        return float(np.sum(totals)) / len(self.odds)

    def distinct(self) -> Distinct:
        sizes = [len(firsts) + len(seconds) for firsts, seconds in self.stretches]
        ends = np.cumsum(sizes)
        room = np.empty((3, ends[-1]))
        places = [room[:, end - size : end] for end, size in zip(ends, sizes, strict=True)]
        pairs = list(zip(self.stretches, places, strict=True))
        counts = map_on_cores(lambda pair: merge(*pair), pairs)
        if counts != sizes:
            filled = [place[:, :count] for place, count in zip(places, counts, strict=True)]
            room = np.concatenate(filled, axis=1)
        return Distinct(*room)

    def map(self, work: Callable[[Distinct], Result]) -> list[Result]:
        return map_on_cores(lambda classes: work(_merged(classes)), self.stretches)

    def map_classes(self, work: Callable[[Array, int, Array | None], Result]) -> list[Result]:
        pairs = [pair for classes in self.stretches for pair in enumerate(classes)]
        return map_on_cores(lambda pair: work(pair[1], pair[0], None), pairs)


def _merged(classes: Classes) -> Distinct:
    room = np.empty((3, sum(map(len, classes))))
    return Distinct(*room[:, : merge(classes, room)])


def losses_before_and_after(rows: OrderedRows, fitted: BinaryMap) -> tuple[float, float]:
    """Mean negative log likelihood of the rows as they are, and mapped."""
    if isinstance(rows, _Counted) and is_isotonic(fitted, rows):
        blocks = rows.blocks
        pooled = _Collapsed(Distinct(blocks.first, blocks.weights, blocks.positives))
        return rows.loss(), losses_before_and_after(pooled, fitted)[1]

    def sums(odds: Array, code: int, weights: Array | None) -> Array:
        labels, mapped = np.full(len(odds), code), fitted(odds)
        weight = len(odds) if weights is None else weights.sum()
        if native is not None:
            return np.append(compare(odds, mapped, labels, weights)[:2], weight)
        losses = np.stack([nll_from_logits(one, labels) for one in (odds, mapped)])
        return np.append(losses.sum(axis=1) if weights is None else losses @ weights, weight)

    before, after, weight = np.sum(rows.map_classes(sums), axis=0)
    return float(before / weight), float(after / weight)


def is_isotonic(fitted: BinaryMap, rows: OrderedRows) -> bool:
    """Whether a curve ascends and has one value on each block, as ends of equal value tell."""
    return (
        isinstance(fitted, Knots)
        and bool((np.diff(fitted.probabilities) >= 0).all())
        and np.array_equal(fitted(rows.blocks.first), fitted(rows.blocks.last))
    )

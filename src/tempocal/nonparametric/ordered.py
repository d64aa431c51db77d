"""Rows sorted by log-odds, processed in buckets that stay in the cache."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from tempocal.kernels import native
from tempocal.kernels.binary_losses import compare
from tempocal.kernels.order import BUCKET_ROWS, Classes, merge, sorted_classes
from tempocal.kernels.thread_pool import map_on_cores
from tempocal.lazy import cached
from tempocal.links import Array, nll_from_logits
from tempocal.maps import BinaryMap, Knots
from tempocal.nonparametric.blocks import Blocks, pool, pool_parts
from tempocal.nonparametric.distinct import Distinct, collapse, count_classes

Result = TypeVar("Result")

# Rows whose losses are computed at a time.
BLOCK = 2**15


class OrderedRows(Protocol):
    """Rows of one class against the rest, in ascending buckets of log-odds.

    Buckets are processed on all cores; results are in order.
    """

    @property
    def blocks(self) -> Blocks:
        """Blocks of the isotonic regression."""

    def distinct(self) -> Distinct:
        """Return the distinct log-odds of all rows."""

    def map(self, work: Callable[[Distinct], Result]) -> list[Result]:
        """Apply ``work`` to each bucket."""

    def map_classes(self, work: Callable[[Array, int, Array | None], Result]) -> list[Result]:
        """Apply ``work(odds, code, weights)`` to either class of each bucket."""


def sort_rows(odds: Array, targets: NDArray[Any], weights: Array | None) -> OrderedRows:
    """Sort rows by log-odds, and merge ties.

    Parameters
    ----------
    odds, targets, weights : arrays of shape (n,)
        Log-odds, targets in [0, 1] and weights; None is a weight of 1. Boolean targets without
        weights are faster.

    Examples
    --------
    >>> rows = sort_rows(np.array([2.0, -1.0, 2.0]), np.array([True, False, False]), None)
    >>> rows.distinct().positives
    array([0., 1.])
    """
    if weights is not None or targets.dtype != np.bool_:
        return _WeightedRows(collapse(odds, targets, weights))
    if native is None:
        return _WeightedRows(count_classes(odds, targets))
    return _UnitWeightRows(odds, targets)


@dataclass(frozen=True)
class _WeightedRows:
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
class _UnitWeightRows:
    """Rows of weight 1 in input order, sorted and merged when first needed."""

    odds: Array
    targets: NDArray[np.bool_]

    @cached
    def buckets(self) -> list[Classes]:
        """Sorted log-odds of either class: a copy of all of them."""
        return sorted_classes(self.odds, self.targets)

    @cached
    def blocks(self) -> Blocks:
        return pool_parts(self.map(pool))

    def loss(self) -> float:
        """Mean negative log likelihood, which needs no sorting."""

        def total(start: int) -> float:
            rows = slice(start, start + BLOCK)
            return float(compare(self.odds[rows], self.odds[rows], self.targets[rows], None)[0])

        totals = map_on_cores(total, range(0, len(self.odds), BLOCK))
        return float(np.sum(totals)) / len(self.odds)

    def distinct(self) -> Distinct:
        sizes = [len(first) + len(second) for first, second in self.buckets]
        stops = np.cumsum(sizes)
        columns = np.empty((3, stops[-1]))
        parts = [columns[:, stop - size : stop] for stop, size in zip(stops, sizes, strict=True)]
        pairs = list(zip(self.buckets, parts, strict=True))
        counts = map_on_cores(lambda pair: merge(*pair), pairs)
        if counts != sizes:
            filled = [part[:, :count] for part, count in zip(parts, counts, strict=True)]
            columns = np.concatenate(filled, axis=1)
        return Distinct(*columns)

    def map(self, work: Callable[[Distinct], Result]) -> list[Result]:
        return map_on_cores(lambda classes: work(_merged(classes)), self.buckets)

    def map_classes(self, work: Callable[[Array, int, Array | None], Result]) -> list[Result]:
        pairs = [pair for classes in self.buckets for pair in enumerate(classes)]
        return map_on_cores(lambda pair: work(pair[1], pair[0], None), pairs)


def _merged(classes: Classes) -> Distinct:
    columns = np.empty((3, sum(map(len, classes))))
    return Distinct(*columns[:, : merge(classes, columns)])


def losses_before_and_after(rows: OrderedRows, fitted: BinaryMap) -> tuple[float, float]:
    """Mean negative log likelihood of the rows before and after the map."""
    if isinstance(rows, _UnitWeightRows) and is_isotonic(fitted, rows):
        blocks = rows.blocks
        pooled = _WeightedRows(Distinct(blocks.first, blocks.weights, blocks.positives))
        return rows.loss(), losses_before_and_after(pooled, fitted)[1]

    def sums(odds: Array, code: int, weights: Array | None) -> Array:
        labels, mapped = np.full(len(odds), code), fitted(odds)
        weight = len(odds) if weights is None else weights.sum()
        if native is not None:
            return np.append(compare(odds, mapped, labels, weights)[:2], weight)
        losses = np.stack([nll_from_logits(logits, labels) for logits in (odds, mapped)])
        return np.append(losses.sum(axis=1) if weights is None else losses @ weights, weight)

    before, after, weight = np.sum(rows.map_classes(sums), axis=0)
    return float(before / weight), float(after / weight)


def is_isotonic(fitted: BinaryMap, rows: OrderedRows) -> bool:
    """Whether a map is nondecreasing and constant on each block.

    A nondecreasing map is constant if it is equal at both ends.
    """
    return (
        isinstance(fitted, Knots)
        and bool((np.diff(fitted.probabilities) >= 0).all())
        and np.array_equal(fitted(rows.blocks.first), fitted(rows.blocks.last))
    )

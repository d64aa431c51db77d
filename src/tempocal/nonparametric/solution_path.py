"""The solution path of nearly-isotonic regression (Tibshirani, Hoefling, Tibshirani, 2011).

For a penalty lambda >= 0 the solution minimizes

    1/2 sum_i w_i (y_i - b_i)^2 + lambda sum_i max(b_i - b_{i+1}, 0).

Neighbors of equal value form a block. Setting the derivative of a block to zero gives its value

    mean of y + lambda * (falls before it - falls after it) / weight,

where "falls" is 1 if the solution goes down at that end of the block and 0 if it goes up or there
is no neighbor. Gaps between blocks only ever close, and blocks once joined stay joined: the dual
variable inside a block, u_i = sum over its j <= i of w_j (y_j - b_j) + lambda * falls before it,
must lie in [0, lambda]; its derivative in lambda is a weighted mean of the two falls, hence within
[0, 1], and so it never leaves. A block therefore lives from the join that makes it to the join
that ends it and is linear in lambda all that time: the path is the list of joins.
"""

from dataclasses import dataclass
from heapq import heappop, heappush

import numpy as np

from tempocal.kernels import native
from tempocal.links import Array
from tempocal.nonparametric.distinct import Positions

# Relative difference below which two joins are at the same penalty.
_SAME_PENALTY = 1e-12


@dataclass(frozen=True)
class NearIsotonicPath:
    """Solutions for every penalty, as the list of all blocks along the path.

    Model k holds from ``breakpoints[k]`` to the next one; block j is part of the models
    ``first[j] <= k < end[j]``, where it covers the values ``start[j] <= i < stop[j]`` with
    ``mean[j] + slope[j] * penalty``. Blocks are in the order in which they were made.

    Attributes
    ----------
    breakpoints : array of shape (models,)
        Penalties at which blocks join, after a first 0. Beyond the last the solution is isotonic.
    first, end, start, stop : integer arrays of shape (blocks,)
        First and end model, and range of values, of each block.
    weight, mean, slope : arrays of shape (blocks,)
        Summed weight, weighted mean of the targets, and change in value per unit of penalty.
    """

    breakpoints: Array
    first: Positions
    end: Positions
    start: Positions
    stop: Positions
    weight: Array
    mean: Array
    slope: Array

    def blocks(self, model: int) -> Positions:
        """Blocks of a model, from left to right."""
        found = np.flatnonzero((self.first <= model) & (model < self.end))
        return found[np.argsort(self.start[found])]

    def at(self, penalty: float) -> Array:
        """Solution at one penalty, of the length of the targets."""
        model = int(np.searchsorted(self.breakpoints, penalty, side="right")) - 1
        blocks = self.blocks(model)
        values = self.mean[blocks] + self.slope[blocks] * penalty
        return np.repeat(values, self.stop[blocks] - self.start[blocks])


def near_isotonic_path(targets: Array, weights: Array) -> NearIsotonicPath:
    """Solve nearly-isotonic regression for all penalties at once, in O(n log n).

    Parameters
    ----------
    targets, weights : arrays of shape (n,)
        Values to fit, in order, and their weights, which are above zero.

    Returns
    -------
    NearIsotonicPath
        Its memory is that of at most 2 n - 1 blocks.

    Examples
    --------
    >>> path = near_isotonic_path(np.array([2.0, 0.0, 3.0]), np.ones(3))
    >>> path.breakpoints
    array([0., 1.])
    >>> path.at(0.5), path.at(1.0)
    (array([1.5, 0.5, 3. ]), array([1., 1., 3.]))
    """
    # Equal neighbors are one block from the start.
    first = np.flatnonzero(np.append(True, targets[1:] != targets[:-1]))
    weight, total = np.add.reduceat(weights, first), np.add.reduceat(weights * targets, first)
    join_all = _join_in_python if native is None else _join_compiled
    return _path(join_all(weight, total), np.append(first, len(targets)))


@dataclass(frozen=True)
class _Joins:
    """All blocks, the initial ones first, and all joins in order."""

    falls: Positions  # of each boundary
    weight: Array  # of each block
    total: Array
    start: Positions  # left boundary
    stop: Positions  # right boundary
    ended_by: Positions  # the join that ended it, or -1
    joins: Array  # penalty of each


def _join_compiled(weight: Array, total: Array) -> _Joins:
    count = len(weight)
    weights, totals = np.empty(2 * count - 1), np.empty(2 * count - 1)
    weights[:count], totals[:count] = weight, total
    start, stop, ended_by = np.empty((3, 2 * count - 1), dtype=np.intp)
    joins, falls = np.empty(count - 1), _falls(weight, total)
    made = native.join_blocks(weights, totals, falls, start, stop, ended_by, joins)
    kept = slice(count + made)
    blocks = (weights[kept], totals[kept], start[kept], stop[kept], ended_by[kept])
    return _Joins(falls, *blocks, joins[:made])


def _join_in_python(weight: Array, total: Array) -> _Joins:
    chain = _Chain(weight, total)
    chain.run()
    numbers = (chain.weight, chain.total, chain.start, chain.stop, chain.ended_by, chain.joins)
    return _Joins(np.array(chain.falls), *(np.array(values) for values in numbers))


def _falls(weight: Array, total: Array) -> Positions:
    """Whether the initial blocks go down at each boundary."""
    mean = total / weight
    # The first and the last boundary have a block on one side only.
    return np.concatenate([[0], mean[:-1] > mean[1:], [0]]).astype(np.intp)


class _Chain:
    """Adjacent blocks that join one by one as the penalty grows.

    Boundary j is the one before initial block j. Blocks are numbered: the initial ones first, then
    one for each join. Lists rather than arrays, since all operations are scalar.
    """

    def __init__(self, weight: Array, total: Array) -> None:
        count = len(weight)
        self.falls: list[int] = _falls(weight, total).tolist()
        # For each block: sums, its boundaries, and the join that ended it.
        self.weight: list[float] = weight.tolist()
        self.total: list[float] = total.tolist()
        self.start = list(range(count))
        self.stop = list(range(1, count + 1))
        self.ended_by = [-1] * count
        # For each boundary: the blocks on its left and right, and the penalty at which they meet.
        self.ending = list(range(-1, count))
        self.starting = list(range(count + 1))
        self.due = [np.inf] * (count + 1)
        self.queue: list[tuple[float, int]] = []
        self.joins: list[float] = []

    def run(self) -> None:
        """Join blocks in the order in which they meet, until none are left to meet."""
        for boundary in range(1, len(self.weight)):
            self.schedule(boundary, 0.0)
        while self.queue:
            penalty, boundary = heappop(self.queue)
            # An entry is stale if a block next to it has changed since.
            if penalty == self.due[boundary]:
                self.join(boundary, penalty)

    def schedule(self, boundary: int, now: float) -> None:
        """Queue the meeting of the two blocks at a boundary, if they meet."""
        left, right = self.ending[boundary], self.starting[boundary]
        fall = self.falls[boundary]
        left_slope = (self.falls[self.start[left]] - fall) / self.weight[left]
        right_slope = (fall - self.falls[self.stop[right]]) / self.weight[right]
        self.due[boundary] = np.inf
        if left_slope != right_slope:
            gap = self.total[right] / self.weight[right] - self.total[left] / self.weight[left]
            due = gap / (left_slope - right_slope)
            # A penalty that overflows is never reached.
            if due < np.inf:
                # Rounding may put a meeting that is due now slightly before.
                self.due[boundary] = max(now, due)
                heappush(self.queue, (self.due[boundary], boundary))

    def join(self, boundary: int, penalty: float) -> None:
        """Join the two blocks at a boundary."""
        left, right, new = self.ending[boundary], self.starting[boundary], len(self.weight)
        start, stop = self.start[left], self.stop[right]
        self.weight.append(self.weight[left] + self.weight[right])
        self.total.append(self.total[left] + self.total[right])
        self.start.append(start)
        self.stop.append(stop)
        self.ended_by[left] = self.ended_by[right] = len(self.joins)
        self.ended_by.append(-1)
        self.joins.append(penalty)
        self.due[boundary] = np.inf
        self.starting[start] = self.ending[stop] = new
        if start > 0:
            self.schedule(start, penalty)
        if stop < len(self.falls) - 1:
            self.schedule(stop, penalty)


def _path(joins: _Joins, positions: Positions) -> NearIsotonicPath:
    """Convert joins to a path; ``positions`` are the indices of the boundaries in the targets."""
    breakpoints, model_of_join = _breakpoints(joins.joins)
    start, stop, weight = joins.start, joins.stop, joins.weight
    initial = np.zeros(len(weight) - len(model_of_join), dtype=np.intp)
    first = np.concatenate([initial, model_of_join])
    # Blocks that no join ended have -1, which selects the last entry.
    end = np.append(model_of_join, len(breakpoints))[joins.ended_by]
    return NearIsotonicPath(
        breakpoints=breakpoints,
        first=first,
        end=end,
        start=positions[start],
        stop=positions[stop],
        weight=weight,
        mean=joins.total / weight,
        slope=(joins.falls[start] - joins.falls[stop]) / weight,
    )


def _breakpoints(joins: Array) -> tuple[Array, Positions]:
    """Distinct penalties after a first 0, and the index of that of each join.

    Joins that differ only by rounding are at one penalty: their blocks are already equal.
    """
    penalties = np.append(0.0, joins)
    is_new = np.diff(penalties) > _SAME_PENALTY * joins
    return penalties[np.append(is_new, True)], np.cumsum(is_new)

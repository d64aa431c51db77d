"""The whole solution path of nearly-isotonic regression (Tibshirani, Hoefling, Tibshirani, 2011).

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

# Relative difference below which two joins are one.
_SAME_PENALTY = 1e-12


@dataclass(frozen=True)
class NearIsotonicPath:
    """Solutions for every penalty, as the blocks that ever were.

    Model k holds from ``breakpoints[k]`` to the next one; block j is part of the models
    ``first[j] <= k < end[j]``, where it covers the values ``start[j] <= i < stop[j]`` with
    ``mean[j] + slope[j] * penalty``. Blocks are in the order in which they were made.

    Attributes
    ----------
    breakpoints : array of shape (models,)
        Penalties at which blocks join, after a first 0. Beyond the last the solution is isotonic.
    first, end, start, stop : integer arrays of shape (blocks,)
        Life and extent of each block.
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
    # Equal neighbors are joined from the outset.
    first = np.flatnonzero(np.append(True, targets[1:] != targets[:-1]))
    weight, total = np.add.reduceat(weights, first), np.add.reduceat(weights * targets, first)
    chain = _joined(weight, total) if native is None else _joined_at_once(weight, total)
    return _path(chain, np.append(first, len(targets)))


@dataclass(frozen=True)
class _Joined:
    """What a chain has been through: blocks, the initial ones first, and joins, in their order."""

    falls: Positions  # of each boundary
    weight: Array  # of each block
    total: Array
    start: Positions  # boundaries at its ends
    stop: Positions
    ended_by: Positions  # the join that ended it, or -1
    joins: Array  # penalty of each


def _joined_at_once(weight: Array, total: Array) -> _Joined:
    """Run a chain in the compiled loops."""
    count = len(weight)
    weights, totals = np.empty(2 * count - 1), np.empty(2 * count - 1)
    weights[:count], totals[:count] = weight, total
    start, stop, ended_by = np.empty((3, 2 * count - 1), dtype=np.intp)
    joins, falls = np.empty(count - 1), _falls(weight, total)
    made = native.join_blocks(weights, totals, falls, start, stop, ended_by, joins)
    kept = slice(count + made)
    blocks = (weights[kept], totals[kept], start[kept], stop[kept], ended_by[kept])
    return _Joined(falls, *blocks, joins[:made])


def _joined(weight: Array, total: Array) -> _Joined:
    """Run a chain."""
    chain = _Chain(weight, total)
    chain.run()
    numbers = (chain.weight, chain.total, chain.start, chain.stop, chain.ended_by, chain.joins)
    return _Joined(np.array(chain.falls), *(np.array(values) for values in numbers))


def _falls(weight: Array, total: Array) -> Positions:
    """Whether the initial blocks go down at each boundary."""
    mean = total / weight
    # There is nothing to fall from before the first block, nor to fall to after the last.
    return np.concatenate([[0], mean[:-1] > mean[1:], [0]]).astype(np.intp)


class _Chain:
    """Blocks side by side that join one by one, as the penalty grows.

    Boundary j is the one before initial block j. A block is a number: the initial ones come first,
    then one for each join. Lists and not arrays, since all of this is scalar work.
    """

    def __init__(self, weight: Array, total: Array) -> None:
        count = len(weight)
        self.falls: list[int] = _falls(weight, total).tolist()
        # Of each block: sums, the boundaries at its ends, and the join that ended it.
        self.weight: list[float] = weight.tolist()
        self.total: list[float] = total.tolist()
        self.start = list(range(count))
        self.stop = list(range(1, count + 1))
        self.ended_by = [-1] * count
        # Of each boundary: the blocks on its sides now, and when they are to meet.
        self.ending = list(range(-1, count))
        self.starting = list(range(count + 1))
        self.due = [np.inf] * (count + 1)
        self.queue: list[tuple[float, int]] = []
        self.joins: list[float] = []

    def run(self) -> None:
        """Join blocks in the order of their meetings, until none are left to come."""
        for boundary in range(1, len(self.weight)):
            self.schedule(boundary, 0.0)
        while self.queue:
            penalty, boundary = heappop(self.queue)
            # An entry is out of date if a block beside it has changed since.
            if penalty == self.due[boundary]:
                self.join(boundary, penalty)

    def schedule(self, boundary: int, now: float) -> None:
        """Put the meeting of the two blocks beside a boundary in the queue, if there is one."""
        left, right = self.ending[boundary], self.starting[boundary]
        fall = self.falls[boundary]
        left_slope = (self.falls[self.start[left]] - fall) / self.weight[left]
        right_slope = (fall - self.falls[self.stop[right]]) / self.weight[right]
        self.due[boundary] = np.inf
        if left_slope != right_slope:
            gap = self.total[right] / self.weight[right] - self.total[left] / self.weight[left]
            due = gap / (left_slope - right_slope)
            # What would overflow never comes.
            if due < np.inf:
                # Rounding may put a meeting that is due now a little into the past.
                self.due[boundary] = max(now, due)
                heappush(self.queue, (self.due[boundary], boundary))

    def join(self, boundary: int, penalty: float) -> None:
        """Make one block of the two beside a boundary, which is then no more."""
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


def _path(chain: _Joined, positions: Positions) -> NearIsotonicPath:
    """Say when and where the blocks of a chain were; ``positions`` are those of its boundaries."""
    breakpoints, model_of_join = _breakpoints(chain.joins)
    start, stop, weight = chain.start, chain.stop, chain.weight
    initial = np.zeros(len(weight) - len(model_of_join), dtype=np.intp)
    first = np.concatenate([initial, model_of_join])
    # The last entry is for the blocks that no join ended, whose -1 finds it.
    end = np.append(model_of_join, len(breakpoints))[chain.ended_by]
    return NearIsotonicPath(
        breakpoints=breakpoints,
        first=first,
        end=end,
        start=positions[start],
        stop=positions[stop],
        weight=weight,
        mean=chain.total / weight,
        slope=(chain.falls[start] - chain.falls[stop]) / weight,
    )


def _breakpoints(joins: Array) -> tuple[Array, Positions]:
    """Distinct penalties after a first 0, and which of them each join belongs to.

    Joins that only rounding keeps apart are one: their blocks are of equal value already.
    """
    penalties = np.append(0.0, joins)
    is_new = np.diff(penalties) > _SAME_PENALTY * joins
    return penalties[np.append(is_new, True)], np.cumsum(is_new)

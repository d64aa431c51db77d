"""Sums over rows of a binary model: one sigmoid of a linear combination of features.

With ``eta = theta . x`` and a target t in [0, 1], the loss of a row is::

    softplus(eta) - t * eta  =  log(2 cosh(eta / 2))  +  (1/2 - t) * eta

The first part is even in eta and knows nothing of the target; the second is linear, and its sum
over rows is one vector, computed once. So a pass reads the features alone.
"""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from tempocal.inputs import Codes
from tempocal.kernels import native
from tempocal.kernels.thread_pool import map_on_cores
from tempocal.lazy import cached
from tempocal.links import Array, Floats, sigmoid
from tempocal.rows.compiled import (
    MOST_COEFFICIENTS,
    descend,
    even_losses,
    even_sums,
    linear_sums,
    pulls,
    scores_by_group,
)
from tempocal.rows.group_chunks import Stripes
from tempocal.rows.in_memory import StoredRows
from tempocal.rows.key_layout import Block
from tempocal.rows.parallel_blocks import sum_blocks
from tempocal.rows.subsample import LEAST_ROWS_A_KEY, InOrder, Points, condense
from tempocal.rows.sums import LOG2_E, Sums
from tempocal.rows.unsorted import Sweep

# Small enough that memory is not given back and asked for again between blocks, which would take as
# long as the sums; large enough that threads seldom wait for the interpreter.
BLOCK = 2**15
# A pass over so many rows takes the compiled loops no longer than a few calls of NumPy.
QUICK = 2**14
# With less of it features would tell labels all but surely, and their slope be anywhere.
LEAST_ROOM = 0.01
# Stands for the size of features that are all 0.
TINY = 1e-300
# Tables of groups and keys that are there at once.
TABLES_AT_ONCE = 2
# A share of what rows of a key lose on the wrong side, and points that stand for them lose at most.
ALL_BUT_SEPARATED = 1.0 - 1e-14
# A product of this many numbers in [1, 2] does not overflow: one logarithm for all of them.
CHUNK = 512


class BinaryRows(StoredRows):
    """Rows of a binary model held in memory.

    Parameters
    ----------
    features : ndarray of shape (coefficients, n)
        What the coefficients multiply: doubles, or floats where there are the compiled loops.
    targets : ndarray of shape (n,)
        Labels 0 and 1 as booleans or whole numbers, or smoothed ones in between.
    weights : ndarray of shape (n,) or None
        Weights; None counts every row once.
    keys : ndarray of shape (n,) or None
        Key of each row; None is a single key.
    n_keys : int
        Number of keys.
    """

    know_ends = True

    def __init__(
        self,
        features: Floats,
        targets: NDArray[np.bool_] | Codes | Array,
        *,
        weights: Array | None = None,
        keys: Codes | None = None,
        n_keys: int = 1,
    ) -> None:
        super().__init__(features, targets, weights, keys, n_keys)
        self.n_coefficients = len(features)
        # Labels without weights are summed over once they are asked for, or in passing.
        self._has_labels = weights is None and targets.dtype == np.int64
        if self._has_labels:
            self._targets_as_they_came = np.ascontiguousarray(targets)
        if native is None or not self._has_labels:
            self._linear = self._sum_linear(features, targets, weights, keys)

    @cached
    def _linear(self) -> Array:
        """Sum of the linear part of the rows of each key, times the coefficients."""
        keys, labels = self._layout.keys_as_they_came, self._targets_as_they_came
        if keys is None:
            return pulls(self._features, labels, self._layout.offsets)
        return self._sum_linear(self._features_as_they_came, labels, None, keys)

    @cached
    def _sweep(self) -> Sweep | None:
        """Rows that are summed over without a sorted copy, where they are in no order.

        With few of a key the search goes over the rows themselves, key by key.
        """
        layout, weights = self._layout, self._weights_as_they_came
        in_order = native is None or layout.keys_as_they_came is None
        if in_order or self.n_coefficients > 1 or self.is_quick:
            return None
        all_there = len(layout.present) == layout.n_keys
        are_many = layout.n_rows >= LEAST_ROWS_A_KEY * layout.n_keys
        knows_pulls = self._has_labels or weights is not None
        if not (knows_pulls and all_there and are_many):
            return None
        features = np.ascontiguousarray(self._features_as_they_came)
        return Sweep(features, self._targets_as_they_came, weights, layout)

    def sums(self, theta: Array, *, hessian: bool = True) -> Sums:
        """Negative log likelihood and derivatives at ``theta`` of shape (keys, coefficients)."""
        theta, offsets = self._layout.of_present(theta), self._layout.offsets
        if self._sweep is not None:
            even = self._sweep.sums(theta, hessian=hessian)
        elif self._is_compiled:
            even = even_sums(self._features, self._weights, theta, offsets, hessian=hessian)
        else:
            even = sum_blocks(
                self._layout.blocks(BLOCK),
                lambda block: self._sum_even(theta, block, hessian),
                self._zeros(hessian),
            )
        linear = np.add.reduce(theta * self._linear, axis=1)
        return self._layout.for_all_keys(
            Sums(even.loss + linear, even.gradient + self._linear, even.hessian)
        )

    def losses(self, theta: Array) -> Array:
        """Negative log likelihood alone, of shape (keys,)."""
        if not self._is_compiled:
            return super().losses(theta)
        at = self._layout.of_present(theta)
        if self._sweep is not None:
            even = self._sweep.losses(at)
        else:
            even = even_losses(self._features, self._weights, at, self._layout.offsets)
        total = np.zeros(self.n_keys)
        total[self._layout.present] = even + np.add.reduce(at * self._linear, axis=1)
        return total

    def descend(self, identity: Array, pull: Array, lower: Array) -> Array | None:
        """Coefficients close to the optimum of each key, where it has one only.

        They are found on few points that stand for the rows, or on rows that are few themselves.
        """
        if native is None or self.n_coefficients > 1:
            return None
        points, present, offsets = self._points, self._layout.present, self._layout.offsets
        given = [self._layout.of_present(each).ravel() for each in (pull, identity, lower)]
        each = [self._linear.ravel(), *given]
        if points is not None:
            sizes, weights = points.sizes, points.weights
            theta, doubts = descend(sizes, weights, each, points.offsets, given[1])
        elif np.diff(offsets).max(initial=0) <= QUICK:
            start = given[1] if self.is_quick or given[0].any() else self._typical(given[1])
            theta, doubts = descend(self._features[0], self._weights, each, offsets, start)
        else:
            return None
        found = identity.copy()
        found[present] = theta[:, None]
        if np.count_nonzero(doubts):
            doubtful = np.zeros_like(found)
            doubtful[present[doubts]] = found[present[doubts]]
            found = np.where(self.have_end(doubtful)[:, None], found, identity)
        return found

    def _typical(self, identity: Array) -> Array | float:
        """Where to look from for the coefficient of every key, without a pull: about that of all.

        It would be that of all rows if their features were normal, and the logistic function the
        normal distribution of the same slope at 0: a start that no order of rows can change.
        """
        size = max(float(np.sqrt(self.squares[0])), TINY)
        pull = -4.0 * float(self._linear.sum()) / (self.total_weight * size)
        room = 1.0 - np.pi / 8.0 * pull**2
        return pull / (size * np.sqrt(room)) if room > LEAST_ROOM else identity

    def group_gradients(
        self, theta: Array, codes: Codes, count: int
    ) -> Iterator[Sequence[Array | csr_array]]:
        """Gradient summed over the rows of each group and key: (groups, keys) by coefficient.

        A table of all of them takes less time, and no more memory, than entries where there are
        rows; unless there are few of these.
        """
        stripes = Stripes(codes, count, self.n_keys)
        if not self._is_compiled or not stripes.are_full:
            yield from self._entries(theta, codes, stripes)
            return
        keys = self._keys_as_they_came
        features, targets = self._features_as_they_came, self._targets_as_they_came
        weights = self._weights_as_they_came

        def sums(stripe: tuple[range, slice]) -> Sequence[Array]:
            groups, rows = stripe
            own = None if weights is None else weights[rows]
            given = features[:, rows], targets[rows], own, keys[rows]
            return list(scores_by_group(*given, theta, codes=codes[rows], groups=groups))

        every = stripes.full()
        while some := list(islice(every, TABLES_AT_ONCE)):
            yield from map_on_cores(sums, some)

    def have_end(self, direction: Array) -> NDArray[np.bool_]:
        """Whether some row of each key loses more and more that way, or none less and less."""
        ends = np.ones(self.n_keys, dtype=bool)
        present = self._layout.present
        for place in np.flatnonzero(direction[present].any(axis=1)).tolist():
            key, rows = present[place], slice(*self._layout.offsets[place : place + 2].tolist())
            eta, targets = direction[key] @ self._features[:, rows], self._targets[rows]
            if self._weights is not None:
                eta *= self._weights[rows] > 0
            rises = ((eta > 0) & (targets < 1)) | ((eta < 0) & (targets > 0))
            ends[key] = rises.any() or not eta.any()
        return ends

    @property
    def is_quick(self) -> bool:
        """Whether some passes over all rows take less time than to find few that stand for them."""
        return self._is_compiled and len(self._targets_as_they_came) <= QUICK

    @property
    def _is_compiled(self) -> bool:
        return native is not None and self.n_coefficients <= MOST_COEFFICIENTS

    @cached
    def squares(self) -> Array:
        """Mean square of what each coefficient multiplies."""
        return self._mean_squares()

    def condensed(self) -> Self | None:
        """Far fewer rows, with weights, that have about the same sums; None if there are none."""
        points = self._points
        if points is None:
            return None
        # Neither the one nor the other.
        targets = np.full_like(points.sizes, 0.5)
        few = self._like(
            points.sizes[None],
            targets,
            weights=points.weights,
            keys=points.keys(self._layout.present),
            n_keys=self.n_keys,
        )
        # Sizes know nothing of targets, nor of signs: all that these say is in here. Of separated
        # rows it is as large as what it is to be less than, and rounding must not make it larger.
        sizes = np.add.reduceat(points.sizes * points.weights, points.offsets[:-1])
        most = 0.5 * ALL_BUT_SEPARATED * sizes[:, None]
        few._linear = np.clip(self._linear, -most, most)
        return few

    @cached
    def _points(self) -> Points | None:
        """Points that stand for the rows, looked for once."""
        if self.n_coefficients > 1 or self.is_quick:
            return None
        present, rows = self._layout.present, self._sweep or self._in_order()
        # Points of keys whose rows all weigh nothing would have no mean.
        weightless = self._weights_as_they_came is not None and not self.key_weights[present].all()
        points = None if weightless else condense(rows, present)
        if points is not None and points.pulls is not None:
            # Unless it is known: what was summed before was summed with that.
            self.__dict__.setdefault("_linear", points.pulls[:, None])
        return points

    def _in_order(self) -> InOrder:
        is_sorted = self._layout.keys_as_they_came is None
        labels = self._targets_as_they_came if self._has_labels and is_sorted else None
        return InOrder(self._features[0], self._weights, self._layout, labels)

    def _sum_even(self, theta: Array, block: Block, hessian: bool) -> Sums:
        """Sum log(2 cosh(eta / 2)) and its derivatives over the rows of a block.

        With eta in bits, for exp2 is quicker than exp.
        """
        x = self._features[:, block.rows]
        weights = None if self._weights is None else self._weights[block.rows]
        eta = self._eta(LOG2_E * theta, block)
        below = np.copysign(eta, -1.0)
        small = np.exp2(below)
        one_plus_small = small + 1.0
        loss = _log_cosh(below, one_plus_small, weights, block)
        inverse = np.reciprocal(one_plus_small, out=one_plus_small)
        # sigmoid(eta) - 1/2 has the sign of eta and the size sigmoid(|eta|) - 1/2.
        slope = np.copysign(np.subtract(inverse, 0.5, out=below), eta, out=below)
        gradient = block.project(x, _weigh(slope, weights))
        if not hessian:
            return Sums(loss, gradient, None)
        small *= inverse
        small *= inverse
        return Sums(loss, gradient, _squares(x, _weigh(small, weights), block))

    def _row_gradients(self, theta: Array) -> Iterator[Array]:
        residual = np.empty(len(self._targets))
        for block in self._layout.blocks(BLOCK):
            rows = block.rows
            p = sigmoid(self._eta(theta, block))
            residual[rows] = self._weigh(p - self._targets[rows], rows)
        return (x * residual for x in self._features)

    def _like(self, features: Floats, targets: NDArray[Any], **common: Any) -> Self:
        return type(self)(features, targets, **common)

    def _eta(self, theta: Array, block: Block) -> Array:
        x = self._features[:, block.rows]
        if len(x) == 1:
            return np.asarray(block.spread(theta[block.keys, 0]) * x[0])
        if block.is_one_key:
            return np.asarray(np.einsum("p,pi->i", theta[block.keys.start], x))
        return np.asarray(np.einsum("pi,pi->i", block.spread(theta[block.keys].T), x))

    def _sum_linear(
        self,
        features: Floats,
        targets: NDArray[np.bool_] | Codes | Array,
        weights: Array | None,
        keys: Codes | None,
    ) -> Array:
        """Sum the linear part of rows as they came, whose targets then need no sorting."""
        if native is not None:
            total = linear_sums(features, targets, weights, keys, self.n_keys)
            return np.asarray(total[self._layout.present])
        total = np.zeros((self.n_keys, self.n_coefficients))
        for start in range(0, len(targets), BLOCK):
            rows = slice(start, start + BLOCK)
            own = None if weights is None else weights[rows]
            pull = _weigh(np.subtract(0.5, targets[rows], dtype=np.float64), own)
            for p, x in enumerate(features):
                total[:, p] += _by_key(x[rows] * pull, keys, rows, self.n_keys)
        return total[self._layout.present]


def _by_key(values: Array, keys: Codes | None, rows: slice, n_keys: int) -> Array:
    if keys is None:
        return np.asarray(values.sum(keepdims=True))
    return np.asarray(np.bincount(keys[rows], values, minlength=n_keys), dtype=np.float64)


def _weigh(values: Array, weights: Array | None) -> Array:
    """Multiply by weights, in place."""
    return values if weights is None else np.multiply(values, weights, out=values)


def _log_cosh(below: Array, one_plus_small: Array, weights: Array | None, block: Block) -> Array:
    """Sum log(2 cosh(eta / 2)) = |eta| / 2 + log(1 + exp(-|eta|)) over the rows of each key.

    ``below`` is -|eta| in bits.
    """
    half = -0.5 / LOG2_E
    if weights is not None:
        return block.project((half * below + np.log(one_plus_small))[None], weights)[:, 0]
    return half * block.sum(below) + _sum_logs(one_plus_small, block)


def _sum_logs(values: Array, block: Block) -> Array:
    """Sum the logarithms of ``values`` in [1, 2] over the rows of each key."""
    chunks = np.arange(0, len(values), CHUNK)
    if block.is_one_key:
        return np.asarray(np.log(np.multiply.reduceat(values, chunks)).sum(keepdims=True))
    chunks = np.union1d(chunks, block.starts)
    logs = np.log(np.multiply.reduceat(values, chunks))
    return np.add.reduceat(logs, np.searchsorted(chunks, block.starts))


def _squares(x: Floats, variance: Array, block: Block) -> Array:
    """Sum ``variance * x x'`` over the rows of each key."""
    if block.is_one_key:
        return np.asarray(np.einsum("pi,qi->pq", x * variance, x)[None])
    total = np.empty((len(block.starts), len(x), len(x)))
    for p, weighed in enumerate(x * variance):
        total[:, p, : p + 1] = total[:, : p + 1, p] = block.project(x[: p + 1], weighed)
    return total

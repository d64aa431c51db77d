"""Sums over rows of a binary model: one sigmoid of a linear combination of features.

With ``eta = theta . x`` and a target t in [0, 1], the loss of a row is::

    softplus(eta) - t * eta  =  log(2 cosh(eta / 2))  +  (1/2 - t) * eta

The first part is even in eta and independent of the target; the second is linear, and its sum over
rows is one vector, computed once. So a pass reads the features only.
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
    MAX_COEFFICIENTS,
    even_losses,
    even_sums,
    gradients_by_group,
    linear_terms,
)
from tempocal.rows.group_chunks import GroupChunks
from tempocal.rows.in_memory import StoredRows
from tempocal.rows.key_layout import Block
from tempocal.rows.moment_matching import (
    MIN_ROWS_PER_KEY,
    Points,
    SingleFeatureRows,
    match_moments,
)
from tempocal.rows.parallel_blocks import sum_blocks
from tempocal.rows.sums import LOG2_E, Sums
from tempocal.rows.unsorted import unsorted_sums

# Small enough that temporaries are not returned to the system between blocks, which would take as
# long as the sums; large enough that threads seldom wait for the GIL.
BLOCK = 2**15
# A pass of the compiled loops over this many rows takes no longer than a few calls of NumPy.
SMALL = 2**14
# Tables of group gradients that are held in memory together.
CONCURRENT_TABLES = 2
# Upper bound of |linear term| / (sum of |x| / 2), which is 1 where the classes are separated.
MAX_SEPARATION = 1.0 - 1e-14
# A product of this many numbers in [1, 2] does not overflow: one logarithm for all of them.
CHUNK = 512


class BinaryRows(StoredRows):
    """Rows of a binary model held in memory.

    Parameters
    ----------
    features : ndarray of shape (coefficients, n)
        Features that the coefficients multiply: float64, or float32 with the compiled loops.
    targets : ndarray of shape (n,)
        Labels 0 and 1 as booleans or integers, or smoothed ones in between.
    weights : ndarray of shape (n,) or None
        Weights; None counts every row once.
    keys : ndarray of shape (n,) or None
        Key of each row; None is a single key.
    n_keys : int
        Number of keys.
    """

    detects_separation = True

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

    @cached
    def _linear(self) -> Array:
        """Sum of (1/2 - t) x over the rows of each key: (keys, coefficients).

        It is summed in input order, so that targets need no sorting.
        """
        keys = self._layout.input_keys
        sum_all = _sum_linear if native is None else linear_terms
        given = self._input_features, self._input_targets, self._input_weights
        return np.asarray(sum_all(*given, keys, self.n_keys)[self._layout.present])

    @cached
    def _sums_unsorted(self) -> bool:
        """Whether rows are summed without a sorted copy.

        With few rows per key a sorted copy takes less time.
        """
        layout = self._layout
        if native is None or layout.unsorted_keys is None:
            return False
        if self.n_coefficients > 1 or self._are_few:
            return False
        all_present = len(layout.present) == layout.n_keys
        return all_present and layout.n_rows >= MIN_ROWS_PER_KEY * layout.n_keys

    def sums(self, theta: Array, *, hessian: bool = True) -> Sums:
        """Negative log likelihood and derivatives at ``theta`` of shape (keys, coefficients)."""
        theta, offsets = self._layout.of_present(theta), self._layout.offsets
        if self._sums_unsorted:
            even = self._unsorted_sums(theta, 2 if hessian else 1)
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
        theta = self._layout.of_present(theta)
        if self._sums_unsorted:
            even = self._unsorted_sums(theta, 0).loss
        else:
            even = even_losses(self._features, self._weights, theta, self._layout.offsets)
        total = np.zeros(self.n_keys)
        total[self._layout.present] = even + np.add.reduce(theta * self._linear, axis=1)
        return total

    def group_gradients(
        self, theta: Array, codes: Codes, count: int
    ) -> Iterator[Sequence[Array | csr_array]]:
        """Gradient summed over the rows of each group and key: (groups, keys) by coefficient.

        Dense tables take less time and no more memory than sparse ones, unless most of their cells
        are empty.
        """
        chunks = GroupChunks(codes, count, self.n_keys)
        if not self._is_compiled or not chunks.is_dense:
            yield from self._sparse_gradients(theta, codes, chunks)
            return
        keys = self._input_keys
        features, targets, weights = self._input_features, self._input_targets, self._input_weights

        def sums(chunk: tuple[range, slice]) -> Sequence[Array]:
            groups, rows = chunk
            own = None if weights is None else weights[rows]
            given = features[:, rows], targets[rows], own, keys[rows]
            return list(gradients_by_group(*given, theta, codes=codes[rows], groups=groups))

        dense = chunks.dense()
        while batch := list(islice(dense, CONCURRENT_TABLES)):
            yield from map_on_cores(sums, batch)

    def _unsorted_sums(self, theta: Array, order: int) -> Sums:
        given = self._contiguous_features, self._input_weights, None, self._layout
        return unsorted_sums(*given, theta, order=order)

    @cached
    def _contiguous_features(self) -> Floats:
        return np.ascontiguousarray(self._input_features)

    def has_finite_optimum(self, direction: Array) -> NDArray[np.bool_]:
        """Whether the loss of some row of each key grows along ``direction``, or of none falls."""
        is_finite = np.ones(self.n_keys, dtype=bool)
        present = self._layout.present
        for index in np.flatnonzero(direction[present].any(axis=1)).tolist():
            key, rows = present[index], slice(*self._layout.offsets[index : index + 2].tolist())
            eta, targets = direction[key] @ self._features[:, rows], self._targets[rows]
            if self._weights is not None:
                eta *= self._weights[rows] > 0
            rises = ((eta > 0) & (targets < 1)) | ((eta < 0) & (targets > 0))
            is_finite[key] = rises.any() or not eta.any()
        return is_finite

    @property
    def _are_few(self) -> bool:
        """Whether a few passes over all rows take less time than building a surrogate."""
        return self._is_compiled and len(self._input_targets) <= SMALL

    @property
    def _are_few_per_key(self) -> bool:
        """Whether a sample of one feature would have so few rows of a key that they mislead.

        The classes of a dozen rows are often separated, and its own coefficient runs away.
        """
        n_rows = len(self._input_targets)
        is_short = n_rows / self.n_keys < MIN_ROWS_PER_KEY
        return self.n_coefficients == 1 and self._is_compiled and is_short

    @property
    def _is_compiled(self) -> bool:
        return native is not None and self.n_coefficients <= MAX_COEFFICIENTS

    @cached
    def mean_squares(self) -> Array:
        """Mean squares of the features."""
        return self._feature_mean_squares()

    def few(self) -> Self | None:
        """Two points for each cell of rows, or else a sample; None if these are few already."""
        if self._are_few or self._are_few_per_key:
            return None
        return self.moment_matched() or self.sample()

    def moment_matched(self) -> Self | None:
        """Far fewer weighted rows with nearly the same sums; None if there are none."""
        points = self._points
        if points is None:
            return None
        # A target of 1/2 contributes nothing to the linear term, which is set below.
        targets = np.full_like(points.sizes, 0.5)
        matched = self._like(
            points.sizes[None],
            targets,
            weights=points.weights,
            keys=points.keys,
            n_keys=self.n_keys,
        )
        # The points have |x| and no targets, so the linear term is that of the rows. It reaches
        # sum |x| / 2 only for separated classes: rounding must not turn others into such.
        sizes = np.bincount(points.keys, points.sizes * points.weights)[self._layout.present]
        bound = 0.5 * MAX_SEPARATION * sizes[:, None]
        matched._linear = np.clip(self._linear, -bound, bound)
        return matched

    @cached
    def _points(self) -> Points | None:
        """Moment-matched points, or None if there are none."""
        if native is None or self.n_coefficients > 1 or self._are_few:
            return None
        present, weights, targets = self._layout.present, self._input_weights, self._input_targets
        # A key of total weight zero has no mean.
        if weights is not None and not self.key_weights[present].all():
            return None
        labels = targets if weights is None and targets.dtype == np.int64 else None
        keys = self._layout.input_keys
        rows = SingleFeatureRows(self._input_features[0], labels, weights, keys, self.n_keys)
        points = match_moments(rows, len(present))
        if points is not None and points.linear is not None:
            # Keep a linear term that was already used: the new one may be rounded differently.
            self.__dict__.setdefault("_linear", points.linear[present, None])
        return points

    def _sum_even(self, theta: Array, block: Block, hessian: bool) -> Sums:
        """Sum log(2 cosh(eta / 2)) and its derivatives over the rows of a block.

        eta is in units of log 2, since exp2 is faster than exp.
        """
        x = self._features[:, block.rows]
        weights = None if self._weights is None else self._weights[block.rows]
        eta = self._eta(LOG2_E * theta, block)
        minus_abs = np.copysign(eta, -1.0)
        small = np.exp2(minus_abs)
        one_plus_small = small + 1.0
        loss = _log_cosh(minus_abs, one_plus_small, weights, block)
        inverse = np.reciprocal(one_plus_small, out=one_plus_small)
        # sigmoid(eta) - 1/2 = sign(eta) (sigmoid(|eta|) - 1/2).
        slope = np.copysign(np.subtract(inverse, 0.5, out=minus_abs), eta, out=minus_abs)
        gradient = block.project(x, _weigh(slope, weights))
        if not hessian:
            return Sums(loss, gradient, None)
        small *= inverse
        small *= inverse
        return Sums(loss, gradient, _squares(x, _weigh(small, weights), block))

    def forecasts(self, theta: Array) -> Array:
        """Probabilities at ``theta`` in input order: (1, n)."""
        eta = np.zeros(self.n_rows)
        for x, slopes in zip(self._input_features, theta.T, strict=True):
            eta += slopes[self._input_keys] * x
        return sigmoid(eta)[None]

    def outcomes(self) -> Array:
        """Targets in input order: (1, n)."""
        return self._input_targets.astype(np.float64)[None]

    def feature(self, coefficient: int) -> tuple[slice, Floats]:
        """Which linear predictors a coefficient of the key enters, and what it multiplies there."""
        return slice(0, 1), self._input_features[coefficient : coefficient + 1]

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
    features: Floats,
    targets: NDArray[np.bool_] | Codes | Array,
    weights: Array | None,
    keys: Codes | None,
    n_keys: int,
) -> Array:
    """Sum the linear term with NumPy, as `linear_terms` does."""
    total = np.zeros((n_keys, len(features)))
    for start in range(0, len(targets), BLOCK):
        rows = slice(start, start + BLOCK)
        own = None if weights is None else weights[rows]
        residual = _weigh(np.subtract(0.5, targets[rows], dtype=np.float64), own)
        for p, x in enumerate(features):
            total[:, p] += _by_key(x[rows] * residual, keys, rows, n_keys)
    return total


def _by_key(values: Array, keys: Codes | None, rows: slice, n_keys: int) -> Array:
    if keys is None:
        return np.asarray(values.sum(keepdims=True))
    return np.asarray(np.bincount(keys[rows], values, minlength=n_keys), dtype=np.float64)


def _weigh(values: Array, weights: Array | None) -> Array:
    """Multiply by weights, in place."""
    return values if weights is None else np.multiply(values, weights, out=values)


def _log_cosh(
    minus_abs: Array, one_plus_small: Array, weights: Array | None, block: Block
) -> Array:
    """Sum log(2 cosh(eta / 2)) = |eta| / 2 + log(1 + exp(-|eta|)) over the rows of each key.

    ``minus_abs`` is -|eta| in units of log 2.
    """
    half = -0.5 / LOG2_E
    if weights is not None:
        return block.project((half * minus_abs + np.log(one_plus_small))[None], weights)[:, 0]
    return half * block.sum(minus_abs) + _sum_logs(one_plus_small, block)


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

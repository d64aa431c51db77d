"""Sums over rows of a binary model: one sigmoid of a linear combination of features.

With ``eta = theta . x`` and a target t in [0, 1], the loss of a row is::

    softplus(eta) - t * eta  =  log(2 cosh(eta / 2))  +  (1/2 - t) * eta

The first part is even in eta and knows nothing of the target; the second is linear, and its sum
over rows is one vector, computed once. So a pass reads the features alone.
"""

from collections.abc import Iterator
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from tempocal.inputs import Codes
from tempocal.links import Array, sigmoid
from tempocal.rows.layout import Block
from tempocal.rows.stored import StoredRows
from tempocal.rows.sums import LOG2_E, Sums
from tempocal.rows.threads import sum_blocks

# Large enough that threads seldom wait for the interpreter.
BLOCK = 2**16
# A product of this many numbers in [1, 2] does not overflow: one logarithm for all of them.
CHUNK = 512


class BinaryRows(StoredRows):
    """Rows of a binary model held in memory.

    Parameters
    ----------
    features : ndarray of shape (coefficients, n)
        What the coefficients multiply.
    targets : ndarray of shape (n,)
        Labels 0 and 1, or smoothed ones in between.
    weights : ndarray of shape (n,) or None
        Weights; None counts every row once.
    keys : ndarray of shape (n,) or None
        Key of each row; None is a single key.
    n_keys : int
        Number of keys.
    """

    def __init__(
        self,
        features: Array,
        targets: Array,
        *,
        weights: Array | None = None,
        keys: Codes | None = None,
        n_keys: int = 1,
    ) -> None:
        super().__init__(features, targets, weights, keys, n_keys)
        self.n_coefficients = len(features)
        self._linear = self._sum_linear()

    def sums(self, theta: Array, *, hessian: bool = True) -> Sums:
        """Negative log likelihood and derivatives at ``theta`` of shape (keys, coefficients)."""
        theta = theta[self._layout.present]
        even = sum_blocks(
            self._layout.blocks(BLOCK),
            lambda block: self._sum_even(theta, block, hessian),
            self._zeros(hessian),
        )
        linear = np.einsum("kp,kp->k", theta, self._linear)
        return self._layout.for_all_keys(
            Sums(even.loss + linear, even.gradient + self._linear, even.hessian)
        )

    def _sum_even(self, theta: Array, block: Block, hessian: bool) -> Sums:
        """Sum log(2 cosh(eta / 2)) and its derivatives over the rows of a block."""
        x = self._features[:, block.rows]
        weights = None if self._weights is None else self._weights[block.rows]
        eta = self._eta(theta, block)
        size = np.abs(eta)
        small = np.exp2(size * -LOG2_E)
        one_plus_small = small + 1.0
        loss = _log_cosh(size, one_plus_small, weights, block)
        inverse = np.reciprocal(one_plus_small, out=one_plus_small)
        # sigmoid(eta) - 1/2 has the sign of eta and the size sigmoid(|eta|) - 1/2.
        slope = np.copysign(inverse - 0.5, eta)
        gradient = block.project(x, _weighed(slope, weights))
        if not hessian:
            return Sums(loss, gradient, None)
        variance = _weighed(small * inverse * inverse, weights)
        return Sums(loss, gradient, _squares(x, variance, block))

    def _row_gradients(self, theta: Array) -> Iterator[Array]:
        residual = np.empty(len(self._targets))
        for block in self._layout.blocks(BLOCK):
            rows = block.rows
            p = sigmoid(self._eta(theta, block))
            residual[rows] = self._weigh(p - self._targets[rows], rows)
        return (x * residual for x in self._features)

    def _like(self, features: Array, targets: NDArray[Any], **common: Any) -> Self:
        return type(self)(features, targets, **common)

    def _eta(self, theta: Array, block: Block) -> Array:
        x = self._features[:, block.rows]
        if block.is_one_key:
            return np.asarray(np.einsum("p,pi->i", theta[block.keys.start], x))
        return np.asarray(np.einsum("pi,pi->i", block.spread(theta[block.keys].T), x))

    def _sum_linear(self) -> Array:
        total = self._zeros(hessian=False).gradient
        for block in self._layout.blocks(BLOCK):
            pull = self._weigh(0.5 - self._targets[block.rows], block.rows)
            total[block.keys] += block.project(self._features[:, block.rows], pull)
        return total


def _weighed(values: Array, weights: Array | None) -> Array:
    return values if weights is None else np.multiply(values, weights, out=values)


def _log_cosh(size: Array, one_plus_small: Array, weights: Array | None, block: Block) -> Array:
    """Sum log(2 cosh(eta / 2)) = |eta| / 2 + log(1 + exp(-|eta|)) over the rows of each key."""
    if weights is not None:
        return block.project((0.5 * size + np.log(one_plus_small))[None], weights)[:, 0]
    return 0.5 * block.sum(size) + _sum_logs(one_plus_small, block)


def _sum_logs(values: Array, block: Block) -> Array:
    """Sum the logarithms of ``values`` in [1, 2] over the rows of each key."""
    chunks = np.arange(0, len(values), CHUNK)
    if block.is_one_key:
        return np.asarray(np.log(np.multiply.reduceat(values, chunks)).sum(keepdims=True))
    chunks = np.union1d(chunks, block.starts)
    logs = np.log(np.multiply.reduceat(values, chunks))
    return np.add.reduceat(logs, np.searchsorted(chunks, block.starts))


def _squares(x: Array, variance: Array, block: Block) -> Array:
    """Sum ``variance * x x'`` over the rows of each key."""
    if block.is_one_key:
        return np.asarray(np.einsum("pi,qi->pq", x * variance, x)[None])
    total = np.empty((len(block.starts), len(x), len(x)))
    for p, weighed in enumerate(x * variance):
        total[:, p, : p + 1] = total[:, : p + 1, p] = block.project(x[: p + 1], weighed)
    return total

"""Sums over rows of a binary model: one sigmoid of a linear combination of features.

With ``eta = theta . x`` and a target t in [0, 1], the loss of a row is::

    softplus(eta) - t * eta  =  log(2 cosh(eta / 2))  +  (1/2 - t) * eta

The first part is even in eta and knows nothing of the target; the second is linear, and its sum
over rows is one vector, computed once. So a pass reads the features alone.
"""

from collections.abc import Iterable
from typing import Self

import numpy as np

from tempocal.inputs import Codes
from tempocal.links import Array, sigmoid
from tempocal.rows.sums import LOG2_E, Block, Layout, Sums, stride, sum_by_group
from tempocal.rows.threads import sum_blocks

# Large enough that threads seldom wait for the interpreter.
BLOCK = 2**16
# A product of this many numbers in [1, 2] does not overflow: one logarithm for all of them.
CHUNK = 512


class BinaryRows:
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
        self._layout = Layout.of(keys, n_keys, features.shape[1])
        self._features = np.ascontiguousarray(self._layout.sort(features))
        self._targets = self._layout.sort(targets)
        self._weights = None if weights is None else self._layout.sort(weights)
        self.n_coefficients = len(features)
        self.n_keys = n_keys
        self.total_weight = float(len(targets) if weights is None else weights.sum())
        self._linear = self._sum_linear()

    def sums(self, theta: Array, *, hessian: bool = True) -> Sums:
        """Negative log likelihood and derivatives at ``theta`` of shape (keys, coefficients)."""
        even = sum_blocks(
            self._layout.blocks(BLOCK), lambda blocks: self._sum_even(theta, blocks, hessian)
        )
        linear = np.einsum("kp,kp->k", theta, self._linear)
        return Sums(even.loss + linear, even.gradient + self._linear, even.hessian)

    def _sum_even(self, theta: Array, blocks: Iterable[Block], hessian: bool) -> Sums:
        """Sum log(2 cosh(eta / 2)) and its derivatives."""
        total = Sums.zeros(self.n_keys, self.n_coefficients, hessian=hessian)
        for key, block in blocks:
            x = self._features[:, block]
            weights = None if self._weights is None else self._weights[block]
            # einsum rather than BLAS, whose own threads get in the way on blocks this small.
            eta = np.einsum("p,pi->i", theta[key], x)
            size = np.abs(eta)
            small = np.exp2(size * -LOG2_E)
            one_plus_small = small + 1.0
            total.loss[key] += _log_cosh(size, one_plus_small, weights)
            inverse = np.reciprocal(one_plus_small, out=one_plus_small)
            # sigmoid(eta) - 1/2 has the sign of eta and the size sigmoid(|eta|) - 1/2.
            slope = np.copysign(inverse - 0.5, eta)
            total.gradient[key] += np.einsum("pi,i->p", x, _weighed(slope, weights))
            if total.hessian is not None:
                variance = _weighed(small * inverse * inverse, weights)
                total.hessian[key] += np.einsum("pi,qi->pq", x * variance, x)
        return total

    def group_gradients(self, theta: Array, codes: Codes, count: int) -> Array:
        """Gradient summed over the rows of each group, of shape (groups, coefficients)."""
        codes = codes if self._layout.order is None else codes[self._layout.order]
        total = np.zeros((count, self.n_coefficients))
        for key, block in self._layout.blocks(BLOCK):
            x = self._features[:, block]
            residual = sigmoid(theta[key] @ x) - self._targets[block]
            if self._weights is not None:
                residual *= self._weights[block]
            total += sum_by_group(x * residual, codes[block], count)
        return total

    def sample(self, size: int) -> Self:
        """About ``size`` of the rows under a single key, evenly spaced; all, if no more."""
        step = stride(self._features.shape[1], size)
        weights = None if self._weights is None else self._weights[::step]
        return type(self)(self._features[:, ::step], self._targets[::step], weights=weights)

    def _sum_linear(self) -> Array:
        total = np.zeros((self.n_keys, self.n_coefficients))
        for key, block in self._layout.blocks(BLOCK):
            pull = 0.5 - self._targets[block]
            if self._weights is not None:
                pull *= self._weights[block]
            total[key] += np.einsum("pi,i->p", self._features[:, block], pull)
        return total


def _weighed(values: Array, weights: Array | None) -> Array:
    return values if weights is None else np.multiply(values, weights, out=values)


def _log_cosh(size: Array, one_plus_small: Array, weights: Array | None) -> float:
    """Sum of log(2 cosh(eta / 2)) = |eta| / 2 + log(1 + exp(-|eta|))."""
    if weights is not None:
        return float(np.einsum("i,i->", weights, 0.5 * size + np.log(one_plus_small)))
    products = np.multiply.reduceat(one_plus_small, np.arange(0, len(size), CHUNK))
    return float(0.5 * size.sum() + np.log(products).sum())

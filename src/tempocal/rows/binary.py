"""Sums over rows of a binary model: one sigmoid of a linear combination of features.

With ``eta = theta . x`` and a target t in [0, 1], the loss of a row is::

    softplus(eta) - t * eta  =  log(2 cosh(eta / 2))  +  (1/2 - t) * eta

The first part is even in eta and knows nothing of the target; the second is linear, and its sum
over rows is one vector, computed once. So a pass reads the features alone.
"""

from typing import Self

import numpy as np

from tempocal.inputs import Codes
from tempocal.links import Array, sigmoid
from tempocal.rows.sums import LOG2_E, Layout, Sums, stride, sum_by_group

BLOCK = 8192
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
        loss = np.einsum("kp,kp->k", theta, self._linear)
        gradient = self._linear.copy()
        curvature = np.zeros((self.n_keys, self.n_coefficients, self.n_coefficients))
        for key, block in self._layout.blocks(BLOCK):
            x = self._features[:, block]
            w = None if self._weights is None else self._weights[block]
            eta = theta[key] @ x
            size = np.abs(eta)
            small = np.exp2(size * -LOG2_E)
            one_plus_small = small + 1.0
            loss[key] += _sum_even(size, one_plus_small, w)
            inverse = np.reciprocal(one_plus_small, out=one_plus_small)
            # sigmoid(eta) - 1/2 has the sign of eta and the size sigmoid(|eta|) - 1/2.
            slope = np.copysign(inverse - 0.5, eta)
            if w is not None:
                slope *= w
            gradient[key] += x @ slope
            if hessian:
                variance = small * inverse * inverse
                if w is not None:
                    variance *= w
                curvature[key] += (x * variance) @ x.T
        return Sums(loss, gradient, curvature if hessian else None)

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
            total[key] += self._features[:, block] @ pull
        return total


def _sum_even(size: Array, one_plus_small: Array, weights: Array | None) -> float:
    """Sum of log(2 cosh(eta / 2)) = |eta| / 2 + log(1 + exp(-|eta|))."""
    if weights is not None:
        return float(0.5 * (weights @ size) + weights @ np.log(one_plus_small))
    starts = np.arange(0, len(size), CHUNK)
    products = np.multiply.reduceat(one_plus_small, starts)
    return float(0.5 * size.sum() + np.log(products).sum())

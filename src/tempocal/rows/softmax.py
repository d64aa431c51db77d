"""Sums over rows of softmax models: one coefficient for all classes, or several for each class.

The loss of a row with label y is ``logsumexp(eta) - eta[y]``. The two are subtracted row by row,
since each can be huge where a logit masks a class.

Arrays are laid out (classes, rows) and (features, rows), so that every sum over the few classes
runs along whole rows of memory.
"""

from collections.abc import Iterable
from typing import Self

import numpy as np

from tempocal.inputs import Codes
from tempocal.links import Array
from tempocal.rows.sums import LOG2_E, Block, Layout, Sums, stride, sum_by_group
from tempocal.rows.threads import sum_blocks

# Numbers in the largest temporary array of a block: it stays in the second-level cache.
BLOCK_NUMBERS = 2**18


class _SoftmaxRows:
    """What the two softmax models share: rows in order of their keys, and the softmax itself."""

    n_coefficients: int

    def __init__(
        self,
        features: Array,
        labels: Codes,
        weights: Array | None,
        keys: Codes | None,
        n_keys: int,
    ) -> None:
        self._layout = Layout.of(keys, n_keys, len(labels))
        order = self._layout.order
        self._features = np.ascontiguousarray(self._layout.sort(features))
        self._labels = labels if order is None else labels[order]
        self._weights = None if weights is None else self._layout.sort(weights)
        self.n_keys = n_keys
        self.total_weight = float(len(labels) if weights is None else weights.sum())

    def _weigh(self, values: Array, block: slice) -> Array:
        if self._weights is None:
            return values
        return np.asarray(values * self._weights[block], dtype=np.float64)

    def _sampled(self, size: int) -> tuple[Array, Codes, Array | None]:
        step = stride(len(self._labels), size)
        weights = None if self._weights is None else self._weights[::step]
        return self._features[:, ::step], self._labels[::step], weights


class SharedRows(_SoftmaxRows):
    """Softmax of the logits times one coefficient: temperature scaling.

    Parameters
    ----------
    logits : ndarray of shape (classes, n)
        Logits, a row for each class.
    labels : ndarray of shape (n,)
        Codes of the true classes.
    weights, keys, n_keys
        As for `BinaryRows`.
    """

    def __init__(
        self,
        logits: Array,
        labels: Codes,
        *,
        weights: Array | None = None,
        keys: Codes | None = None,
        n_keys: int = 1,
    ) -> None:
        # Softmax does not see a shift of a row, but rounding does: measure from the top class.
        super().__init__(logits - logits.max(axis=0), labels, weights, keys, n_keys)
        self.n_coefficients = 1
        self._size = max(1, BLOCK_NUMBERS // len(logits))
        self._true = self._features[self._labels, np.arange(len(labels))]

    def sums(self, theta: Array, *, hessian: bool = True) -> Sums:
        """Negative log likelihood and derivatives at ``theta`` of shape (keys, 1)."""
        return sum_blocks(
            self._layout.blocks(self._size), lambda blocks: self._sum(theta, blocks, hessian)
        )

    def _sum(self, theta: Array, blocks: Iterable[Block], hessian: bool) -> Sums:
        total = Sums.zeros(self.n_keys, 1, hessian=hessian)
        for key, block in blocks:
            z, true = self._features[:, block], self._true[block]
            log_total, p = _softmax(theta[key, 0] * z)
            total.loss[key] += self._weigh(log_total - theta[key, 0] * true, block).sum()
            pz = p * z
            mean = pz.sum(axis=0)
            total.gradient[key] += self._weigh(mean - true, block).sum()
            if total.hessian is not None:
                variance = np.einsum("ki,ki->i", pz, z) - mean * mean
                total.hessian[key] += self._weigh(variance, block).sum()
        return total

    def group_gradients(self, theta: Array, codes: Codes, count: int) -> Array:
        """Gradient summed over the rows of each group, of shape (groups, 1)."""
        codes = codes if self._layout.order is None else codes[self._layout.order]
        total = np.zeros((count, 1))
        for key, block in self._layout.blocks(self._size):
            z = self._features[:, block]
            _, p = _softmax(theta[key, 0] * z)
            residual = (p * z).sum(axis=0) - self._true[block]
            total += sum_by_group(self._weigh(residual, block)[None], codes[block], count)
        return total

    def sample(self, size: int) -> Self:
        """About ``size`` of the rows under a single key, evenly spaced; all, if no more."""
        logits, labels, weights = self._sampled(size)
        return type(self)(logits, labels, weights=weights)


class PerClassRows(_SoftmaxRows):
    """Softmax of ``eta_k = theta_k . x_k``: vector, matrix and Dirichlet calibration.

    Parameters
    ----------
    features : ndarray of shape (classes, n) or (features, n)
        With ``diagonal``, one feature for each class, which only that class sees; else all classes
        see all features. A constant is added as the last feature of every class.
    labels : ndarray of shape (n,)
        Codes of the true classes.
    n_classes : int
        Number of classes.
    diagonal : bool
        Whether each class sees its own feature only.
    weights, keys, n_keys
        As for `BinaryRows`.

    Notes
    -----
    The coefficients of a key are those of a (classes, features per class) matrix, row by row; the
    last column holds the biases.
    """

    def __init__(
        self,
        features: Array,
        labels: Codes,
        n_classes: int,
        *,
        diagonal: bool,
        weights: Array | None = None,
        keys: Codes | None = None,
        n_keys: int = 1,
    ) -> None:
        super().__init__(features, labels, weights, keys, n_keys)
        self._n_classes = n_classes
        self._diagonal = diagonal
        self._shape = (n_classes, 2 if diagonal else len(features) + 1)
        self.n_coefficients = self._shape[0] * self._shape[1]

    def sums(self, theta: Array, *, hessian: bool = True) -> Sums:
        """Negative log likelihood and derivatives at ``theta`` of shape (keys, coefficients)."""
        total = Sums.zeros(self.n_keys, self.n_coefficients, hessian=hessian)
        # No threads of ours: matrix products have their own.
        for key, block in self._layout.blocks(self._block_size(hessian)):
            x = self._features[:, block]
            loss, p = self._loss(theta[key], block)
            total.loss[key] += self._weigh(loss, block).sum()
            total.gradient[key] += self._project(self._residual(p, block), x)
            if total.hessian is not None:
                total.hessian[key] += self._curvature(p, block)
        return total

    def group_gradients(self, theta: Array, codes: Codes, count: int) -> Array:
        """Gradient summed over the rows of each group, of shape (groups, coefficients)."""
        codes = codes if self._layout.order is None else codes[self._layout.order]
        total = np.zeros((count, self.n_coefficients))
        for key, block in self._layout.blocks(self._block_size(hessian=True)):
            features = self._per_class(self._features[:, block])
            residual = self._residual(self._loss(theta[key], block)[1], block)
            rows = (residual[:, None] * features).reshape(self.n_coefficients, -1)
            total += sum_by_group(rows, codes[block], count)
        return total

    def sample(self, size: int) -> Self:
        """About ``size`` of the rows under a single key, evenly spaced; all, if no more."""
        features, labels, weights = self._sampled(size)
        return type(self)(
            features, labels, self._n_classes, diagonal=self._diagonal, weights=weights
        )

    def _loss(self, theta: Array, block: slice) -> tuple[Array, Array]:
        """Loss of each row and probabilities (classes, rows)."""
        eta, labels = self._eta(theta, self._features[:, block]), self._labels[block]
        log_total, p = _softmax(eta)
        return log_total - eta[labels, np.arange(len(labels))], p

    def _residual(self, p: Array, block: slice) -> Array:
        """Weighted derivative of the loss by eta, (classes, rows)."""
        labels, residual = self._labels[block], p.copy()
        residual[labels, np.arange(len(labels))] -= 1.0
        return self._weigh(residual, block)

    def _eta(self, theta: Array, x: Array) -> Array:
        matrix = theta.reshape(self._shape)
        if self._diagonal:
            return matrix[:, :1] * x + matrix[:, 1:]
        return np.asarray(matrix[:, :-1] @ x + matrix[:, -1:], dtype=np.float64)

    def _project(self, values: Array, x: Array) -> Array:
        """Sum over rows of ``values_k * x_k``, as coefficients."""
        slopes = np.einsum("ki,ki->k", values, x)[:, None] if self._diagonal else values @ x.T
        return np.concatenate([slopes, values.sum(axis=1, keepdims=True)], axis=1).ravel()

    def _per_class(self, x: Array) -> Array:
        """Features as each class sees them: (classes or 1, features per class, rows)."""
        ones = np.ones((len(x) if self._diagonal else 1, x.shape[1]))
        return np.stack([x, ones], axis=1) if self._diagonal else np.concatenate([x, ones])[None]

    def _curvature(self, p: Array, block: slice) -> Array:
        """Sum over rows of ``(diag(p) - p p')`` with the features of each class on both sides."""
        features = self._per_class(self._features[:, block])
        n_classes, width = self._shape
        # The product of a matrix with its own transpose takes half the work of any other.
        root = p if self._weights is None else p * np.sqrt(self._weights[block])
        outer = (root[:, None] * features).reshape(self.n_coefficients, -1)
        total = -(outer @ outer.T)
        weighted = self._weigh(p, block)
        for k in range(n_classes):
            own, seen = slice(k * width, (k + 1) * width), features[k if self._diagonal else 0]
            total[own, own] += (weighted[k] * seen) @ seen.T
        return total

    def _block_size(self, hessian: bool) -> int:
        return max(64, BLOCK_NUMBERS // (self.n_coefficients if hessian else self._n_classes))


def _softmax(eta: Array) -> tuple[Array, Array]:
    """Log of the normalizer (rows,) and probabilities (classes, rows)."""
    top = eta.max(axis=0)
    p = np.exp2((eta - top) * LOG2_E)
    total = p.sum(axis=0)
    p /= total
    return top + np.log(total), p

"""Sums over rows of a softmax model with several coefficients per class."""

from collections.abc import Iterator
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from tempocal.inputs import Codes
from tempocal.kernels import native
from tempocal.lazy import cached
from tempocal.links import Array, Floats
from tempocal.rows.compiled import per_class_sums
from tempocal.rows.in_memory import StoredRows
from tempocal.rows.key_layout import Block
from tempocal.rows.products import apply_matrices, sum_outer
from tempocal.rows.softmax_shared import BLOCK_NUMBERS, one_hot, softmax
from tempocal.rows.sums import Sums

# With more coefficients, BLAS is faster, whose products are blocked for every level of the cache.
MAX_COMPILED = 300


class PerClassRows(StoredRows):
    """Softmax of ``eta_k = theta_k . x_k``: vector, matrix and Dirichlet calibration.

    Parameters
    ----------
    features : ndarray of shape (classes, n) or (features, n)
        With ``diagonal``, one feature per class, used by that class only; else all classes use all
        features. A constant is added as the last feature of every class.
    labels : ndarray of shape (n,)
        Codes of the true classes.
    n_classes : int
        Number of classes.
    diagonal : bool
        Whether each class uses its own feature only.
    weights, keys, n_keys
        As for `BinaryRows`.

    Notes
    -----
    The coefficients of a key are those of a (classes, features per class) matrix, row by row; the
    last column holds the biases.
    """

    def __init__(
        self,
        features: Floats,
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
        theta = self._layout.of_present(theta)
        if native is not None and self.n_coefficients <= MAX_COMPILED:
            return self._layout.for_all_keys(self._compiled(theta, hessian))
        total = self._zeros(hessian)
        # No threads here: BLAS has its own.
        for block in self._layout.blocks(self._block_size(hessian)):
            total.add(block.keys, self._sum(theta, block, hessian))
        return self._layout.for_all_keys(total)

    def _compiled(self, theta: Array, hessian: bool) -> Sums:
        is_sorted = self._layout.unsorted_keys is None
        return per_class_sums(
            self._input_features if is_sorted else self._features,
            self._codes,
            self._weights,
            theta,
            self._layout.offsets,
            diagonal=self._diagonal,
            hessian=hessian,
        )

    @cached
    def _codes(self) -> NDArray[np.int64]:
        return np.ascontiguousarray(self._targets, dtype=np.int64)

    @cached
    def mean_squares(self) -> Array:
        """Diagonal of the Hessian at theta = 0, times 4 and divided by the total weight.

        There every class has probability 1 / K, and the diagonal is p (1 - p) times the mean
        squares of the features.
        """
        share = 1.0 / self._n_classes
        own = self._feature_mean_squares()
        slopes = own[:, None] if self._diagonal else np.tile(own, (self._n_classes, 1))
        squares = np.concatenate([slopes, np.ones((self._n_classes, 1))], axis=1)
        return 4.0 * share * (1.0 - share) * squares.ravel()

    def _sum(self, theta: Array, block: Block, hessian: bool) -> Sums:
        loss, p = self._loss(theta, block)
        gradient = self._project(self._residual(p, block), block)
        curvature = self._curvature(p, block) if hessian else None
        return Sums(block.sum(self._weigh(loss, block.rows)), gradient, curvature)

    def forecasts(self, theta: Array) -> Array:
        """Probabilities at ``theta`` in input order: (classes, n)."""
        keys, matrices = self._input_keys, theta.reshape(-1, *self._shape)
        # One row after the other in memory for each class, which is quicker to sum over classes.
        eta = np.take(matrices[:, :, -1].T, keys, axis=1)
        for k, x in enumerate(self._input_features):
            if self._diagonal:
                eta[k] += matrices[:, k, 0][keys] * x
            else:
                eta += np.take(matrices[:, :, k].T, keys, axis=1) * x
        return softmax(eta)[1]

    def outcomes(self) -> Array:
        """Targets in input order: (classes, n)."""
        return one_hot(self._input_targets, self._n_classes)

    def feature(self, coefficient: int) -> tuple[slice, Floats]:
        """Which linear predictors a coefficient of the key enters, and what it multiplies there."""
        k, position = divmod(coefficient, self._shape[1])
        own = slice(k, k + 1)
        if position == self._shape[1] - 1:
            return own, np.ones((1, self.n_rows))
        return own, self._input_features[own if self._diagonal else slice(position, position + 1)]

    def _row_gradients(self, theta: Array) -> Iterator[Array]:
        residual = np.empty((self._n_classes, len(self._targets)))
        for block in self._layout.blocks(self._block_size(hessian=False)):
            residual[:, block.rows] = self._residual(self._loss(theta, block)[1], block)
        for k, own in enumerate(residual):
            for x in self._features[k : k + 1] if self._diagonal else self._features:
                yield own * x
            yield own

    def _like(self, features: Floats, targets: NDArray[Any], **common: Any) -> Self:
        return type(self)(features, targets, self._n_classes, diagonal=self._diagonal, **common)

    def _loss(self, theta: Array, block: Block) -> tuple[Array, Array]:
        """Loss of each row and probabilities (classes, rows)."""
        eta, labels = self._eta(theta, block), self._targets[block.rows]
        log_total, p = softmax(eta)
        return log_total - eta[labels, np.arange(len(labels))], p

    def _residual(self, p: Array, block: Block) -> Array:
        """Weighted derivative of the loss with respect to eta, (classes, rows)."""
        labels, residual = self._targets[block.rows], p.copy()
        residual[labels, np.arange(len(labels))] -= 1.0
        return self._weigh(residual, block.rows)

    def _eta(self, theta: Array, block: Block) -> Array:
        x, matrices = self._features[:, block.rows], theta[block.keys].reshape(-1, *self._shape)
        biases = block.spread(matrices[:, :, -1].T)
        if self._diagonal:
            return np.asarray(block.spread(matrices[:, :, 0].T) * x + biases)
        return apply_matrices(matrices[:, :, :-1], x, block) + biases

    def _project(self, values: Array, block: Block) -> Array:
        """Sum over the rows of each key of ``values_k * x_k``, as coefficients."""
        x, biases = self._features[:, block.rows], block.sum(values).T[:, :, None]
        if not self._diagonal:
            slopes = sum_outer(values, x, block)
        elif block.is_one_key:
            slopes = np.einsum("ki,ki->k", values, x)[None, :, None]
        else:
            slopes = block.sum(values * x).T[:, :, None]
        return np.concatenate([slopes, biases], axis=2).reshape(-1, self.n_coefficients)

    def _per_class(self, x: Floats) -> Array:
        """Features of each class: (classes or 1, features per class, rows)."""
        ones = np.ones((len(x) if self._diagonal else 1, x.shape[1]))
        return np.stack([x, ones], axis=1) if self._diagonal else np.concatenate([x, ones])[None]

    def _curvature(self, p: Array, block: Block) -> Array:
        """Sum of ``(diag(p) - p p')`` with the features of each class on both sides, by key."""
        features = self._per_class(self._features[:, block.rows])
        n_classes, width = self._shape
        # A matrix times its own transpose is half the work of a general product.
        root = p if self._weights is None else p * np.sqrt(self._weights[block.rows])
        outer = (root[:, None] * features).reshape(self.n_coefficients, -1)
        total = -sum_outer(outer, outer, block)
        weighted = self._weigh(p, block.rows)
        for k in range(n_classes):
            own, x = slice(k * width, (k + 1) * width), features[k if self._diagonal else 0]
            total[:, own, own] += sum_outer(weighted[k] * x, x, block)
        return total

    def _block_size(self, hessian: bool) -> int:
        return max(64, BLOCK_NUMBERS // (self.n_coefficients if hessian else self._n_classes))

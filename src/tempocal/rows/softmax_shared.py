"""Sums over rows of a softmax model with one coefficient for all classes.

The loss of a row with label y is ``logsumexp(eta) - eta[y]``. The two are subtracted row by row,
since each can be huge where a logit masks a class.

Arrays are laid out (classes, rows) and (features, rows), so that every sum over the few classes
runs along contiguous memory.
"""

from collections.abc import Iterator
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from tempocal.inputs import Codes
from tempocal.kernels import native
from tempocal.links import Array, Floats
from tempocal.rows.compiled import shared_sums
from tempocal.rows.in_memory import StoredRows
from tempocal.rows.key_layout import Block
from tempocal.rows.parallel_blocks import sum_blocks
from tempocal.rows.sums import LOG2_E, Sums
from tempocal.rows.unsorted import unsorted_sums

# Numbers in the largest temporary array of a block: it stays in the second-level cache.
BLOCK_NUMBERS = 2**18


class SharedRows(StoredRows):
    """Softmax of the logits times one coefficient: temperature scaling.

    Parameters
    ----------
    logits : ndarray of shape (classes, n)
        Logits, a row for each class: float64, or float32 with the compiled loops.
    labels : ndarray of shape (n,)
        Codes of the true classes.
    weights, keys, n_keys
        As for `BinaryRows`.

    Notes
    -----
    The largest logit of a row is subtracted from all of them when they are read, which changes
    nothing but rounding.
    """

    def __init__(
        self,
        logits: Floats,
        labels: Codes,
        *,
        weights: Array | None = None,
        keys: Codes | None = None,
        n_keys: int = 1,
    ) -> None:
        labels = np.ascontiguousarray(labels, dtype=np.int64)
        super().__init__(logits, labels, weights, keys, n_keys)
        self.n_coefficients = 1
        self._size = max(1, BLOCK_NUMBERS // len(logits))

    def sums(self, theta: Array, *, hessian: bool = True) -> Sums:
        """Negative log likelihood and derivatives at ``theta`` of shape (keys, 1)."""
        layout = self._layout
        if native is not None and layout.unsorted_keys is not None:
            return unsorted_sums(*self._inputs, layout, theta, order=2 if hessian else 1)
        theta = layout.of_present(theta)
        if native is not None:
            z, weights, labels = self._inputs
            total = shared_sums(z, labels, weights, theta, layout.offsets, hessian=hessian)
        else:
            total = sum_blocks(
                layout.blocks(self._size),
                lambda block: self._sum(theta, block, hessian),
                self._zeros(hessian),
            )
        return layout.for_all_keys(total)

    @property
    def _inputs(self) -> tuple[Floats, Array | None, NDArray[Any]]:
        return self._input_features, self._input_weights, self._input_targets

    def _sum(self, theta: Array, block: Block, hessian: bool) -> Sums:
        z, true = _subtract_top(self._features[:, block.rows], self._targets[block.rows])
        slope = block.spread(theta[block.keys, 0])
        log_total, p = softmax(slope * z)
        loss = self._sum_weighted(log_total - slope * true, block)
        pz = np.multiply(p, z, out=p)
        mean = pz.sum(axis=0)
        gradient = self._sum_weighted(mean - true, block)[:, None]
        if not hessian:
            return Sums(loss, gradient, None)
        variance = np.einsum("ki,ki->i", pz, z) - mean * mean
        return Sums(loss, gradient, self._sum_weighted(variance, block)[:, None, None])

    def forecasts(self, theta: Array) -> Array:
        """Probabilities at ``theta`` in input order: (classes, n)."""
        return softmax(theta[self._input_keys, 0] * self._input_features)[1]

    def outcomes(self) -> Array:
        """Targets in input order: (classes, n)."""
        return one_hot(self._input_targets, len(self._input_features))

    def feature(self, coefficient: int) -> tuple[slice, Floats]:
        """Which linear predictors a coefficient of the key enters, and what it multiplies there."""
        return slice(None), self._input_features

    def _row_gradients(self, theta: Array) -> Iterator[Array]:
        residual = np.empty(len(self._targets))
        for block in self._layout.blocks(self._size):
            rows = block.rows
            z, true = _subtract_top(self._features[:, rows], self._targets[rows])
            _, p = softmax(block.spread(theta[block.keys, 0]) * z)
            residual[rows] = self._weigh((p * z).sum(axis=0) - true, rows)
        yield residual

    def _like(self, features: Floats, targets: NDArray[Any], **common: Any) -> Self:
        return type(self)(features, targets, **common)

    def _sum_weighted(self, values: Array, block: Block) -> Array:
        return block.sum(self._weigh(values, block.rows))


def _subtract_top(logits: Floats, labels: NDArray[Any]) -> tuple[Array, Array]:
    """Logits (classes, rows) less the largest of the row, and that of the label (rows,)."""
    z = np.ascontiguousarray(logits, dtype=np.float64)
    z = z - z.max(axis=0)
    return z, np.take_along_axis(z, labels[None], axis=0)[0]


def softmax(eta: Array) -> tuple[Array, Array]:
    """Log of the normalizer (rows,) and probabilities (classes, rows)."""
    top = eta.max(axis=0)
    p = np.exp2((eta - top) * LOG2_E)
    total = p.sum(axis=0)
    p /= total
    return top + np.log(total), p


def one_hot(labels: NDArray[Any], n_classes: int) -> Array:
    """Targets (classes, rows): 1 for the class of a row, else 0."""
    return np.asarray(labels == np.arange(n_classes)[:, None], dtype=np.float64)

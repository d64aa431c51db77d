"""Sums over rows of a softmax model with one coefficient for all classes."""

from collections.abc import Iterator
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from tempocal.inputs import Codes
from tempocal.kernels import native
from tempocal.kernels.cores import map_on_cores
from tempocal.links import Array, Floats
from tempocal.rows.compiled import shared_sums
from tempocal.rows.layout import Block
from tempocal.rows.softmax import BLOCK_NUMBERS, softmax
from tempocal.rows.stored import StoredRows
from tempocal.rows.sums import Sums
from tempocal.rows.threads import sum_blocks


class SharedRows(StoredRows):
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
        measured, true = _from_top(logits, labels)
        super().__init__(measured, labels, weights, keys, n_keys)
        self.n_coefficients = 1
        self._size = max(1, BLOCK_NUMBERS // len(logits))
        self._true = np.ascontiguousarray(self._layout.sort(true))

    def sums(self, theta: Array, *, hessian: bool = True) -> Sums:
        """Negative log likelihood and derivatives at ``theta`` of shape (keys, 1)."""
        theta = self._layout.of_present(theta)
        # With theta below 0 the top class is another, from which the loops do not measure.
        if native is not None and bool((theta >= 0.0).all()):
            offsets = self._layout.offsets
            total = shared_sums(
                self._features, self._true, self._weights, theta, offsets, hessian=hessian
            )
        else:
            total = sum_blocks(
                self._layout.blocks(self._size),
                lambda block: self._sum(theta, block, hessian),
                self._zeros(hessian),
            )
        return self._layout.for_all_keys(total)

    def _sum(self, theta: Array, block: Block, hessian: bool) -> Sums:
        z, true = self._features[:, block.rows], self._true[block.rows]
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

    def _row_gradients(self, theta: Array) -> Iterator[Array]:
        residual = np.empty(len(self._true))
        for block in self._layout.blocks(self._size):
            rows, z = block.rows, self._features[:, block.rows]
            _, p = softmax(block.spread(theta[block.keys, 0]) * z)
            residual[rows] = self._weigh((p * z).sum(axis=0) - self._true[rows], rows)
        yield residual

    def _like(self, features: Floats, targets: NDArray[Any], **common: Any) -> Self:
        return type(self)(features.astype(np.float64, copy=False), targets, **common)

    def _sum_weighted(self, values: Array, block: Block) -> Array:
        return block.sum(self._weigh(values, block.rows))


def _from_top(logits: Array, labels: Codes) -> tuple[Array, Array]:
    """Measure logits (classes, n) from the top class, which only rounding sees; and the label's."""
    n_classes, n = logits.shape
    size = max(1, BLOCK_NUMBERS // n_classes)
    found, true = np.empty((n_classes, n)), np.empty(n)
    labels = np.ascontiguousarray(labels, dtype=np.int64)

    def work(start: int) -> None:
        rows = slice(start, start + size)
        if native is not None:
            # Logits lie row by row, as a rule.
            block = np.ascontiguousarray(logits[:, rows].T, dtype=np.float64)
            native.from_top(block, labels[rows], found[:, rows], true[rows])
            return
        np.subtract(logits[:, rows], logits[:, rows].max(axis=0), out=found[:, rows])
        true[rows] = np.take_along_axis(found[:, rows], labels[None, rows], axis=0)[0]

    map_on_cores(work, range(0, n, size))
    return found, true

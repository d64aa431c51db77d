"""Sums over rows of a softmax model with one coefficient for all classes."""

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
from tempocal.rows.softmax import BLOCK_NUMBERS, softmax
from tempocal.rows.sums import Sums
from tempocal.rows.unsorted import swept_sums


class SharedRows(StoredRows):
    """Softmax of the logits times one coefficient: temperature scaling.

    Parameters
    ----------
    logits : ndarray of shape (classes, n)
        Logits, a row for each class: doubles, or floats where there are the compiled loops.
    labels : ndarray of shape (n,)
        Codes of the true classes.
    weights, keys, n_keys
        As for `BinaryRows`.

    Notes
    -----
    Logits of a row are measured from the top class whenever they are read, which only rounding
    sees.
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
        if native is not None and layout.keys_as_they_came is not None:
            return swept_sums(*self._as_they_came, layout, theta, hessian=hessian)
        theta = layout.of_present(theta)
        if native is not None:
            z, weights, labels = self._as_they_came
            total = shared_sums(z, labels, weights, theta, layout.offsets, hessian=hessian)
        else:
            total = sum_blocks(
                layout.blocks(self._size),
                lambda block: self._sum(theta, block, hessian),
                self._zeros(hessian),
            )
        return layout.for_all_keys(total)

    @property
    def _as_they_came(self) -> tuple[Floats, Array | None, NDArray[Any]]:
        return (
            self._features_as_they_came,
            self._weights_as_they_came,
            self._targets_as_they_came,
        )

    def _sum(self, theta: Array, block: Block, hessian: bool) -> Sums:
        z, true = _from_top(self._features[:, block.rows], self._targets[block.rows])
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
        residual = np.empty(len(self._targets))
        for block in self._layout.blocks(self._size):
            rows = block.rows
            z, true = _from_top(self._features[:, rows], self._targets[rows])
            _, p = softmax(block.spread(theta[block.keys, 0]) * z)
            residual[rows] = self._weigh((p * z).sum(axis=0) - true, rows)
        yield residual

    def _like(self, features: Floats, targets: NDArray[Any], **common: Any) -> Self:
        return type(self)(features, targets, **common)

    def _sum_weighted(self, values: Array, block: Block) -> Array:
        return block.sum(self._weigh(values, block.rows))


def _from_top(logits: Floats, labels: NDArray[Any]) -> tuple[Array, Array]:
    """Logits (classes, rows) measured from the top class, and that of the label (rows,)."""
    z = np.ascontiguousarray(logits, dtype=np.float64)
    z = z - z.max(axis=0)
    return z, np.take_along_axis(z, labels[None], axis=0)[0]

"""Sums by key over rows in any order, without a sorted copy of them.

One part of the rows at a time is sorted into a buffer that stays in the cache, and summed there.
Repeating that in every pass takes no longer than writing a sorted copy of all rows once, which
would need a third more memory than the rows themselves.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tempocal.kernels import native
from tempocal.links import Array, Floats
from tempocal.rows.key_layout import KeyLayout
from tempocal.rows.sums import Sums


def _fill_sums(
    features: Floats,
    weights: Array | None,
    labels: NDArray[np.int64] | None,
    layout: KeyLayout,
    theta: Array,
    *out: Array | None,
) -> None:
    """Fill in the sums of each part and key, (parts, keys), with one coefficient per key.

    With labels they are those of a softmax, else those of log(2 cosh(eta / 2)).
    """
    coefficients = np.ascontiguousarray(theta[:, 0])
    keys, bounds = layout.unsorted_keys, layout.bounds
    native.unsorted_sums(features, weights, labels, keys, bounds, coefficients, *out)


def unsorted_sums(
    features: Floats,
    weights: Array | None,
    labels: NDArray[np.int64] | None,
    layout: KeyLayout,
    theta: Array,
    *,
    hessian: bool,
) -> Sums:
    """Sum losses and derivatives over the rows of each key."""
    loss, gradient = np.zeros((2, *layout.counts.shape))
    curvature = np.zeros_like(loss) if hessian else None
    _fill_sums(features, weights, labels, layout, theta, loss, gradient, curvature)
    return Sums(
        loss.sum(axis=0),
        gradient.sum(axis=0)[:, None],
        None if curvature is None else curvature.sum(axis=0)[:, None, None],
    )


@dataclass(frozen=True)
class UnsortedRows:
    """Binary rows with one feature, in input order."""

    features: Floats  # (1, n)
    weights: Array | None
    layout: KeyLayout

    def sums(self, theta: Array, *, hessian: bool) -> Sums:
        """Sum log(2 cosh(eta / 2)) and its derivatives over the rows of each key."""
        return unsorted_sums(self.features, self.weights, None, self.layout, theta, hessian=hessian)

    def losses(self, theta: Array) -> Array:
        """Sum log(2 cosh(eta / 2)) over the rows of each key: (keys,)."""
        loss = np.zeros(self.layout.counts.shape)
        _fill_sums(self.features, self.weights, None, self.layout, theta, loss, None, None)
        return np.asarray(loss.sum(axis=0))

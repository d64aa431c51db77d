"""Sums by key over rows in any order, without a sorted copy of them.

One part of the rows at a time is sorted into a buffer that stays in the cache, and summed there.
Repeating that in every pass takes no longer than writing a sorted copy of all rows once, which
would need a third more memory than the rows themselves.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tempocal.inputs import Codes
from tempocal.kernels import native
from tempocal.kernels.key_counts import MIN_PARTS, PART
from tempocal.links import Array, Floats
from tempocal.rows.key_layout import KeyLayout
from tempocal.rows.moment_matching import Moments
from tempocal.rows.sums import Sums

# Parts of the rows that have a table of cells each: at most this many parts, about this many rows
# per cell, and this many cells in all tables together are always acceptable.
MAX_TABLES, ROWS_PER_CELL, SMALL_TABLES = 32, 32, 2**19


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
    targets: NDArray[Any]  # integers, unless there are weights
    weights: Array | None
    layout: KeyLayout

    @property
    def feature(self) -> Floats:
        """The feature of each row."""
        row: Floats = self.features[0]
        return row

    def sums(self, theta: Array, *, hessian: bool) -> Sums:
        """Sum log(2 cosh(eta / 2)) and its derivatives over the rows of each key."""
        return unsorted_sums(self.features, self.weights, None, self.layout, theta, hessian=hessian)

    def losses(self, theta: Array) -> Array:
        """Sum log(2 cosh(eta / 2)) over the rows of each key: (keys,)."""
        loss = np.zeros(self.layout.counts.shape)
        _fill_sums(self.features, self.weights, None, self.layout, theta, loss, None, None)
        return np.asarray(loss.sum(axis=0))

    def moments(self, cells: int, scale: float) -> Moments:
        """Sum moments in cells of ``|x|``, which needs no sorting.

        Without weights the linear term is summed in the same pass.
        """
        x, keys, n_keys = self.feature, self.layout.unsorted_keys, self.layout.n_keys
        # One more cell is for rows beyond the last.
        table_size = n_keys * (cells + 1)
        n_tables = max(
            len(x) // (ROWS_PER_CELL * table_size), min(MIN_PARTS, SMALL_TABLES // table_size), 1
        )
        n_tables = min(n_tables, MAX_TABLES, -(-len(x) // PART))
        sums = np.zeros((n_tables, n_keys, cells + 1, 4))
        labels = self.targets if self.weights is None else None
        native.cells_by_key(x, labels, self.weights, keys, np.array([scale]), sums)
        total = sums[0] if n_tables == 1 else sums.sum(axis=0)
        inside, fourth = total[:, :-1], total[..., 3]
        if labels is None:
            return Moments(inside, int(inside[..., 3].sum()), None)
        return Moments(inside, int(inside[..., 0].sum()), fourth.sum(axis=1))

    def keys_of(self, rows: Codes) -> Codes:
        """Keys of the given rows."""
        assert self.layout.unsorted_keys is not None
        return self.layout.unsorted_keys[rows].astype(np.intp)

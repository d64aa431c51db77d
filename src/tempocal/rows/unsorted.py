"""Sums over rows that do not come in the order of their keys, without a sorted copy of them.

A part of the rows is put in order at a time, in a room that stays in the cache, and summed over
there. To do that again in every pass takes no longer than to write a copy of all rows once, which
would be a third more memory than the rows take themselves.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tempocal.inputs import Codes
from tempocal.kernels import native
from tempocal.kernels.key_counts import PART, SOME_PARTS
from tempocal.links import Array, Floats
from tempocal.rows.key_layout import Layout
from tempocal.rows.subsample import Moments
from tempocal.rows.sums import Sums

# Parts of the rows that have cells of their own, rows that are worth a cell, and cells that may be
# there for some cores in any case.
MOST_ROOMS, ROWS_A_CELL, FEW_CELLS = 32, 32, 2**19


def sweep(
    features: Floats,
    weights: Array | None,
    labels: NDArray[np.int64] | None,
    layout: Layout,
    theta: Array,
    *found: Array | None,
) -> None:
    """Fill in the sums of each part and key, (parts, keys), with one coefficient for each key.

    With labels they are those of a softmax, else those of log(2 cosh(eta / 2)).
    """
    at = np.ascontiguousarray(theta[:, 0])
    keys, bounds = layout.keys_as_they_came, layout.bounds
    native.sweep_sums(features, weights, labels, keys, bounds, at, *found)


def swept_sums(
    features: Floats,
    weights: Array | None,
    labels: NDArray[np.int64] | None,
    layout: Layout,
    theta: Array,
    *,
    hessian: bool,
) -> Sums:
    """Sum losses and derivatives over the rows of each key."""
    loss, gradient = np.zeros((2, *layout.counts.shape))
    bend = np.zeros_like(loss) if hessian else None
    sweep(features, weights, labels, layout, theta, loss, gradient, bend)
    return Sums(
        loss.sum(axis=0),
        gradient.sum(axis=0)[:, None],
        None if bend is None else bend.sum(axis=0)[:, None, None],
    )


@dataclass(frozen=True)
class Sweep:
    """Binary rows with one feature, as they came."""

    features: Floats  # (1, n)
    targets: NDArray[Any]  # without weights, whole numbers
    weights: Array | None
    layout: Layout

    @property
    def feature(self) -> Floats:
        """The feature of each row."""
        row: Floats = self.features[0]
        return row

    def sums(self, theta: Array, *, hessian: bool) -> Sums:
        """Sum log(2 cosh(eta / 2)) and its derivatives over the rows of each key."""
        return swept_sums(self.features, self.weights, None, self.layout, theta, hessian=hessian)

    def losses(self, theta: Array) -> Array:
        """Sum log(2 cosh(eta / 2)) over the rows of each key: (keys,)."""
        loss = np.zeros(self.layout.counts.shape)
        sweep(self.features, self.weights, None, self.layout, theta, loss, None, None)
        return np.asarray(loss.sum(axis=0))

    def moments(self, cells: int, scale: float) -> Moments:
        """Count rows in cells of their size, for which they need not be in order at all.

        Without weights labels are summed over in passing.
        """
        x, keys, n_keys = self.feature, self.layout.keys_as_they_came, self.layout.n_keys
        # One more cell is for rows beyond.
        in_all = n_keys * (cells + 1)
        rooms = max(len(x) // (ROWS_A_CELL * in_all), min(SOME_PARTS, FEW_CELLS // in_all), 1)
        rooms = min(rooms, MOST_ROOMS, -(-len(x) // PART))
        found = np.zeros((rooms, n_keys, cells + 1, 4))
        labels = self.targets if self.weights is None else None
        native.cells_by_key(x, labels, self.weights, keys, np.array([scale]), found)
        total = found[0] if rooms == 1 else found.sum(axis=0)
        inside, fourth = total[:, :-1], total[..., 3]
        if labels is None:
            return Moments(inside, int(inside[..., 3].sum()), None)
        return Moments(inside, int(inside[..., 0].sum()), fourth.sum(axis=1))

    def keys_of(self, rows: Codes) -> Codes:
        """Keys of some of the rows."""
        assert self.layout.keys_as_they_came is not None
        return self.layout.keys_as_they_came[rows].astype(np.intp)

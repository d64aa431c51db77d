"""Sums over rows that do not come in the order of their keys, without a sorted copy of them.

A part of the rows is put in order at a time, in a room that stays in the cache, and summed over
there. To do that again in every pass takes no longer than to write a copy of all rows once, which
would be a third more memory than the rows take themselves.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tempocal.inputs import Codes
from tempocal.kernels import native
from tempocal.kernels.cached import cached
from tempocal.kernels.counting import PART, SOME_PARTS
from tempocal.links import Array, Floats
from tempocal.rows.condensed import LEAST_ROWS_A_KEY, Moments
from tempocal.rows.layout import Layout
from tempocal.rows.sums import Sums

# Parts of the rows that have cells of their own, rows that are worth a cell, and cells that may be
# there for some cores in any case.
MOST_ROOMS, ROWS_A_CELL, FEW_CELLS = 32, 32, 2**19


@dataclass(frozen=True)
class Sweep:
    """Binary rows with one feature and no weights, as they came."""

    feature: Floats  # (n,)
    labels: NDArray[np.int64]
    layout: Layout

    @classmethod
    def is_worth_it(cls, layout: Layout) -> bool:
        """Whether rows are in no order, and there are enough of every key that few stand for them.

        With fewer the search goes over the rows themselves, key by key.
        """
        out_of_order = native is not None and layout.keys_as_they_came is not None
        all_there = len(layout.present) == layout.n_keys
        return out_of_order and all_there and layout.n_rows >= LEAST_ROWS_A_KEY * layout.n_keys

    def even_sums(self, theta: Array, *, hessian: bool) -> Sums:
        """Sum log(2 cosh(eta / 2)) and its derivatives over the rows of each key."""
        loss, gradient = np.zeros((2, *self.layout.counts.shape))
        bend = np.zeros_like(loss) if hessian else None
        self._sum(theta, loss, gradient, bend)
        return Sums(
            loss.sum(axis=0),
            gradient.sum(axis=0)[:, None],
            None if bend is None else bend.sum(axis=0)[:, None, None],
        )

    def even_losses(self, theta: Array) -> Array:
        """Sum log(2 cosh(eta / 2)) over the rows of each key: (keys,)."""
        loss = np.zeros(self.layout.counts.shape)
        self._sum(theta, loss, None, None)
        return np.asarray(loss.sum(axis=0))

    def _sum(self, theta: Array, *found: Array | None) -> None:
        """Fill in what is found in each part and under each key."""
        keys = self.layout.keys_as_they_came
        native.sweep_sums(
            self.feature, keys, self._bounds, np.ascontiguousarray(theta[:, 0]), *found
        )

    @cached
    def _bounds(self) -> NDArray[np.int64]:
        """Where the rows of each key lie once a part is in order, and the end of the last."""
        n_parts, n_keys = self.layout.counts.shape
        bounds = np.zeros((n_parts, n_keys + 1), dtype=np.int64)
        np.cumsum(self.layout.counts, axis=1, out=bounds[:, 1:])
        return bounds

    def moments(self, cells: int, scale: float) -> Moments:
        """Count rows in cells of their size, for which they need not be in order at all."""
        x, keys, n_keys = self.feature, self.layout.keys_as_they_came, self.layout.n_keys
        # One more cell is for rows beyond.
        in_all = n_keys * (cells + 1)
        rooms = max(len(x) // (ROWS_A_CELL * in_all), min(SOME_PARTS, FEW_CELLS // in_all), 1)
        rooms = min(rooms, MOST_ROOMS, -(-len(x) // PART))
        found = np.zeros((rooms, n_keys, cells + 1, 4))
        native.cells_by_key(x, self.labels, keys, np.array([scale]), found)
        total = found[0] if rooms == 1 else found.sum(axis=0)
        return Moments(total[:, :-1], int(total[:, :-1, 0].sum()), total[..., 3].sum(axis=1))

    def keys_of(self, rows: Codes) -> Codes:
        """Keys of some of the rows."""
        assert self.layout.keys_as_they_came is not None
        return self.layout.keys_as_they_came[rows].astype(np.intp)

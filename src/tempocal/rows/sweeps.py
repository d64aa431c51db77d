"""Sums over rows that do not come in the order of their keys, without a sorted copy of them.

A part of the rows is put in order at a time, in a room that stays in the cache, and summed over
there. To do that again in every pass takes no longer than to write a copy of all rows once, which
would be a third more memory than the rows take themselves.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tempocal.inputs import Codes
from tempocal.kernels import native
from tempocal.kernels.cores import map_on_cores, run_on_cores, shares
from tempocal.kernels.counting import PART, parts_of
from tempocal.links import Array
from tempocal.rows.condensed import LEAST_ROWS_A_KEY, Moments
from tempocal.rows.layout import Layout
from tempocal.rows.sums import Sums

# Parts of the rows that have cells of their own, and rows that are worth a cell.
MOST_ROOMS, ROWS_A_CELL = 32, 32


@dataclass(frozen=True)
class Sweep:
    """Binary rows with one feature and no weights, as they came."""

    feature: Array  # (n,)
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
        n_parts, n_keys = self.layout.counts.shape
        loss, gradient = np.zeros((n_parts, n_keys)), np.zeros((n_parts, n_keys, 1))
        bend = np.zeros((n_parts, n_keys, 1, 1)) if hessian else None

        def work(part: int, x: Array, bounds: NDArray[np.int64]) -> None:
            own = None if bend is None else bend[part]
            native.even_sums(x[None], None, None, theta, bounds, loss[part], gradient[part], own)

        self._in_order(work)
        return Sums(
            loss.sum(axis=0), gradient.sum(axis=0), None if bend is None else bend.sum(axis=0)
        )

    def even_losses(self, theta: Array) -> Array:
        """Sum log(2 cosh(eta / 2)) over the rows of each key: (keys,)."""
        loss = np.zeros(self.layout.counts.shape)

        def work(part: int, x: Array, bounds: NDArray[np.int64]) -> None:
            native.even_sums(x[None], None, None, theta, bounds, loss[part], None, None)

        self._in_order(work)
        return np.asarray(loss.sum(axis=0))

    def moments(self, cells: int, scale: float) -> Moments:
        """Count rows in cells of their size, for which they need not be in order at all."""
        x, keys, n_keys = self.feature, self.layout.keys_as_they_came, self.layout.n_keys
        assert keys is not None
        # One more cell is for rows beyond.
        room = (n_keys, cells + 1, 4)
        size = max(PART, ROWS_A_CELL * n_keys * (cells + 1), -(-len(x) // MOST_ROOMS))
        found = np.zeros((-(-len(x) // size), *room))

        def work(part: int) -> None:
            rows = slice(part * size, (part + 1) * size)
            own = np.ascontiguousarray(x[rows])
            native.cells_by_key(own, self.labels[rows], keys[rows], np.array([scale]), found[part])

        map_on_cores(work, range(len(found)))
        *_, pulls = total = np.moveaxis(found[0] if len(found) == 1 else found.sum(axis=0), 2, 0)
        inside = total[:3, :, :-1]
        return Moments(inside, int(inside[0].sum()), pulls.sum(axis=1))

    def keys_of(self, rows: Codes) -> Codes:
        """Keys of some of the rows."""
        assert self.layout.keys_as_they_came is not None
        return self.layout.keys_as_they_came[rows].astype(np.intp)

    def _in_order(self, work: Callable[[int, Array, NDArray[np.int64]], None]) -> None:
        """Give every part its number, its rows in the order of their keys, and their bounds."""
        keys, counts, x = self.layout.keys_as_they_came, self.layout.counts, self.feature
        assert keys is not None
        parts = parts_of(len(x), self.layout.n_keys)
        bounds = np.zeros((len(parts), self.layout.n_keys + 1), dtype=np.int64)
        np.cumsum(counts, axis=1, out=bounds[:, 1:])

        def sweep(some: slice) -> None:
            room = np.empty(parts[0].stop)
            for part in range(some.start, some.stop):
                rows = parts[part]
                own = np.ascontiguousarray(x[rows])
                in_order = room[: len(own)]
                native.scatter(own, keys[rows], bounds[part, :-1].copy(), in_order)
                work(part, in_order, bounds[part])

        run_on_cores(sweep, list(shares(len(parts), least=1)))

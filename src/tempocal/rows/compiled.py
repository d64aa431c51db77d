"""Sums over rows by the compiled loops, on all cores, with the same bits whatever their number.

The rows of a key are cut into pieces. Each piece is summed by one thread, and the pieces of a key
are added up in their order.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from tempocal.inputs import Codes
from tempocal.kernels import native
from tempocal.kernels.cores import map_on_cores
from tempocal.kernels.counting import parts_of
from tempocal.links import Array
from tempocal.rows.layout import Layout
from tempocal.rows.sums import Sums

# Most coefficients of a binary model that the loops are compiled for.
MOST_COEFFICIENTS = 3
# Rows of a piece at most.
PIECE = 2**13


@dataclass(frozen=True)
class Pieces:
    """Rows in the order of their keys, cut into pieces."""

    bounds: NDArray[np.int64]  # first row of each piece, and the end of the last
    keys: Codes  # of each piece, among the keys that have rows
    firsts: Codes  # first piece of each key

    @classmethod
    def of(cls, layout: Layout, size: int = PIECE) -> Self:
        """Cut the rows of each key into pieces of at most ``size``."""
        counts = np.diff(layout.offsets)
        n_pieces = -(-counts // size)
        # Of about the same size each, so that no core has more to do than another.
        sizes = -(-counts // n_pieces)
        keys = np.repeat(np.arange(len(counts)), n_pieces)
        firsts = np.cumsum(n_pieces) - n_pieces
        starts = layout.offsets[keys] + sizes[keys] * (np.arange(len(keys)) - firsts[keys])
        return cls(np.append(starts, layout.offsets[-1]).astype(np.int64), keys, firsts)

    def by_key(self, found: Sums) -> Sums:
        """Add up the pieces of each key."""
        if len(self.firsts) == len(self.keys):
            return found
        return Sums(
            np.add.reduceat(found.loss, self.firsts),
            np.add.reduceat(found.gradient, self.firsts),
            None if found.hessian is None else np.add.reduceat(found.hessian, self.firsts),
        )


def even_sums(
    x: Array, weights: Array | None, theta: Array, pieces: Pieces, *, hessian: bool
) -> Sums:
    """Sum log(2 cosh(eta / 2)) and its derivatives over the rows of each key."""
    return _sums(native.even_sums, (x, weights, None), theta, pieces, hessian=hessian)


def even_losses(x: Array, weights: Array | None, theta: Array, pieces: Pieces) -> Array:
    """Sum log(2 cosh(eta / 2)) over the rows of each key: (keys,)."""
    found, theta = np.zeros(len(pieces.keys)), theta[pieces.keys]
    native.even_sums(x, weights, None, theta, pieces.bounds, found, None, None)
    return np.asarray(np.add.reduceat(found, pieces.firsts))


def shared_sums(
    z: Array, true: Array, weights: Array | None, theta: Array, pieces: Pieces, *, hessian: bool
) -> Sums:
    """Sum the loss of a softmax of ``theta * z``, of which ``true`` is that of the label."""
    return _sums(native.shared_sums, (z, weights, true), theta, pieces, hessian=hessian)


def per_class_sums(
    x: Array,
    labels: NDArray[np.int64],
    weights: Array | None,
    theta: Array,
    pieces: Pieces,
    *,
    diagonal: bool,
    hessian: bool,
) -> Sums:
    """Sum the loss of a softmax with several coefficients for each class."""
    loop = native.diagonal_sums if diagonal else native.full_sums
    return _sums(loop, (x, weights, labels), theta, pieces, hessian=hessian)


def linear_sums(
    x: Array,
    targets: NDArray[np.bool_] | Codes | Array,
    weights: Array | None,
    keys: Codes | None,
    n_keys: int,
) -> Array:
    """Sum ``(1/2 - target) x`` over the rows of each key: (keys, coefficients)."""
    parts = parts_of(len(targets), n_keys)
    found = np.zeros((len(x), len(parts), n_keys))
    columns = [
        None if column is None else np.ascontiguousarray(column)
        for column in (targets, weights, keys)
    ]

    def work(part: int) -> None:
        rows = parts[part]
        others = [None if column is None else column[rows] for column in columns]
        for p, row in enumerate(x):
            native.linear_sums(np.ascontiguousarray(row[rows]), *others, found[p, part])

    map_on_cores(work, range(len(parts)))
    return np.asarray(found.sum(axis=1).T)


def pulls(x: Array, labels: Codes, pieces: Pieces) -> Array:
    """Sum ``(1/2 - label) x`` over the rows of each key, in whose order they are."""
    found = np.empty((len(x), len(pieces.keys)))
    for feature, into in zip(x, found, strict=True):
        native.pulls(feature, labels, pieces.bounds, into)
    return np.add.reduceat(found, pieces.firsts, axis=1).T


def descend(
    x: Array, weights: Array | None, pulled: Array, offsets: Codes
) -> tuple[Array, NDArray[np.bool_]]:
    """One coefficient for each key (keys,), next to its optimum by Newton's method.

    ``pulled`` holds what each is multiplied by beside the even part, how it is pulled, the
    identity, and the least that it may be: (4, keys). Also tell where there may be no optimum.
    """
    found, bounds = pulled[2].copy(), offsets.astype(np.int64, copy=False)
    doubts = np.zeros(len(found), dtype=bool)
    native.descend(x, weights, *pulled, bounds, found, doubts)
    return found, doubts


def moments(
    x: Array,
    weights: Array | None,
    pieces: Pieces,
    *,
    cells: int,
    scale: float,
    labels: Codes | None = None,
) -> tuple[Array, int, Array | None]:
    """Sum weight, size and square of rows in cells of their size: (3, keys, cells).

    Also return how many rows that were, the others being beyond the last cell; and, of rows with
    labels and without weights, the sum of ``(1/2 - label) x``: (keys,).
    """
    found = np.zeros((len(pieces.keys), cells, 4))
    pulled = None if labels is None else np.empty(len(pieces.keys))
    native.moments(x, weights, pieces.bounds, np.array([scale]), found, labels, pulled)
    *sums, counts = np.moveaxis(np.add.reduceat(found, pieces.firsts), 2, 0)
    if pulled is not None:
        pulled = np.add.reduceat(pulled, pieces.firsts)
    return np.stack(sums), int(counts.sum()), pulled


def _sums(
    loop: Callable[..., None],
    columns: tuple[NDArray[Any] | None, ...],
    theta: Array,
    pieces: Pieces,
    *,
    hessian: bool,
) -> Sums:
    found = Sums.zeros(len(pieces.keys), theta.shape[1], hessian=hessian)
    if len(pieces.keys):
        at = theta[pieces.keys]
        loop(*columns, at, pieces.bounds, found.loss, found.gradient, found.hessian)
    return pieces.by_key(found)

"""Sums over rows by the compiled loops, on all cores, bit-identical for any number of cores.

Rows are in key order. ``offsets`` are the first row of each key and the end of the last key; every
key has rows.
"""

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tempocal.inputs import Codes
from tempocal.kernels import native
from tempocal.kernels.key_counts import MIN_PARTS, PART, as_keys, parts_of
from tempocal.kernels.thread_pool import map_on_cores, run_on_cores, shares
from tempocal.links import Array, Floats
from tempocal.rows.sums import Sums

# The loops for binary models are compiled for up to this many coefficients.
MAX_COEFFICIENTS = 3
# Most rows of a piece, which one thread sums; of a model with several coefficients per class the
# least such number, and about how many pieces there are.
PIECE, MIN_PIECE, MAX_PIECES = 2**13, 2**12, 64
# Parts of the rows that have a table of cells each: at most this many parts, about this many rows
# per cell, and this many cells in all tables together are always acceptable.
MAX_TABLES, ROWS_PER_CELL, SMALL_TABLES = 32, 32, 2**19


def even_sums(
    x: Floats, weights: Array | None, theta: Array, offsets: Codes, *, hessian: bool
) -> Sums:
    """Sum log(2 cosh(eta / 2)) and its derivatives over the rows of each key."""
    return _sums(native.even_sums, (x, weights), theta, offsets, hessian=hessian)


def even_losses(x: Floats, weights: Array | None, theta: Array, offsets: Codes) -> Array:
    """Sum log(2 cosh(eta / 2)) over the rows of each key: (keys,)."""

    def losses_only(*given: Any) -> None:
        native.even_sums(*given[:-2], None, None)

    return _sums(losses_only, (x, weights), theta, offsets, hessian=False).loss


def shared_sums(
    z: Floats,
    labels: NDArray[np.int64],
    weights: Array | None,
    theta: Array,
    offsets: Codes,
    *,
    hessian: bool,
) -> Sums:
    """Sum the loss of a softmax of ``theta * z``."""
    return _sums(native.shared_sums, (z, weights, labels), theta, offsets, hessian=hessian)


def per_class_sums(
    x: Floats,
    labels: NDArray[np.int64],
    weights: Array | None,
    theta: Array,
    offsets: Codes,
    *,
    diagonal: bool,
    hessian: bool,
) -> Sums:
    """Sum the loss of a softmax with several coefficients per class."""
    loop = native.diagonal_sums if diagonal else native.full_sums
    # Each piece has its own Hessian: enough pieces for all cores, but not more.
    size = max(-(-len(labels) // MAX_PIECES), MIN_PIECE)
    return _sums(loop, (x, weights, labels), theta, offsets, hessian=hessian, piece_size=size)


def linear_terms(
    x: Floats,
    targets: NDArray[np.bool_] | Codes | Array,
    weights: Array | None,
    keys: Codes | None,
    n_keys: int,
) -> Array:
    """Sum ``(1/2 - target) x`` over the rows of each key, in any order: (keys, coefficients)."""

    def sum_part(rows: slice) -> Array:
        sums = np.zeros((len(x), n_keys))
        for feature, out in zip(x, sums, strict=True):
            native.linear_terms(*_part(rows, feature, targets, weights, keys), out)
        return sums

    parts = parts_of(len(targets), n_keys)
    return np.asarray(np.sum(map_on_cores(sum_part, parts), axis=0).T)


def sum_cells(
    x: Floats,
    labels: Codes | None,
    weights: Array | None,
    keys: Codes | None,
    *,
    n_keys: int,
    cells: int,
    scale: float,
) -> Array:
    """Sum w, w |x| and w x^2 by key and cell of ``|x| * scale``: (keys, cells + 1, 4).

    The last cell is for the rows beyond the others. The fourth sum is ``(1/2 - label) x`` with
    labels, and the number of rows without.
    """
    # Each part of the rows has a table of its own.
    table_size = n_keys * (cells + 1)
    n_tables = max(
        len(x) // (ROWS_PER_CELL * table_size), min(MIN_PARTS, SMALL_TABLES // table_size), 1
    )
    size = -(-len(x) // min(n_tables, MAX_TABLES, -(-len(x) // PART)))

    def sum_part(start: int) -> Array:
        sums = np.zeros((n_keys, cells + 1, 4))
        given = _part(slice(start, start + size), x, labels, weights, keys)
        native.sum_cells(*given, np.array([scale]), sums)
        return sums

    first, *others = map_on_cores(sum_part, range(0, len(x), size))
    for other in others:
        first += other  # in place: a stack of all tables would take as much memory again
    return first


def gradients_by_group(
    x: Floats,
    targets: NDArray[np.bool_] | Codes | Array,
    weights: Array | None,
    keys: Codes,
    theta: Array,
    *,
    codes: Codes,
    groups: range,
) -> Array:
    """Sum the gradient of the loss by group and key: (coefficients, groups, keys).

    Only rows of ``groups`` are summed.
    """
    sums = np.zeros((len(x), len(groups), len(theta)))
    native.gradients_by_group(
        x if x.strides[1] == x.itemsize else np.ascontiguousarray(x),
        np.ascontiguousarray(targets),
        weights,
        np.ascontiguousarray(keys),
        np.ascontiguousarray(theta),
        as_keys(codes),
        np.array([groups.start]),
        sums,
    )
    return sums


def _sums(
    loop: Callable[..., None],
    columns: tuple[NDArray[Any] | None, ...],
    theta: Array,
    offsets: Codes,
    *,
    hessian: bool,
    piece_size: int = PIECE,
) -> Sums:
    """Sum over pieces of the rows of each key, and add up the pieces of a key in order.

    The pieces do not depend on the number of cores.
    """
    theta, x = np.ascontiguousarray(theta), columns[0]
    assert x is not None
    width, n_rows = x.shape
    if n_rows <= piece_size:
        sums = Sums.zeros(*theta.shape, hessian=hessian)
        if n_rows:
            loop(*columns, theta, offsets, sums.loss, sums.gradient, sums.hessian)
        return sums
    starts, keys, first_piece = _pieces(offsets, piece_size)
    at_pieces, sums = theta[keys], Sums.zeros(len(keys), theta.shape[1], hessian=hessian)

    def sum_pieces(which: slice) -> None:
        rows = slice(starts[which.start], starts[which.stop])
        bounds = starts[which.start : which.stop + 1] - rows.start
        own = (None if one is None else one[..., rows] for one in columns)
        curvature = None if sums.hessian is None else sums.hessian[which]
        loop(*own, at_pieces[which], bounds, sums.loss[which], sums.gradient[which], curvature)

    ends = [rows.stop for rows in shares(n_rows, width)]
    cuts = np.unique(np.append(0, np.searchsorted(starts, ends))).tolist()
    run_on_cores(sum_pieces, [slice(*pair) for pair in pairwise(cuts)])
    if len(keys) == len(theta):
        return sums
    return Sums(
        np.add.reduceat(sums.loss, first_piece),
        np.add.reduceat(sums.gradient, first_piece),
        None if sums.hessian is None else np.add.reduceat(sums.hessian, first_piece),
    )


def _pieces(offsets: Codes, size: int) -> tuple[Codes, Codes, Codes]:
    """Split the rows of each key into pieces of about the same size, at most ``size``.

    Return the first row of each piece and the end of the last, the key of each piece, and the first
    piece of each key.
    """
    rows = np.diff(offsets)
    if rows.max() <= size:
        keys = np.arange(len(rows))
        return offsets, keys, keys
    counts = np.maximum(-(-rows // size), 1)
    first_piece = np.cumsum(counts) - counts
    keys = np.repeat(np.arange(len(rows)), counts)
    number = np.arange(len(keys)) - first_piece[keys]
    starts = offsets[keys] + number * -(-rows // counts)[keys]
    return np.append(starts, offsets[-1]), keys, first_piece


def _part(rows: slice, *columns: NDArray[Any] | None) -> list[NDArray[Any] | None]:
    """Contiguous rows of each column."""
    return [None if one is None else np.ascontiguousarray(one[rows]) for one in columns]

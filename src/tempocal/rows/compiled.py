"""Sums over rows by the compiled loops, on all cores, bit-identical for any number of cores.

Rows are in key order. ``offsets`` are the first row of each key and the end of the last key; every
key has rows.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tempocal.inputs import Codes
from tempocal.kernels import native
from tempocal.kernels.key_counts import MIN_PARTS, PART, as_keys, parts_of
from tempocal.kernels.thread_pool import map_on_cores
from tempocal.links import Array, Floats
from tempocal.rows.sums import Sums

# The loops for binary models are compiled for up to this many coefficients.
MAX_COEFFICIENTS = 3
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
    loss = np.zeros(len(theta))
    native.even_sums(x, weights, np.ascontiguousarray(theta), offsets, loss, None, None)
    return loss


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
    return _sums(loop, (x, weights, labels), theta, offsets, hessian=hessian)


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

    return np.asarray(np.sum(map_on_cores(sum_part, range(0, len(x), size)), axis=0))


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
) -> Sums:
    sums = Sums.zeros(*theta.shape, hessian=hessian)
    if len(theta):
        theta = np.ascontiguousarray(theta)
        loop(*columns, theta, offsets, sums.loss, sums.gradient, sums.hessian)
    return sums


def _part(rows: slice, *columns: NDArray[Any] | None) -> list[NDArray[Any] | None]:
    """Contiguous rows of each column."""
    return [None if one is None else np.ascontiguousarray(one[rows]) for one in columns]

"""Sums over rows by the compiled loops, on all cores, with the same bits whatever their number.

Rows are in the order of their keys. ``offsets`` tell where those of each begin, and where the last
ends; no key is without rows.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tempocal.inputs import Codes
from tempocal.kernels import native
from tempocal.kernels.key_counts import as_keys, parts_of
from tempocal.links import Array, Floats
from tempocal.rows.sums import Sums

# Most coefficients of a binary model that the loops are compiled for.
MOST_COEFFICIENTS = 3


def even_sums(
    x: Floats, weights: Array | None, theta: Array, offsets: Codes, *, hessian: bool
) -> Sums:
    """Sum log(2 cosh(eta / 2)) and its derivatives over the rows of each key."""
    return _sums(native.even_sums, (x, weights), theta, offsets, hessian=hessian)


def even_losses(x: Floats, weights: Array | None, theta: Array, offsets: Codes) -> Array:
    """Sum log(2 cosh(eta / 2)) over the rows of each key: (keys,)."""
    found = np.zeros(len(theta))
    at = np.ascontiguousarray(theta)
    native.even_sums(x, weights, at, offsets, found, None, None)
    return found


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
    """Sum the loss of a softmax with several coefficients for each class."""
    loop = native.diagonal_sums if diagonal else native.full_sums
    return _sums(loop, (x, weights, labels), theta, offsets, hessian=hessian)


def linear_sums(
    x: Floats,
    targets: NDArray[np.bool_] | Codes | Array,
    weights: Array | None,
    keys: Codes | None,
    n_keys: int,
) -> Array:
    """Sum ``(1/2 - target) x`` over the rows of each key: (keys, coefficients)."""
    found = np.zeros((len(x), len(parts_of(len(targets), n_keys)), n_keys))
    others = [
        None if column is None else np.ascontiguousarray(column)
        for column in (targets, weights, keys)
    ]
    for feature, into in zip(x, found, strict=True):
        native.linear_sums(np.ascontiguousarray(feature), *others, into)
    return np.asarray(found.sum(axis=1).T)


def scores_by_group(
    x: Floats,
    targets: NDArray[np.bool_] | Codes | Array,
    weights: Array | None,
    keys: Codes,
    theta: Array,
    *,
    codes: Codes,
    groups: range,
) -> Array:
    """Sum the gradient of the loss of rows by group and key: (coefficients, groups, keys).

    Rows of other groups than ``groups`` are left out.
    """
    found = np.zeros((len(x), len(groups), len(theta)))
    native.scores_by_group(
        x if x.strides[1] == x.itemsize else np.ascontiguousarray(x),
        np.ascontiguousarray(targets),
        weights,
        np.ascontiguousarray(keys),
        np.ascontiguousarray(theta),
        as_keys(codes),
        np.array([groups.start]),
        found,
    )
    return found


def pulls(x: Floats, labels: Codes, offsets: Codes) -> Array:
    """Sum ``(1/2 - label) x`` over the rows of each key: (keys, coefficients)."""
    found = np.zeros((len(x), len(offsets) - 1))
    for feature, into in zip(x, found, strict=True):
        native.pulls(feature, labels, offsets, into)
    return found.T


def descend(
    x: Floats, weights: Array | None, pulled: Sequence[Array], offsets: Codes, start: Array | float
) -> tuple[Array, NDArray[np.bool_]]:
    """One coefficient for each key (keys,), next to its optimum by Newton's method.

    ``pulled`` holds what each is multiplied by beside the even part, how it is pulled, the
    identity, and the least that it may be. Also tell where there may be no optimum.
    """
    found = np.empty_like(pulled[0])
    found[:] = start
    doubts = np.zeros(len(found), dtype=bool)
    native.descend(x, weights, *pulled, offsets, found, doubts)
    return found, doubts


def moments(
    x: Floats,
    weights: Array | None,
    offsets: Codes,
    *,
    cells: int,
    scale: float,
    labels: Codes | None = None,
) -> tuple[Array, int, Array | None]:
    """Sum weight, size and square of rows in cells of their size, and count them: (keys, cells, 4).

    Those beyond the last cell are left out; also return how many are not. And of rows with labels
    and without weights, the sum of ``(1/2 - label) x``: (keys,).
    """
    n_keys = len(offsets) - 1
    found = np.zeros((n_keys, cells, 4))
    pulled = None if labels is None else np.zeros(n_keys)
    inside = native.moments(x, weights, offsets, np.array([scale]), found, labels, pulled)
    return found, inside, pulled


def points(sums: Array) -> tuple[Array, Array, Codes]:
    """Two points in each cell that has rows, with its weight, mean and variance.

    Sizes, weights, and where those of each key begin, from what `moments` returns.
    """
    n_keys, cells, _ = sums.shape
    sizes, weights = np.empty((2, 2 * n_keys * cells))
    offsets = np.empty(n_keys + 1, dtype=np.int64)
    native.points(sums, sizes, weights, offsets)
    end = offsets[-1]
    return sizes[:end], weights[:end], offsets


def _sums(
    loop: Callable[..., None],
    columns: tuple[NDArray[Any] | None, ...],
    theta: Array,
    offsets: Codes,
    *,
    hessian: bool,
) -> Sums:
    found = Sums.zeros(*theta.shape, hessian=hessian)
    if len(theta):
        at = np.ascontiguousarray(theta)
        loop(*columns, at, offsets, found.loss, found.gradient, found.hessian)
    return found

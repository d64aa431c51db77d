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
from tempocal.kernels.key_counts import as_keys, parts_of
from tempocal.links import Array, Floats
from tempocal.rows.sums import Sums

# The loops for binary models are compiled for up to this many coefficients.
MAX_COEFFICIENTS = 3


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
    sums = np.zeros((len(x), len(parts_of(len(targets), n_keys)), n_keys))
    others = [
        None if column is None else np.ascontiguousarray(column)
        for column in (targets, weights, keys)
    ]
    for feature, out in zip(x, sums, strict=True):
        native.linear_terms(np.ascontiguousarray(feature), *others, out)
    return np.asarray(sums.sum(axis=1).T)


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


def linear_terms_sorted(x: Floats, labels: Codes, offsets: Codes) -> Array:
    """Sum ``(1/2 - label) x`` over the rows of each key, in key order: (keys, coefficients)."""
    sums = np.zeros((len(x), len(offsets) - 1))
    for feature, out in zip(x, sums, strict=True):
        native.linear_terms_sorted(feature, labels, offsets, out)
    return sums.T


def moments(
    x: Floats,
    weights: Array | None,
    offsets: Codes,
    *,
    cells: int,
    scale: float,
    labels: Codes | None = None,
) -> tuple[Array, int, Array | None]:
    """Sum w, w |x|, w x^2 and 1 over the rows of each cell of ``|x|``: (keys, cells, 4).

    Rows beyond the last cell are left out; also return the number of the others. With labels, which
    exclude weights, the third result is the sum of ``(1/2 - label) x``: (keys,).
    """
    n_keys = len(offsets) - 1
    sums = np.zeros((n_keys, cells, 4))
    linear = None if labels is None else np.zeros(n_keys)
    n_inside = native.moments(x, weights, offsets, np.array([scale]), sums, labels, linear)
    return sums, n_inside, linear


def points(sums: Array) -> tuple[Array, Array, Codes]:
    """Two points for each nonempty cell, with its weight, mean and variance.

    ``sums`` are those of `moments`. Return sizes, weights, and the offsets of each key.
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
    sums = Sums.zeros(*theta.shape, hessian=hessian)
    if len(theta):
        theta = np.ascontiguousarray(theta)
        loop(*columns, theta, offsets, sums.loss, sums.gradient, sums.hessian)
    return sums

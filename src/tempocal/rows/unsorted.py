"""Sums by key over rows in any order, without a sorted copy of them.

One part of the rows at a time is sorted into a buffer that stays in the cache, and summed there.
Repeating that in every pass takes no longer than writing a sorted copy of all rows once, which
would need a third more memory than the rows themselves.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tempocal.kernels import native
from tempocal.kernels.thread_pool import run_on_cores
from tempocal.links import Array, Floats
from tempocal.rows.key_layout import KeyLayout
from tempocal.rows.sums import Sums


def unsorted_sums(
    features: Floats,
    weights: Array | None,
    labels: NDArray[np.int64] | None,
    layout: KeyLayout,
    theta: Array,
    *,
    order: int,
) -> Sums:
    """Sum losses and their derivatives up to ``order`` over the rows of each key.

    There is one coefficient per key. With labels the sums are those of a softmax, which has two
    derivatives always, else those of log(2 cosh(eta / 2)).
    """
    assert layout.unsorted_keys is not None
    keys, theta, parts = layout.unsorted_keys, np.ascontiguousarray(theta), layout.parts
    sums = np.zeros((3, len(parts), layout.n_keys))
    loop = native.even_sums if labels is None else native.shared_sums

    def sum_part(part: int) -> None:
        rows, bounds = parts[part], layout.bounds[part]

        def sort(values: NDArray[Any]) -> NDArray[Any]:
            own = np.atleast_2d(values)[:, rows]
            out = np.empty(own.shape, dtype=own.dtype)
            native.scatter(own, keys[rows], bounds[:-1].copy(), out)
            return out

        others = (weights,) if labels is None else (weights, labels)
        columns = (None if one is None else sort(one)[0] for one in others)
        loss, gradient, hessian = sums[:, part]
        found = loss, gradient[:, None], hessian[:, None, None]
        loop(sort(features), *columns, theta, bounds, *found[: order + 1], *[None] * (2 - order))

    run_on_cores(sum_part, range(len(parts)))
    loss, gradient, hessian = sums.sum(axis=1)
    return Sums(loss, gradient[:, None], hessian[:, None, None] if order == 2 else None)

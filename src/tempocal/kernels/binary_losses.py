"""Losses of binary rows before and after calibration, by the compiled loops."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tempocal.kernels import native
from tempocal.kernels.key_counts import Codes, as_keys

Array = NDArray[np.float64]


def compare(
    before: NDArray[np.floating[Any]],
    after: Array,
    labels: NDArray[Any],
    weights: Array | None,
    *,
    keys: Codes | None = None,
    gains: Array | None = None,
) -> Array:
    """Sum losses before and after, gains, and squared gains; ``gains`` receives those of each row.

    With ``keys``, ``after`` has the factor of the logits of each key.
    """
    sums = np.zeros(4)
    native.compare(
        np.ascontiguousarray(before),
        np.ascontiguousarray(after, dtype=np.float64),
        None if keys is None else as_keys(keys),
        np.ascontiguousarray(labels, dtype=np.int64),
        None if weights is None else np.ascontiguousarray(weights, dtype=np.float64),
        gains,
        sums,
    )
    return sums


def dot(a: NDArray[Any], b: NDArray[Any]) -> float:
    """Sum of products, without BLAS.

    The threads of BLAS wait for cores that other programs use, a hundred times as long as the sum.
    """
    return float(np.einsum("i,i->", a, b, dtype=np.float64))

"""Sums of products over rows, without BLAS.

BLAS would call for threads of its own. Where other programs want the cores it waits for them, a
hundred times as long as the sum takes.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def dot(one: NDArray[Any], other: NDArray[Any]) -> float:
    """Sum of the products of two rows."""
    return float(np.einsum("i,i->", one, other, dtype=np.float64))


def dots(one: NDArray[Any], other: NDArray[Any]) -> Array:
    """Sum of the products of two rows, for each of several pairs: (pairs,)."""
    return np.asarray(np.einsum("pi,pi->p", one, other, dtype=np.float64))

"""Discounted sums along sequences: one backward sweep over ordered rows."""

import numpy as np
from numpy.typing import NDArray

from tempocal.kernels import native


def discounted_sums(
    values: NDArray[np.float64], is_last: NDArray[np.bool_], decay: float
) -> NDArray[np.float64]:
    """Sum each value and the later ones of its sequence, discounted by ``decay`` per row.

    Parameters
    ----------
    values : ndarray of shape (series, n)
        Values of rows that lie sequence by sequence, in order. They are overwritten.
    is_last : ndarray of bool, shape (n,)
        Which rows are the last of their sequence.
    decay : float
        Factor for each row that lies between, from 0 to 1.

    Returns
    -------
    ndarray of shape (series, n)
        ``values[i] + decay * values[i + 1] + decay**2 * values[i + 2] + ...``.
    """
    if native is None:
        return _by_position(values, is_last, decay)
    native.discount(values, is_last, np.array([decay]))
    return values


def _by_position(
    values: NDArray[np.float64], is_last: NDArray[np.bool_], decay: float
) -> NDArray[np.float64]:
    """Sweep all sequences at once: the second rows from the end, then the third, and so on."""
    rows = np.flatnonzero(is_last)
    while len(rows := rows[rows > 0] - 1):
        rows = rows[~is_last[rows]]
        values[:, rows] += decay * values[:, rows + 1]
    return values

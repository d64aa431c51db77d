"""Interval of a sum of absolute values that are known up to noise.

A calibration error is ``sum |g|`` over cells, of gaps ``g`` that noise has been added to. The noise
alone makes the sum larger, so that quantiles of ``sum |g + noise|`` around it cover almost nothing.
Instead the gaps are scaled, ``s * g``, and the interval holds those ``s * sum |g|`` whose own noisy
sums, ``sum |s * g + noise|``, make the one that was seen neither too large nor too small.
"""

import numpy as np

from tempocal.links import Array

# The scale is found to 2**-HALVINGS of the interval's length.
HALVINGS = 20


def absolute_sum_interval(gaps: Array, noise: Array, level: float) -> tuple[float, float]:
    """Return the ends of the interval of ``sum |gaps|``.

    Parameters
    ----------
    gaps : ndarray of shape (cells,)
        What was seen.
    noise : ndarray of shape (draws, cells)
        Draws of the noise in it.
    level : float
        How often such intervals hold the truth.
    """
    seen = float(np.abs(gaps).sum())
    filled = (gaps != 0.0) | (noise != 0.0).any(axis=0)
    gaps, noise = gaps[filled], noise[:, filled]
    tail = 0.5 - level / 2
    return seen * _scale(gaps, noise, 1.0 - tail), seen * _scale(gaps, noise, tail)


def absolute_sum_bound(gaps: Array, noise: Array, level: float) -> float:
    """Upper bound of ``sum |gaps|`` where it could be all noise; it holds more often than said."""
    return float(np.quantile(np.abs(gaps + noise).sum(axis=1), 0.5 + level / 2))


def _scale(gaps: Array, noise: Array, share: float) -> float:
    """Scale at which this share of the noisy sums is below the one that was seen."""
    seen = np.abs(gaps).sum()

    def reached(scale: float) -> bool:
        return bool(np.quantile(np.abs(scale * gaps + noise).sum(axis=1), share) >= seen)

    if reached(0.0):
        return 0.0
    low, high = 0.0, 1.0
    while not reached(high):
        low, high = high, 2.0 * high
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if reached(middle) else (middle, high)
    return high

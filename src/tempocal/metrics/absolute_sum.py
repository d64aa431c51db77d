"""Confidence interval for a sum of absolute values that are observed with noise.

A calibration error is ``sum |g|`` over cells, where the gaps ``g`` are observed with noise. The
noise biases the sum upward, so that a bootstrap interval from quantiles of ``sum |g + noise|`` has
almost no coverage. Instead a test is inverted over the scale ``s`` of the gaps: the interval holds
all ``s * sum |g|`` for which the observed sum lies within the central quantiles of
``sum |s * g + noise|``.
"""

import numpy as np

from tempocal.links import Array

# Steps of the bisection for the scale.
BISECTIONS = 20


def absolute_sum_interval(gaps: Array, noise: Array, level: float) -> tuple[float, float]:
    """Return the limits of the interval for ``sum |gaps|``.

    Parameters
    ----------
    gaps : ndarray of shape (cells,)
        The observed gaps.
    noise : ndarray of shape (draws, cells)
        Draws of their noise.
    level : float
        Confidence level.
    """
    observed = float(np.abs(gaps).sum())
    filled = (gaps != 0.0) | (noise != 0.0).any(axis=0)
    gaps, noise = gaps[filled], noise[:, filled]
    tail = 0.5 - level / 2
    return observed * _scale(gaps, noise, 1.0 - tail), observed * _scale(gaps, noise, tail)


def absolute_sum_bound(gaps: Array, noise: Array, level: float) -> float:
    """Conservative upper bound for ``sum |gaps|``, for gaps that may be all noise."""
    return float(np.quantile(np.abs(gaps + noise).sum(axis=1), 0.5 + level / 2))


def median_scale(gaps: Array, noise: Array) -> float:
    """Scale of the gaps at which the median of the noisy sums is the observed sum."""
    filled = (gaps != 0.0) | (noise != 0.0).any(axis=0)
    return _scale(gaps[filled], noise[:, filled], 0.5) if gaps.any() else 0.0


def _scale(gaps: Array, noise: Array, share: float) -> float:
    """Scale at which this quantile of the noisy sums equals the observed sum, by bisection."""
    observed = np.abs(gaps).sum()

    def reached(scale: float) -> bool:
        return bool(np.quantile(np.abs(scale * gaps + noise).sum(axis=1), share) >= observed)

    if reached(0.0):
        return 0.0
    low, high = 0.0, 1.0
    while not reached(high):
        low, high = high, 2.0 * high
    for _ in range(BISECTIONS):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if reached(middle) else (middle, high)
    return high

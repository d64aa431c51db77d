"""Calibration error without bins."""

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tempocal.links import Array
from tempocal.metrics.binsums import BinSums, bin_sums
from tempocal.metrics.edges import equal_width
from tempocal.metrics.estimates import Estimate
from tempocal.metrics.events import EventKind, events_of
from tempocal.metrics.predictions import check_predictions

# A power of two for the Fourier transform.
CELLS = 2**14
# A narrower kernel would show the cells instead of the rows.
NARROWEST = 2.0 / CELLS
POINTS_PER_BANDWIDTH = 64
TOLERANCE = 1e-9

Spectrum = NDArray[np.complex128]


def smooth_ece(
    y: ArrayLike,
    proba: ArrayLike,
    *,
    of: EventKind = "top_label",
    sample_weight: ArrayLike | None = None,
    classes: ArrayLike | None = None,
) -> Estimate:
    """Mean gap after smoothing along the confidence: the smooth ECE of Błasiok and Nakkiran.

    The gaps ``confidence - outcome`` are smoothed by a Gaussian kernel that is reflected at 0 and
    1; the error is the integral of the absolute value of what is left. A wider kernel leaves
    less. The bandwidth taken is the one that equals its own error, so nothing is left to choose.

    Parameters
    ----------
    y, proba, of, sample_weight, classes
        As in `ece`.

    Returns
    -------
    Estimate
        A float from 0 to 1, which is the bandwidth as well.

    Notes
    -----
    Rows are first summed in 16,384 cells of confidence, each taken at its mean confidence, so that
    one pass over them is all it takes. The kernel is never narrower than two cells.

    References
    ----------
    Błasiok and Nakkiran (2023). Smooth ECE: principled reliability diagrams via kernel smoothing.

    Examples
    --------
    >>> from tempocal.metrics import smooth_ece
    >>> smooth_ece([0, 1, 1, 1], [0.2, 0.4, 0.6, 0.9], of="positive_class")
    Estimate(0.225, 'smooth positive-class ECE (Blasiok & Nakkiran 2023)')
    """
    rows = check_predictions(y, proba, sample_weight, classes)
    events = events_of(rows, of)
    sums = bin_sums(events.confidence, events.outcome, events.weight, equal_width(CELLS))
    grid = _on_grid(sums)
    # A reflected kernel on [0, 1] is a plain kernel on the circle of the grid and its mirror image.
    spectrum = np.fft.rfft(np.concatenate([grid, grid[::-1]]))
    value = _equal_to_own_error(lambda bandwidth: _error(spectrum, bandwidth))
    return Estimate(value, f"smooth {events.name} ECE (Blasiok & Nakkiran 2023)")


def _on_grid(sums: BinSums) -> Array:
    """Gaps at the middles of the cells, each shared between the two nearest to its confidence."""
    filled = sums.weight > 0
    gap = sums.gap[filled] / sums.weight.sum()
    position = sums.confidence[filled] / sums.weight[filled] * CELLS - 0.5
    left = np.floor(position).astype(np.intp)
    share = position - left
    # Half a cell at either end lies outside the middles, and its mirror image is the cell itself.
    return np.asarray(
        np.bincount(np.maximum(left, 0), gap * (1.0 - share), minlength=CELLS)
        + np.bincount(np.minimum(left + 1, CELLS - 1), gap * share, minlength=CELLS)
    )


def _error(spectrum: Spectrum, bandwidth: float) -> float:
    """Integral of the absolute smoothed gap."""
    # What the kernel leaves has no waves much shorter than it, and needs no finer points.
    points = min(CELLS, 2 ** math.ceil(math.log2(POINTS_PER_BANDWIDTH / bandwidth)))
    angular = np.pi * np.arange(points + 1)
    kernel = np.exp(-0.5 * (angular * bandwidth) ** 2)
    smoothed = np.fft.irfft(spectrum[: points + 1] * kernel, n=2 * points)
    return 0.5 * float(np.abs(smoothed).sum())


def _equal_to_own_error(error: Callable[[float], float]) -> float:
    """Where error(bandwidth) = bandwidth; the left side falls and the right one grows."""
    low, high = NARROWEST, 1.0
    at_narrowest = error(low)
    if at_narrowest <= low:
        return at_narrowest
    while high - low > TOLERANCE:
        middle = 0.5 * (low + high)
        low, high = (middle, high) if error(middle) > middle else (low, middle)
    return 0.5 * (low + high)

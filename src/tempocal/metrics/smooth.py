"""Smooth ECE: a calibration error by kernel smoothing instead of bins."""

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tempocal.inputs import Inputs
from tempocal.links import Array
from tempocal.metrics.binsums import BinSums, bin_sums
from tempocal.metrics.edges import equal_width
from tempocal.metrics.estimates import Estimate
from tempocal.metrics.events import EventKind, events_of
from tempocal.metrics.predictions import check_predictions

# Cells of confidence; a power of two for the Fourier transform.
CELLS = 2**14
# A narrower kernel would resolve the cells.
MIN_BANDWIDTH = 2.0 / CELLS
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
    inputs: Inputs = "proba",
) -> Estimate:
    """Smooth ECE of Błasiok and Nakkiran: mean gap after smoothing along the confidence.

    The gaps ``confidence - outcome`` are smoothed by a Gaussian kernel that is reflected at 0 and
    1; the error is the integral of the absolute smoothed gap. It decreases with the bandwidth. The
    bandwidth is chosen equal to its own error, so there is no free parameter.

    Parameters
    ----------
    y, proba, of, sample_weight, classes, inputs
        As in `ece`.

    Returns
    -------
    Estimate
        A float from 0 to 1, which is the bandwidth too.

    Notes
    -----
    Rows are first summed in 16,384 cells of confidence, each represented by its mean confidence, in
    a single pass. The kernel is never narrower than two cells.

    References
    ----------
    Błasiok and Nakkiran (2023). Smooth ECE: principled reliability diagrams via kernel smoothing.

    Examples
    --------
    >>> from tempocal.metrics import smooth_ece
    >>> smooth_ece([0, 1, 1, 1], [0.2, 0.4, 0.6, 0.9], of="positive_class")
    Estimate(0.225, 'smooth positive-class ECE (Blasiok & Nakkiran 2023)')
    """
    rows = check_predictions(y, proba, sample_weight, classes, inputs=inputs)
    events = events_of(rows, of)
    sums = bin_sums(events.confidence, events.outcome, events.weight, equal_width(CELLS))
    grid = _on_grid(sums)
    # A reflected kernel on [0, 1] is a periodic kernel on the grid joined to its mirror image.
    spectrum = np.fft.rfft(np.concatenate([grid, grid[::-1]]))
    value = _fixed_point(lambda bandwidth: _error(spectrum, bandwidth))
    return Estimate(value, f"smooth {events.name} ECE (Blasiok & Nakkiran 2023)")


def _on_grid(sums: BinSums) -> Array:
    """Gaps at the centers of the cells, distributed linearly between the two nearest centers."""
    filled = sums.weight > 0
    gap = sums.gap[filled] / sums.weight.sum()
    position = sums.confidence[filled] / sums.weight[filled] * CELLS - 0.5
    left = np.floor(position).astype(np.intp)
    share = position - left
    # Beyond the outermost centers, the mirror image of a cell is the cell itself.
    return np.asarray(
        np.bincount(np.maximum(left, 0), gap * (1.0 - share), minlength=CELLS)
        + np.bincount(np.minimum(left + 1, CELLS - 1), gap * share, minlength=CELLS)
    )


def _error(spectrum: Spectrum, bandwidth: float) -> float:
    """Integral of the absolute smoothed gap."""
    # The smoothed gap has no wavelengths much shorter than the kernel: a coarser grid is enough.
    points = min(CELLS, 2 ** math.ceil(math.log2(POINTS_PER_BANDWIDTH / bandwidth)))
    angular = np.pi * np.arange(points + 1)
    kernel = np.exp(-0.5 * (angular * bandwidth) ** 2)
    smoothed = np.fft.irfft(spectrum[: points + 1] * kernel, n=2 * points)
    return 0.5 * float(np.abs(smoothed).sum())


def _fixed_point(error: Callable[[float], float]) -> float:
    """Solve error(bandwidth) = bandwidth by bisection; the error decreases with the bandwidth."""
    low, high = MIN_BANDWIDTH, 1.0
    error_at_low = error(low)
    if error_at_low <= low:
        return error_at_low
    while high - low > TOLERANCE:
        middle = 0.5 * (low + high)
        low, high = (middle, high) if error(middle) > middle else (low, middle)
    return 0.5 * (low + high)

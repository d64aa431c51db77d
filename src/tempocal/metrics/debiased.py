"""Calibration error without the part that is due to few rows in a bin."""

import numpy as np
from numpy.typing import ArrayLike

from tempocal.errors import InputError
from tempocal.metrics.binned import bin_predictions
from tempocal.metrics.binsums import BinSums
from tempocal.metrics.edges import Binning
from tempocal.metrics.estimates import DebiasedEstimate, reliability_table
from tempocal.metrics.events import EventKind


def debiased_ece(
    y: ArrayLike,
    proba: ArrayLike,
    *,
    bins: int = 15,
    binning: Binning = "equal_mass",
    of: EventKind = "top_label",
    sample_weight: ArrayLike | None = None,
    classes: ArrayLike | None = None,
) -> DebiasedEstimate:
    """Root mean square gap over bins, less the part that is noise: the debiased L2 ECE.

    The square of each bin's gap is too large by the variance of its frequency, on average.
    Kumar, Liang and Ma (2019) estimate that variance and take it away::

        squared = sum_b w_b / w * ((confidence_b - frequency_b)^2
                                   - frequency_b (1 - frequency_b) / (w_b - 1))

    The result is the root of it, or 0 where it is negative. It is an L2 error: without noise it is
    at least the `ece` of the same bins, not equal to it.

    Parameters
    ----------
    y, proba, bins, of, sample_weight, classes
        As in `ece`.
    binning : {"equal_mass", "equal_width"}, default="equal_mass"
        Bins of about the same weight, as in their paper, or of the same width.

    Returns
    -------
    DebiasedEstimate
        A float, with its ``bins`` and its square before the root, ``squared``.

    Notes
    -----
    It is ``squared`` that is unbiased: average that, over sets or times, and not the roots.

    Weights count rows, so that ``w_b`` is the number of rows in a bin. A bin of less than two rows
    says nothing about its variance and adds nothing. Rows are taken as independent: with several
    rows of one sequence in a bin, the variance is larger than this and some bias stays.

    Confidences in a bin are taken as equal. Where they vary much, as in one bin over everything,
    ``squared`` is low by about their variance divided by the rows in the bin.

    References
    ----------
    Kumar, Liang and Ma (2019). Verified uncertainty calibration. The same correction is in Bröcker
    (2012), Estimating reliability and resolution of probability forecasts.

    Examples
    --------
    >>> from tempocal.metrics import debiased_ece
    >>> y, proba = [0, 0, 0, 1, 0, 1, 1, 1], [0.1, 0.1, 0.1, 0.1, 0.9, 0.9, 0.9, 0.9]
    >>> error = debiased_ece(y, proba, bins=2, of="positive_class")
    >>> error.estimator
    'debiased L2 positive-class ECE (Kumar et al. 2019), 2 equal-mass bins'
    >>> float(error), round(error.squared, 4)
    (0.0, -0.04)
    """
    found = bin_predictions(
        y, proba, bins, binning, of=of, sample_weight=sample_weight, classes=classes
    )
    squared = _debiased_square(found.sums)
    name = f"debiased L2 {found.name} ECE (Kumar et al. 2019), {found.binning}"
    value = max(squared, 0.0) ** 0.5
    return DebiasedEstimate(value, name, reliability_table(found.sums, found.edges), squared)


def _debiased_square(sums: BinSums) -> float:
    enough = sums.weight >= 2.0
    if not enough.any():
        raise InputError(
            "debiased_ece needs a bin with a weight of at least 2, but the largest has "
            f"{sums.weight.max():g}: take fewer bins"
        )
    weight = sums.weight[enough]
    frequency = sums.outcome[enough] / weight
    variance = frequency * (1.0 - frequency) / (weight - 1.0)
    square = (sums.gap[enough] / weight) ** 2 - variance
    return float(np.sum(weight * square) / weight.sum())

"""Debiased calibration error: the variance within bins is subtracted."""

import numpy as np
from numpy.typing import ArrayLike

from tempocal.errors import InputError
from tempocal.inputs import Inputs
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
    inputs: Inputs = "proba",
) -> DebiasedEstimate:
    """Debiased L2 ECE: root mean square gap over bins, without the bias due to noise.

    The squared gap of a bin overestimates the true one by the variance of the bin's frequency.
    Kumar, Liang and Ma (2019) estimate that variance and subtract it::

        squared = sum_b w_b / w * ((confidence_b - frequency_b)^2
                                   - frequency_b (1 - frequency_b) / (w_b - 1))

    The result is the square root, or 0 if ``squared`` is negative. It is an L2 error: without
    noise it is at least the `ece` of the same bins, not equal to it.

    Parameters
    ----------
    y, proba, bins, of, sample_weight, classes, inputs
        As in `ece`.
    binning : {"equal_mass", "equal_width"}, default="equal_mass"
        Bins of about equal weight, as in their paper, or of equal width.

    Returns
    -------
    DebiasedEstimate
        A float, with its ``bins`` and the debiased square, ``squared``.

    Notes
    -----
    ``squared`` is the unbiased quantity: average it over sets or times, not the roots.

    Weights are frequencies, so that ``w_b`` is the number of rows in a bin. The variance of a bin
    with less than two rows cannot be estimated; such bins are dropped. Rows are taken as
    independent: with several rows of one sequence in a bin, the variance is underestimated and
    some bias remains.

    Confidences within a bin are taken as equal. If they vary much, as in a single bin, ``squared``
    is too low by about their variance divided by the number of rows in the bin.

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
        y, proba, bins, binning, of=of, sample_weight=sample_weight, classes=classes, inputs=inputs
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

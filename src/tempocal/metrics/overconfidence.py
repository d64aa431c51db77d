"""Overconfidence: mean confidence minus accuracy."""

import numpy as np
from numpy.typing import ArrayLike

from tempocal.inputs import Codes
from tempocal.links import Array
from tempocal.metrics.predictions import check_predictions


def overconfidence(
    y: ArrayLike,
    proba: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    classes: ArrayLike | None = None,
) -> float:
    """Mean confidence in the most probable class minus the accuracy.

    Positive if predictions are overconfident, negative if underconfident. Unlike `ece` it has a
    sign and no bias, but errors of opposite sign can cancel.

    Parameters
    ----------
    y, proba, sample_weight, classes
        As in `ece`.

    Returns
    -------
    float
        From -1 to 1; 0 is calibrated on average.

    Examples
    --------
    >>> from tempocal.metrics import overconfidence
    >>> round(overconfidence([0, 1, 1, 0], [0.1, 0.9, 0.8, 0.9]), 3)
    0.125
    """
    return check_predictions(y, proba, sample_weight, classes).mean(row_overconfidence)


def row_overconfidence(proba: Array, codes: Codes) -> Array:
    """Confidence in the most probable class, minus 1 where it is the true one."""
    top = proba.argmax(axis=1)
    return np.asarray(proba[np.arange(len(top)), top] - (top == codes))

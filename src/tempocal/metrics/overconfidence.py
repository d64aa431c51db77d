"""Overconfidence: mean confidence minus accuracy."""

from numpy.typing import ArrayLike

from tempocal.inputs import Inputs
from tempocal.metrics.mean_losses import mean_loss
from tempocal.metrics.predictions import check_predictions
from tempocal.metrics.row_losses import row_overconfidence
from tempocal.metrics.scored_arrays import ScoredArrays


def overconfidence(
    y: ArrayLike,
    proba: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    classes: ArrayLike | None = None,
    inputs: Inputs = "proba",
) -> float:
    """Mean confidence in the most probable class minus the accuracy.

    Positive if predictions are overconfident, negative if underconfident. Unlike `ece` it has a
    sign and no bias, but errors of opposite sign can cancel.

    Parameters
    ----------
    y, proba, sample_weight, classes, inputs
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
    rows = check_predictions(y, proba, sample_weight, classes, inputs=inputs)
    return mean_loss(ScoredArrays.of(rows), row_overconfidence)

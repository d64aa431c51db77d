"""Negative log likelihood."""

import numpy as np
from numpy.typing import ArrayLike

from tempocal.errors import InputError
from tempocal.inputs import Codes
from tempocal.links import Array
from tempocal.metrics.predictions import RowLoss, check_predictions


def nll(
    y: ArrayLike,
    proba: ArrayLike,
    *,
    clip: float = 0.0,
    sample_weight: ArrayLike | None = None,
    classes: ArrayLike | None = None,
) -> float:
    """Negative log likelihood: mean over rows of ``-log p`` of the true class.

    Parameters
    ----------
    y : array-like of shape (n,)
        True labels, of any kind.
    proba : array-like of shape (n,), (n, 1) or (n, K)
        Probabilities; one column is that of the second class.
    clip : float, default=0
        Probabilities of the true class below this are raised to it; at least 0 and below 1. With 0,
        a single true class of probability 0 makes the result infinite.
    sample_weight : array-like of shape (n,), optional
        Weight of each row: a weight of 2 is the row twice.
    classes : array-like of shape (K,), optional
        The class of each column; by default the sorted labels of ``y``.

    Returns
    -------
    float
        In nats; 0 if all true classes have probability 1.

    Examples
    --------
    >>> from tempocal.metrics import nll
    >>> round(nll(["lost", "won", "won"], [0.2, 0.4, 0.9]), 4)
    0.4149
    >>> nll([0, 1], [0.2, 0.0])
    inf
    >>> round(nll([0, 1], [0.2, 0.0], clip=1e-6), 4)
    7.0193
    """
    loss = row_nll(clip)
    return check_predictions(y, proba, sample_weight, classes).mean(loss)


def row_nll(clip: float = 0.0) -> RowLoss:
    """Return the row loss as a function of (proba, codes)."""
    smallest = _check_clip(clip)

    def loss(proba: Array, codes: Codes) -> Array:
        true = proba[np.arange(len(codes)), codes]
        with np.errstate(divide="ignore"):
            return -np.log(np.maximum(true, smallest))

    return loss


def _check_clip(clip: float) -> float:
    if isinstance(clip, int | float | np.number) and 0.0 <= clip < 1.0:
        return float(clip)
    raise InputError(f"clip must be a number of at least 0 and below 1, but it is {clip!r}")

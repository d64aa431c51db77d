"""Targets that fixed forecasts make, of rows that lie sequence by sequence."""

import numpy as np

from tempocal.inputs import Codes
from tempocal.kernels.discount import discounted_sums
from tempocal.links import Array


def following_targets(p: Array, labels: Codes, runs: Codes, decay: float) -> Array:
    """Return the target of each row in each class, of shape (n, classes).

    Parameters
    ----------
    p : ndarray of shape (n, classes)
        Forecasts of rows that lie sequence by sequence, in order.
    labels, runs : ndarray of shape (n,)
        Code of the outcome, and of the sequence.
    decay : float
        Weight of what comes one row later.
    """
    is_last = np.append(runs[1:] != runs[:-1], True)
    outcomes = labels[:, None] == np.arange(p.shape[1])
    steps = np.where(is_last[:, None], outcomes, np.roll(p, -1, axis=0)) - p
    swept = discounted_sums(np.ascontiguousarray(steps.T), is_last, decay)
    return np.asarray(p + swept.T)

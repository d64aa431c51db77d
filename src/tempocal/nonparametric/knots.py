"""Reduction of values at distinct log-odds to the knots needed to interpolate them."""

import numpy as np

from tempocal.links import Array
from tempocal.maps import Knots


def thin_knots(odds: Array, probabilities: Array) -> Knots:
    """Drop the knots inside constant runs, and clip to [0, 1].

    Examples
    --------
    >>> thin_knots(np.array([0.0, 1.0, 2.0, 3.0]), np.array([0.2, 0.5, 0.5, 0.5]))
    Knots(odds=array([0., 1., 3.]), probabilities=array([0.2, 0.5, 0.5]))
    """
    inside = np.clip(probabilities, 0.0, 1.0)
    changes = np.concatenate([[True], inside[1:] != inside[:-1], [True]])
    needed = changes[:-1] | changes[1:]
    return Knots(odds[needed], inside[needed])

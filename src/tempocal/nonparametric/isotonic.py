"""Isotonic regression (Zadrozny and Elkan, 2002): the best nondecreasing map."""

import numpy as np
from scipy.optimize import isotonic_regression

from tempocal.links import Array
from tempocal.maps.binary import Knots
from tempocal.nonparametric.distinct import collapse, mean_targets, shrink_blocks
from tempocal.nonparametric.knots import thin_knots


def fit_isotonic(odds: Array, targets: Array, weights: Array | None, *, shrinkage: float) -> Knots:
    """Fit the nondecreasing values with the least weighted squared error.

    Parameters
    ----------
    odds, targets, weights : arrays of shape (n,)
        Log-odds, targets in [0, 1] and weights of the rows; None is a weight of one each.
    shrinkage : float
        Number of pseudo-rows in each block, whose target is the mean prediction of the block; 0 is
        the classical method. Blocks that they put out of order are pooled again.

    Returns
    -------
    Knots
        Interpolated between the distinct log-odds and held beyond them, as by scikit-learn's
        ``IsotonicRegression(out_of_bounds="clip")`` on the log-odds.

    Examples
    --------
    >>> odds, targets = np.array([-2.0, -1.0, 1.0, 2.0]), np.array([0.0, 1.0, 0.0, 1.0])
    >>> fit_isotonic(odds, targets, None, shrinkage=0.0)
    Knots(odds=array([-2., -1., 1., 2.]), probabilities=array([0. , 0.5, 0.5, 1. ]))
    """
    data = collapse(odds, targets, weights)
    fitted = isotonic_regression(mean_targets(data), weights=data.weights).x
    shrunk = shrink_blocks(data, np.asarray(fitted), shrinkage)
    first = np.flatnonzero(np.append(True, shrunk[1:] != shrunk[:-1]))
    weights_of_blocks = np.add.reduceat(data.weights, first)
    pooled = isotonic_regression(shrunk[first], weights=weights_of_blocks).x
    sizes = np.diff(np.append(first, len(shrunk)))
    return thin_knots(data.odds, np.repeat(np.asarray(pooled, dtype=np.float64), sizes))

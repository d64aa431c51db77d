"""Isotonic regression (Zadrozny and Elkan, 2002): the best nondecreasing map."""

import numpy as np
from scipy.optimize import isotonic_regression

from tempocal.maps import Knots
from tempocal.nonparametric.distinct import shrink_means
from tempocal.nonparametric.knots import thin_knots
from tempocal.nonparametric.ordered import OrderedRows


def fit_isotonic(rows: OrderedRows, *, shrinkage: float) -> Knots:
    """Fit the nondecreasing values with the least weighted squared error.

    Parameters
    ----------
    rows : OrderedRows
        Log-odds, targets and weights, from `sort_rows`.
    shrinkage : float
        Number of pseudo-rows in each block, whose target is the mean prediction of the block; 0 is
        the classical method. Blocks that are not increasing after shrinkage are pooled again.

    Returns
    -------
    Knots
        Interpolated between the distinct log-odds and constant beyond them, as by scikit-learn's
        ``IsotonicRegression(out_of_bounds="clip")`` on the log-odds.

    Examples
    --------
    >>> from tempocal.nonparametric import sort_rows
    >>> odds, targets = np.array([-2.0, -1.0, 1.0, 2.0]), np.array([False, True, False, True])
    >>> fit_isotonic(sort_rows(odds, targets, None), shrinkage=0.0)
    Knots(odds=array([-2., -1., 1., 2.]), probabilities=array([0. , 0.5, 0.5, 1. ]))
    """
    blocks = rows.blocks
    weights = blocks.weights
    means = shrink_means(blocks.positives / weights, blocks.predicted / weights, weights, shrinkage)
    values = isotonic_regression(means, weights=weights).x
    # A block is a knot at either end, or one knot.
    odds = np.stack([blocks.first, blocks.last], axis=1).ravel()
    is_knot = np.append(True, odds[1:] != odds[:-1])
    return thin_knots(odds[is_knot], np.repeat(np.asarray(values), 2)[is_knot])

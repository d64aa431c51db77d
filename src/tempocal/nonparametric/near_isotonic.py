"""Ensemble of near-isotonic regressions, ENIR (Naeini and Cooper, 2016)."""

import numpy as np
from scipy.special import xlog1py, xlogy

from tempocal.links import Array
from tempocal.maps import Knots
from tempocal.nonparametric.distinct import mean_targets, shrink_blocks
from tempocal.nonparametric.knots import thin_knots
from tempocal.nonparametric.ordered import OrderedRows
from tempocal.nonparametric.solution_path import NearIsotonicPath, near_isotonic_path

# exp(-100 / 2) = 2e-22: a million models this far from the best do not change the average.
_NEGLIGIBLE_BIC = 100.0


def fit_near_isotonic(rows: OrderedRows, *, shrinkage: float) -> Knots:
    """Average the models along the near-isotonic path by their Bayesian information criterion.

    Parameters
    ----------
    rows : OrderedRows
        Log-odds, targets and weights, from `sort_rows`.
    shrinkage : float
        Number of pseudo-rows in each block of the average, whose target is the mean prediction of
        the block; 0 is the classical method.

    Returns
    -------
    Knots
        The average of interpolated models is the interpolated average. It need not be monotone.

    Notes
    -----
    The models are those at the breakpoints of the path, from penalty 0 to the isotonic one. Model
    k counts with exp(-BIC_k / 2), where BIC_k = -2 log-likelihood + blocks * log(n) and n is the
    total weight (a total below 1 counts as 1, so that the penalty of a block is never negative).

    The path costs O(n log n). A model costs O(n), but few are evaluated: no values on the blocks of
    a model are more likely than the means of the targets, which bounds its BIC from below, and the
    bounds of all models together cost O(n). On the labels of a useful classifier some dozens of
    models are left; O(n^2) time in the worst case, O(n) memory always.

    Examples
    --------
    >>> from tempocal.nonparametric import sort_rows
    >>> odds, targets = np.array([-2.0, -1.0, 1.0, 2.0]), np.array([False, True, False, True])
    >>> fit_near_isotonic(sort_rows(odds, targets, None), shrinkage=0.0).probabilities.round(3)
    array([0.   , 0.833, 0.167, 1.   ])
    """
    data = rows.distinct()
    path = near_isotonic_path(mean_targets(data), data.weights)
    posterior = _posterior(_bic(path, np.log(max(data.weights.sum(), 1.0))))
    average = np.zeros(len(data.odds))
    for model in np.flatnonzero(posterior):
        average += posterior[model] * path.at(path.breakpoints[model])
    return thin_knots(data.odds, shrink_blocks(data, average, shrinkage))


def _posterior(bic: Array) -> Array:
    relative = np.exp((bic.min() - bic) / 2)
    return np.asarray(relative / relative.sum(), dtype=np.float64)


def _bic(path: NearIsotonicPath, cost: float) -> Array:
    """BIC of each model, infinite where it is too far from the best to matter."""
    bound = _bic_bound(path, cost)
    bic = np.full(len(bound), np.inf)
    for model in np.argsort(bound):
        if bound[model] > bic.min() + _NEGLIGIBLE_BIC:
            break
        blocks = path.blocks(model)
        values = path.mean[blocks] + path.slope[blocks] * path.breakpoints[model]
        deviance = _deviance(path.weight[blocks], path.mean[blocks], np.clip(values, 0.0, 1.0))
        bic[model] = deviance.sum() + cost * len(blocks)
    return bic


def _bic_bound(path: NearIsotonicPath, cost: float) -> Array:
    """Lower bound of the BIC of each model: that of the most likely value in each block."""
    least = _deviance(path.weight, path.mean, path.mean) + cost
    models = len(path.breakpoints)
    # A block enters the sum at its first model and leaves it at its end.
    change = np.bincount(path.first, least, models + 1) - np.bincount(path.end, least, models + 1)
    return np.asarray(np.cumsum(change)[:models], dtype=np.float64)


def _deviance(weight: Array, mean: Array, value: Array) -> Array:
    """Twice the negative log-likelihood of a block; infinite if its likelihood is zero."""
    likelihood = xlogy(mean, value) + xlog1py(1.0 - mean, -value)
    return np.asarray(-2.0 * weight * likelihood, dtype=np.float64)

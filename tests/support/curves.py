"""Fits of one class, of rows in any order."""

from functools import wraps

import numpy as np

from tempocal import nonparametric
from tempocal.nonparametric import sort_rows


def of_rows(fit):
    """Let a fit take log-odds, targets and weights; rows of weight one are counted by class."""

    @wraps(fit)
    def fit_rows(odds, targets, weights, **settings):
        is_plain = weights is None and bool(np.isin(targets, (0, 1)).all())
        return fit(sort_rows(odds, targets == 1 if is_plain else targets, weights), **settings)

    return fit_rows


fit_bayesian = of_rows(nonparametric.fit_bayesian)
fit_histogram = of_rows(nonparametric.fit_histogram)
fit_isotonic = of_rows(nonparametric.fit_isotonic)
fit_near_isotonic = of_rows(nonparametric.fit_near_isotonic)

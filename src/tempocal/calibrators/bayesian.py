"""Bayesian binning into quantiles (Naeini, Cooper and Hauskrecht 2015)."""

from __future__ import annotations

from numpy.typing import ArrayLike

from tempocal.calibrators.base import Calibrator
from tempocal.calibrators.fit_data import FitData, FitResult
from tempocal.calibrators.one_vs_rest import fit_curves
from tempocal.inputs import Inputs
from tempocal.maps import OneVsRest
from tempocal.nonparametric import fit_bayesian


class BayesianBinning(Calibrator):
    """BBQ: the average of all equal-mass binnings, weighted by their marginal likelihood.

    With more than two classes each is binned against the rest and the results are normalized. The
    Beta prior of each bin keeps probabilities away from 0 and 1.

    Parameters
    ----------
    inputs : {"logits", "proba"}, default="logits"
        Whether the predictions are logits or probabilities.
    classes : array-like, default=None
        The class of each column, in order; needed where ``y`` lacks one.

    Attributes
    ----------
    classes_ : ndarray of shape (K,)
        The classes, in the order of the columns of `predict_proba`.

    Examples
    --------
    >>> import numpy as np
    >>> import tempocal as tc
    >>> rng = np.random.default_rng(0)
    >>> p = rng.random(2000)
    >>> cal = tc.BayesianBinning(inputs="proba").fit(p, rng.random(2000) < p**2)
    >>> bool(abs(cal.predict_proba([0.5])[0, 1] - 0.25) < 0.1)
    True
    """

    def __init__(self, *, inputs: Inputs = "logits", classes: ArrayLike | None = None) -> None:
        self.inputs = inputs
        self.classes = classes

    map_: OneVsRest

    def _fit_map(self, data: FitData) -> FitResult:
        return fit_curves(data, fit_bayesian)

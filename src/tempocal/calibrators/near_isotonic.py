"""Ensemble of near-isotonic regressions (Naeini and Cooper 2016)."""

from __future__ import annotations

from functools import partial

from numpy.typing import ArrayLike

from tempocal.calibrators.base import Calibrator
from tempocal.calibrators.fit_data import FitData, FitResult
from tempocal.calibrators.one_vs_rest import PseudoRows, check_pseudo_rows, fit_curves
from tempocal.inputs import Inputs
from tempocal.maps import OneVsRest
from tempocal.nonparametric import fit_near_isotonic


class NearIsotonicEnsemble(Calibrator):
    """ENIR: near-isotonic regressions of all penalty strengths, averaged by BIC.

    Near-isotonic regression penalizes every decrease instead of forbidding it. The models at all
    breakpoints of its regularization path, from the labels themselves to isotonic regression, are
    averaged with weights from their Bayesian information criterion. With more than two classes
    each is fitted against the rest and the results are normalized.

    Parameters
    ----------
    shrinkage : "auto" or float, default="auto"
        Number of pseudo-rows added to each block of equal values, with the block's mean prediction
        as their label. "auto" is one; 0 is the classical method, which can give probabilities of 0
        and 1.
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
    >>> cal = tc.NearIsotonicEnsemble(inputs="proba").fit(p, rng.random(2000) < p**2)
    >>> bool(abs(cal.predict_proba([0.5])[0, 1] - 0.25) < 0.1)
    True
    """

    def __init__(
        self,
        *,
        shrinkage: PseudoRows = "auto",
        inputs: Inputs = "logits",
        classes: ArrayLike | None = None,
    ) -> None:
        self.shrinkage = shrinkage
        self.inputs = inputs
        self.classes = classes

    map_: OneVsRest

    def _fit_map(self, data: FitData) -> FitResult:
        pseudo_rows = check_pseudo_rows(self.shrinkage, auto=1.0)
        return fit_curves(data, partial(fit_near_isotonic, shrinkage=pseudo_rows))

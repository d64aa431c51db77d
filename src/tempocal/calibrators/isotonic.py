"""Isotonic calibration (Zadrozny and Elkan 2002)."""

from __future__ import annotations

from functools import partial

from numpy.typing import ArrayLike

from tempocal.calibrators.base import Calibrator
from tempocal.calibrators.fit_data import FitData, FitResult
from tempocal.calibrators.one_vs_rest import PseudoRows, check_pseudo_rows, fit_curves
from tempocal.inputs import Inputs
from tempocal.maps import OneVsRest
from tempocal.nonparametric import fit_isotonic


class IsotonicCalibration(Calibrator):
    """The increasing function of the prediction that fits the labels best in least squares.

    It is constant within pooled blocks and linear in the logit between them, as in scikit-learn.
    With more than two classes each is fitted against the rest and the results are normalized.

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
    >>> import tempocal as tc
    >>> cal = tc.IsotonicCalibration(shrinkage=0).fit([-2.0, -1.0, 1.0, 2.0], [0, 1, 0, 1])
    >>> cal.predict_proba([-1.0, 0.0, 1.0])[:, 1].round(3)
    array([0.5, 0.5, 0.5])
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
        return fit_curves(data, partial(fit_isotonic, shrinkage=pseudo_rows))

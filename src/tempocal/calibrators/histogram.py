"""Histogram binning (Zadrozny and Elkan 2001)."""

from __future__ import annotations

from functools import partial

from numpy.typing import ArrayLike

from tempocal.calibrators.base import Calibrator
from tempocal.calibrators.fit_data import FitData, FitResult
from tempocal.calibrators.one_vs_rest import PseudoRows, check_pseudo_rows, fit_curves
from tempocal.inputs import Inputs, check_bins, check_choice
from tempocal.maps import OneVsRest
from tempocal.nonparametric import Binning, fit_histogram


class HistogramBinning(Calibrator):
    """The frequency of the class in each bin of its predicted probability.

    With more than two classes each is binned against the rest and the results are normalized.

    Parameters
    ----------
    bins : int, default=15
        Number of bins.
    binning : {"equal_mass", "equal_width"}, default="equal_mass"
        Bins with equal numbers of rows, or of equal width in probability.
    shrinkage : "auto" or float, default="auto"
        Number of pseudo-rows added to each bin, with the bin's mean prediction as their label.
        "auto" is one; 0 is the classical method, which can give probabilities of 0 and 1.
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
    >>> p = [0.1, 0.2, 0.3, 0.4, 0.6, 0.7, 0.8, 0.9]
    >>> y = [0, 0, 1, 0, 1, 0, 1, 1]
    >>> cal = tc.HistogramBinning(bins=2, shrinkage=0, inputs="proba").fit(p, y)
    >>> cal.predict_proba([0.25, 0.95])[:, 1].round(3)
    array([0.25, 0.75])
    """

    def __init__(
        self,
        *,
        bins: int = 15,
        binning: Binning = "equal_mass",
        shrinkage: PseudoRows = "auto",
        inputs: Inputs = "logits",
        classes: ArrayLike | None = None,
    ) -> None:
        self.bins = bins
        self.binning = binning
        self.shrinkage = shrinkage
        self.inputs = inputs
        self.classes = classes

    map_: OneVsRest

    def _fit_map(self, data: FitData) -> FitResult:
        check_choice(self.binning, "binning", ("equal_mass", "equal_width"))
        fit_curve = partial(
            fit_histogram,
            bins=check_bins(self.bins),
            binning=self.binning,
            shrinkage=check_pseudo_rows(self.shrinkage, auto=1.0),
        )
        return fit_curves(data, fit_curve)

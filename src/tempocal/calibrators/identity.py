"""The identity as a calibrator: the baseline of every comparison."""

from __future__ import annotations

from numpy.typing import ArrayLike

from tempocal.calibrators.base import Calibrator
from tempocal.calibrators.fit_data import FitData, FitResult
from tempocal.inputs import Inputs
from tempocal.maps import Scale


class Identity(Calibrator):
    """Leave the predictions as they are.

    Parameters
    ----------
    inputs : {"logits", "proba"}, default="logits"
        Whether the predictions are logits or probabilities.
    classes : array-like, default=None
        The class of each column, in order; needed where ``y`` lacks one.

    Examples
    --------
    >>> import tempocal as tc
    >>> raw = tc.Identity().fit([-1.0, 0.5, 2.0], [0, 0, 1])
    >>> raw.predict_proba([0.0]).tolist()
    [[0.5, 0.5]]
    """

    def __init__(self, *, inputs: Inputs = "logits", classes: ArrayLike | None = None) -> None:
        self.inputs = inputs
        self.classes = classes

    map_: Scale
    _takes_soft_labels = True

    def _fit_map(self, data: FitData) -> FitResult:
        nll = data.nll()
        return FitResult(Scale(1.0), nll_before=nll, nll_after=nll)

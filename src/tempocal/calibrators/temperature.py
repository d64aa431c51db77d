"""Temperature scaling (Guo et al. 2017): the paper's main calibrator."""

from __future__ import annotations

from typing import Literal

from numpy.typing import ArrayLike

from tempocal.calibrators.fit_data import FitData
from tempocal.calibrators.linear_model import linear_model
from tempocal.calibrators.parametric import Family, ParametricCalibrator, check_shrinkage
from tempocal.inputs import Inputs
from tempocal.maps import SCALE, Scale
from tempocal.rows import ODDS, ScaledSoftmax, Sigmoid

# Calibrated logits below this are practically zero, but still keep the ranking.
SMALLEST_LOGIT = 1e-6


class TemperatureScaling(ParametricCalibrator):
    """Divide all logits by one temperature; ranking and accuracy do not change.

    Parameters
    ----------
    shrinkage : "auto" or float, default="auto"
        Strength of the penalty that shrinks the inverse temperature towards 1: a strength s adds
        ``s / 2 * (inverse_temperature - 1)**2`` to the summed negative log likelihood. "auto"
        estimates it from the data; 0 is plain maximum likelihood, as in the paper.
    inputs : {"logits", "proba"}, default="logits"
        Whether the predictions are logits or probabilities.
    classes : array-like, default=None
        The class of each column, in order; needed where ``y`` lacks one.

    Attributes
    ----------
    inverse_temperature_ : float
        Factor of the logits; always positive.
    temperature_ : float
        Its inverse, the paper's tau.
    classes_ : ndarray of shape (K,)
        The classes, in the order of the columns of `predict_proba`.

    Examples
    --------
    >>> import tempocal as tc
    >>> logits = [-4.0, -2.0, -1.0, 1.0, 2.0, 4.0, -3.0, 3.0]
    >>> y = ["lost", "lost", "won", "won", "lost", "won", "lost", "won"]
    >>> cal = tc.TemperatureScaling(shrinkage=0).fit(logits, y)
    >>> round(cal.inverse_temperature_, 3)
    0.624
    >>> cal.predict_proba([2.0]).round(3)
    array([[0.223, 0.777]])
    """

    def __init__(
        self,
        *,
        shrinkage: Literal["auto"] | float = "auto",
        inputs: Inputs = "logits",
        classes: ArrayLike | None = None,
    ) -> None:
        self.shrinkage = shrinkage
        self.inputs = inputs
        self.classes = classes

    map_: Scale

    @property
    def inverse_temperature_(self) -> float:
        """Factor of the logits."""
        return self.map_.inverse_temperature

    @property
    def temperature_(self) -> float:
        """Divisor of the logits."""
        return 1.0 / self.map_.inverse_temperature

    def _family(self, data: FitData) -> Family:
        model = linear_model(
            data,
            ScaledSoftmax() if data.n_classes > 2 else Sigmoid(ODDS),
            identity=[1.0],
            biases=False,
            lower=SMALLEST_LOGIT / max(1.0, data.largest_logit),
            auto=check_shrinkage(self.shrinkage, pairs=False) is None,
        )
        return Family((model,), form=SCALE, loss_is_nll=True)

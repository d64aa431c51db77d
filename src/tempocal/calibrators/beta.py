"""Beta calibration (Kull, Silva Filho and Flach 2017)."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from tempocal.calibrators.fit_data import FitData
from tempocal.calibrators.linear_model import LinearModel, linear_model
from tempocal.calibrators.parametric import (
    Family,
    ParametricCalibrator,
    Shrinkage,
    check_shrinkage,
)
from tempocal.errors import InputError
from tempocal.inputs import Inputs
from tempocal.links import Array
from tempocal.maps import BETAS, Beta, OneVsRest
from tempocal.rows import Sigmoid

_LOG2 = float(np.log(2.0))
# For each form, the matrix from its coefficients to (a, b, c).
_FORMS: dict[str, Array] = {
    "abc": np.eye(3),
    "ac": np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]]),
    "ab": np.array([[1.0, 0.0], [0.0, 1.0], [_LOG2, -_LOG2]]),
}


class BetaCalibration(ParametricCalibrator):
    """Calibrated log-odds ``a * log(p) - b * log(1 - p) + c``; monotone, since a and b are >= 0.

    Parameters
    ----------
    form : {"abc", "ac", "ab"}, default="abc"
        All three parameters; one slope a = b and a bias; or two slopes and the c that maps 1/2 to
        itself, which is ``(a - b) * log(2)``.
    shrinkage : "auto", float or pair of floats, default="auto"
        Strength of the penalty that shrinks a and b towards 1 and c towards 0, one for both or
        one each; see `TemperatureScaling`.
    inputs : {"logits", "proba"}, default="logits"
        Whether the predictions are logits or probabilities.
    classes : array-like, default=None
        The class of each column, in order; needed where ``y`` lacks one.

    Attributes
    ----------
    a_, b_, c_ : ndarray of shape (1,) or (K,)
        For the second class of two, else for each class against the rest.
    classes_ : ndarray of shape (K,)
        The classes, in the order of the columns of `predict_proba`.

    Examples
    --------
    >>> import tempocal as tc
    >>> p = [0.1, 0.2, 0.3, 0.4, 0.6, 0.7, 0.8, 0.9]
    >>> cal = tc.BetaCalibration(inputs="proba").fit(p, [0, 0, 1, 0, 1, 0, 1, 1])
    >>> bool(cal.a_[0] >= 0) and bool(cal.b_[0] >= 0)
    True
    """

    def __init__(
        self,
        *,
        form: Literal["abc", "ac", "ab"] = "abc",
        shrinkage: Shrinkage = "auto",
        inputs: Inputs = "logits",
        classes: ArrayLike | None = None,
    ) -> None:
        self.form = form
        self.shrinkage = shrinkage
        self.inputs = inputs
        self.classes = classes

    map_: OneVsRest

    @property
    def a_(self) -> Array:
        """Slope on log(p) of each class."""
        return np.array([beta.a for beta in self.map_.maps if isinstance(beta, Beta)])

    @property
    def b_(self) -> Array:
        """Slope on -log(1 - p) of each class."""
        return np.array([beta.b for beta in self.map_.maps if isinstance(beta, Beta)])

    @property
    def c_(self) -> Array:
        """Bias of each class."""
        return np.array([beta.c for beta in self.map_.maps if isinstance(beta, Beta)])

    def _family(self, data: FitData) -> Family:
        if self.form not in _FORMS:
            raise InputError(f"form must be one of {list(_FORMS)}, but it is {self.form!r}")
        form = _FORMS[self.form]
        auto = check_shrinkage(self.shrinkage) is None
        models = tuple(_model(data, k, form, auto=auto) for k in data.one_vs_rest_classes)
        return Family(models, form=BETAS)


def _model(data: FitData, of_class: int, form: Array, *, auto: bool) -> LinearModel:
    slopes = np.asarray(form[:2].any(axis=0))
    features = ((0.0,) * form.shape[1], *map(tuple, form.tolist()))
    return linear_model(
        data,
        Sigmoid(features, of_class),
        identity=slopes,
        biases=~slopes,
        lower=np.where(slopes, 0.0, -np.inf),
        auto=auto,
        index=data.one_vs_rest_classes.index(of_class),
        readout=form,
    )

"""Vector scaling (Guo et al. 2017)."""

from __future__ import annotations

from numpy.typing import ArrayLike

from tempocal.calibrators.fit_data import FitData
from tempocal.calibrators.parametric import Family, ParametricCalibrator, Shrinkage
from tempocal.calibrators.softmax_family import (
    bias_of,
    diagonal_family,
    one_column_family,
    weights_of,
)
from tempocal.inputs import Inputs
from tempocal.links import Array
from tempocal.maps import Affine, OneVsRest


class VectorScaling(ParametricCalibrator):
    """A weight and a bias on each class's logit, fitted together under one softmax.

    With one column of logits this is a slope and a bias under one sigmoid. Unlike the other
    methods it is not invariant to shifts of the logits of a row: always pass them as the
    classifier returned them.

    Parameters
    ----------
    shrinkage : "auto", float or pair of floats, default="auto"
        Strength of the penalty that shrinks the weights towards 1 and the biases towards 0, one
        for both or one each; see `TemperatureScaling`. "auto" pools the classes: the mean of the
        weights and their deviations from it have strengths of their own.
    inputs : {"logits", "proba"}, default="logits"
        Whether the predictions are logits or probabilities.
    classes : array-like, default=None
        The class of each column, in order; needed where ``y`` lacks one.

    Attributes
    ----------
    weights_, bias_ : ndarray of shape (K,), or (1,) for one column of logits
        The weights and the biases; the biases of K classes sum to 0.
    classes_ : ndarray of shape (K,)
        The classes, in the order of the columns of `predict_proba`.

    Examples
    --------
    >>> import numpy as np
    >>> import tempocal as tc
    >>> rng = np.random.default_rng(0)
    >>> logits = rng.normal(size=(500, 3))
    >>> y = (logits * [2.0, 1.0, 1.0] + rng.gumbel(size=(500, 3))).argmax(axis=1)
    >>> tc.VectorScaling().fit(logits, y).weights_.round(1)
    array([2. , 1.1, 1. ])
    """

    def __init__(
        self,
        *,
        shrinkage: Shrinkage = "auto",
        inputs: Inputs = "logits",
        classes: ArrayLike | None = None,
    ) -> None:
        self.shrinkage = shrinkage
        self.inputs = inputs
        self.classes = classes

    map_: Affine | OneVsRest

    @property
    def weights_(self) -> Array:
        """Weight of each class."""
        return weights_of(self.map_)

    @property
    def bias_(self) -> Array:
        """Bias of each class."""
        return bias_of(self.map_)

    def _family(self, data: FitData) -> Family:
        if data.has_one_column:
            return one_column_family(data, self.shrinkage)
        return diagonal_family(data, self.shrinkage)

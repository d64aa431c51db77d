"""Matrix scaling (Guo et al. 2017), regularized as by Kull et al. (2019)."""

from __future__ import annotations

from numpy.typing import ArrayLike

from tempocal.calibrators.fit_data import FitData
from tempocal.calibrators.parametric import Family, ParametricCalibrator, Shrinkage
from tempocal.calibrators.softmax_family import (
    Regularization,
    bias_of,
    folds_for,
    full_family,
    one_column_family,
    weights_of,
)
from tempocal.calibrators.table_needs import TableNeeds
from tempocal.inputs import Inputs
from tempocal.links import Array
from tempocal.maps import Affine, OneVsRest


class MatrixScaling(ParametricCalibrator):
    """Softmax of a matrix times the logits plus a bias: multinomial logistic regression.

    With one column of logits this is a slope and a bias under one sigmoid. It has K * (K + 1)
    coefficients, so with many classes it needs many rows.

    Parameters
    ----------
    shrinkage : "auto", float or pair of floats, default="auto"
        Strength of the regularization, one for weights and biases or one each. A strength s adds
        ``s / 2`` times the sum of squares to the summed negative log likelihood, so the lambda of
        Kull et al. is ``s * K * (K - 1) / (2 n)`` and their mu is ``s * K / (2 n)``. "auto" pools
        the diagonal: its mean and the deviations from it have strengths of their own. From 17
        classes on it leaves the diagonal free but for a strength of 1, and chooses by
        cross-validation over ``groups``. 0 is plain maximum likelihood.
    regularization : {"odir", "l2"}, default="odir"
        Shrink the off-diagonal weights and the biases towards 0 and leave the diagonal free (ODIR),
        or shrink all coefficients towards the identity.
    inputs : {"logits", "proba"}, default="logits"
        Whether the predictions are logits or probabilities.
    classes : array-like, default=None
        The class of each column, in order; needed where ``y`` lacks one.

    Attributes
    ----------
    weights_ : ndarray of shape (K, K), or (1,) for one column of logits
        Row k gives the calibrated logit of class k.
    bias_ : ndarray of shape (K,) or (1,)
        The biases; those of K classes sum to 0.
    classes_ : ndarray of shape (K,)
        The classes, in the order of the columns of `predict_proba`.

    Examples
    --------
    >>> import numpy as np
    >>> import tempocal as tc
    >>> rng = np.random.default_rng(0)
    >>> logits = rng.normal(size=(500, 3))
    >>> y = (2.0 * logits + rng.gumbel(size=(500, 3))).argmax(axis=1)
    >>> tc.MatrixScaling().fit(logits, y).weights_.diagonal().round(1)
    array([1.9, 1.9, 1.9])
    """

    def __init__(
        self,
        *,
        shrinkage: Shrinkage = "auto",
        regularization: Regularization = "odir",
        inputs: Inputs = "logits",
        classes: ArrayLike | None = None,
    ) -> None:
        self.shrinkage = shrinkage
        self.regularization = regularization
        self.inputs = inputs
        self.classes = classes

    map_: Affine | OneVsRest

    @property
    def weights_(self) -> Array:
        """Weights, one row per class."""
        return weights_of(self.map_)

    @property
    def bias_(self) -> Array:
        """Bias of each class."""
        return bias_of(self.map_)

    def _table_needs(self) -> TableNeeds:
        return folds_for(self.shrinkage)

    def _family(self, data: FitData) -> Family:
        if data.has_one_column:
            return one_column_family(data, self.shrinkage)
        return full_family(data, self.shrinkage, self.regularization, of_log_proba=False)

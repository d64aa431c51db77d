"""Dirichlet calibration (Kull et al. 2019)."""

from __future__ import annotations

from dataclasses import replace

from numpy.typing import ArrayLike

from tempocal.calibrators.fit_data import FitData
from tempocal.calibrators.parametric import Family, ParametricCalibrator, Shrinkage
from tempocal.calibrators.softmax_family import Regularization, folds_for, full_family
from tempocal.calibrators.table_needs import TableNeeds
from tempocal.inputs import Inputs
from tempocal.links import Array
from tempocal.maps import Affine


class DirichletCalibration(ParametricCalibrator):
    """Softmax of a matrix times the log-probabilities plus a bias.

    It is matrix scaling on log-probabilities, so it is invariant to shifts of the logits. One
    column of logits is expanded to two classes.

    Parameters
    ----------
    shrinkage : "auto", float or pair of floats, default="auto"
        Strength of the regularization; see `MatrixScaling`.
    regularization : {"odir", "l2"}, default="odir"
        Off-diagonal and intercept regularization, or towards the identity; see `MatrixScaling`.
    inputs : {"logits", "proba"}, default="logits"
        Whether the predictions are logits or probabilities.
    classes : array-like, default=None
        The class of each column, in order; needed where ``y`` lacks one.

    Attributes
    ----------
    weights_ : ndarray of shape (K, K)
        Row k gives the calibrated logit of class k.
    bias_ : ndarray of shape (K,)
        The biases, which sum to 0.
    classes_ : ndarray of shape (K,)
        The classes, in the order of the columns of `predict_proba`.

    Examples
    --------
    >>> import numpy as np
    >>> import tempocal as tc
    >>> rng = np.random.default_rng(0)
    >>> p = rng.dirichlet(np.ones(3), size=5000)
    >>> y = (0.5 * np.log(p) + rng.gumbel(size=(5000, 3))).argmax(axis=1)
    >>> tc.DirichletCalibration(inputs="proba").fit(p, y).weights_.diagonal().round(1)
    array([0.5, 0.5, 0.5])
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

    map_: Affine

    @property
    def weights_(self) -> Array:
        """Weights, one row per class."""
        return self.map_.weights

    @property
    def bias_(self) -> Array:
        """Bias of each class."""
        return self.map_.bias

    def _table_needs(self) -> TableNeeds:
        return replace(folds_for(self.shrinkage), folds_for_one_column=True)

    def _family(self, data: FitData) -> Family:
        return full_family(data, self.shrinkage, self.regularization, of_log_proba=True)

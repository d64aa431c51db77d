"""Platt scaling (Platt 1999), on logits."""

from __future__ import annotations

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
from tempocal.inputs import Inputs
from tempocal.links import Array
from tempocal.maps import LINES, Line, OneVsRest
from tempocal.rows import LINE, Sigmoid


class PlattScaling(ParametricCalibrator):
    """A slope and a bias on the logit; with more than two classes, one pair per class vs the rest.

    Parameters
    ----------
    shrinkage : "auto", float or pair of floats, default="auto"
        Strength of the penalty that shrinks the slope towards 1 and the bias towards 0, one for
        both or one each; see `TemperatureScaling`.
    smooth_targets : bool, default=None
        Whether to replace the labels 1 and 0 by Platt's (N1 + 1) / (N1 + 2) and 1 / (N0 + 2), N1
        and N0 being the weight of each class. None smooths with two classes, as Platt did, except
        at ``shrinkage=0``, which is plain maximum likelihood. With several classes and few rows
        smoothing helps overconfident logits but harms others more.
    inputs : {"logits", "proba"}, default="logits"
        Whether the predictions are logits or probabilities.
    classes : array-like, default=None
        The class of each column, in order; needed where ``y`` lacks one.

    Attributes
    ----------
    slope_, bias_ : ndarray of shape (1,) or (K,)
        For the second class of two, else for each class against the rest. A slope may be negative,
        which corrects reversed logits.
    classes_ : ndarray of shape (K,)
        The classes, in the order of the columns of `predict_proba`.

    Examples
    --------
    >>> import tempocal as tc
    >>> cal = tc.PlattScaling(shrinkage=0).fit([-2.0, -1.0, 0.0, 1.0, 2.0, 3.0], [0, 0, 1, 0, 1, 1])
    >>> cal.slope_.round(3), cal.bias_.round(3)
    (array([1.214]), array([-0.607]))
    """

    def __init__(
        self,
        *,
        shrinkage: Shrinkage = "auto",
        smooth_targets: bool | None = None,
        inputs: Inputs = "logits",
        classes: ArrayLike | None = None,
    ) -> None:
        self.shrinkage = shrinkage
        self.smooth_targets = smooth_targets
        self.inputs = inputs
        self.classes = classes

    map_: OneVsRest

    @property
    def slope_(self) -> Array:
        """Slope of each class."""
        return slopes_of(self.map_)

    @property
    def bias_(self) -> Array:
        """Bias of each class."""
        return biases_of(self.map_)

    def _family(self, data: FitData) -> Family:
        smooth, strengths = self.smooth_targets, check_shrinkage(self.shrinkage)
        if smooth is None:
            smooth = data.n_classes == 2 and strengths != (0.0, 0.0)
        models = tuple(
            slope_bias_model(data, k, auto=strengths is None, smooth=smooth)
            for k in data.one_vs_rest_classes
        )
        return Family(models, form=LINES)


def slope_bias_model(
    data: FitData, of_class: int, *, auto: bool, smooth: bool = False
) -> LinearModel:
    """Return the model ``slope * odds + bias``, optionally with Platt's smoothed targets."""
    low, high = 0.0, 1.0
    if smooth:
        positive = float(data.class_weights[of_class])
        negative = float(data.class_weights.sum()) - positive
        low, high = 1.0 / (negative + 2.0), (positive + 1.0) / (positive + 2.0)
    return linear_model(
        data,
        Sigmoid(LINE, of_class, low, high),
        identity=[1.0, 0.0],
        biases=[False, True],
        auto=auto,
        index=data.one_vs_rest_classes.index(of_class),
    )


def slopes_of(fitted: OneVsRest) -> Array:
    """Slope of each class."""
    return np.array([line.slope for line in fitted.maps if isinstance(line, Line)])


def biases_of(fitted: OneVsRest) -> Array:
    """Bias of each class."""
    return np.array([line.bias for line in fitted.maps if isinstance(line, Line)])

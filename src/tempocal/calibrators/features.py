"""Base of the calibrators that are linear in features of the log-odds, each given as a formula."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

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
from tempocal.formula.nodes import Column, Expression, Number, as_expression
from tempocal.formula.numpy_engine import evaluate_all
from tempocal.inputs import Inputs
from tempocal.maps import FeatureForm, OneVsRest
from tempocal.maps.features import CHECKED_ODDS, ODDS, require_features
from tempocal.maps.part import require
from tempocal.rows import OddsFunctions, Sigmoid


@dataclass(frozen=True)
class Feature:
    """A function of the log-odds, and what its coefficient may be.

    Attributes
    ----------
    name : str
        What the coefficient is called, in ``parameters_at`` and in summaries.
    value : Expression
        The function: a formula of the log-odds.
    identity : float
        The coefficient that changes nothing, towards which it is shrunk.
    lower : float
        The least that the coefficient may be.
    unit : float
        How large the feature is where log-odds are large, for one that grows faster than they do:
        the penalty is on the coefficient times this.
    """

    name: str
    value: Expression
    identity: float = 0.0
    lower: float = -np.inf
    unit: float = 1.0


class FeatureCalibrator(ParametricCalibrator, registered=False):
    """Base of the calibrators whose calibrated log-odds are linear in features of the log-odds.

    For two classes it is one model, for more one for each class against the rest. A bias is
    always among the features: it is the last coefficient, called "bias".

    Parameters
    ----------
    shrinkage : "auto", float or pair of floats, default="auto"
        Penalty on the coefficients of features and on the bias, towards changing nothing: one
        strength for both or one each; see `TemperatureScaling`.
    inputs : {"logits", "proba"}, default="logits"
        Whether the predictions are logits or probabilities.
    classes : array-like, default=None
        The class of each column, in order; needed where ``y`` lacks one.
    """

    map_: OneVsRest

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

    def features(self, odds: Expression) -> Sequence[Feature]:
        """Return the features, without the bias.

        Parameters
        ----------
        odds : Expression
            The log-odds of a class. It takes ``+ - * /`` and the functions of `tempocal.extend`.
        """
        raise InputError(f"{type(self).__name__} has no method features(odds), and so no features")

    def _family(self, data: FitData) -> Family:
        try:
            features = _checked(self.features(Column("odds")))
        except ValueError as error:
            raise InputError(f"{type(self).__name__} cannot be fitted: {error}") from error
        values = tuple(feature.value for feature in features)
        names = tuple(feature.name for feature in features)
        models = tuple(self._model(data, k, features) for k in data.one_vs_rest_classes)
        return Family(models, form=FeatureForm(values, names))

    def _model(self, data: FitData, of_class: int, features: tuple[Feature, ...]) -> LinearModel:
        each = tuple(map(tuple, np.eye(len(features)).tolist()))
        functions = OddsFunctions.of(*(feature.value for feature in features))
        model = linear_model(
            data,
            Sigmoid(each, of_class, functions=functions),
            identity=[feature.identity for feature in features],
            biases=np.arange(len(features)) == len(features) - 1,
            lower=[feature.lower for feature in features],
            auto=check_shrinkage(self.shrinkage) is None,
            index=data.one_vs_rest_classes.index(of_class),
        )
        units = np.array([feature.unit for feature in features])
        return replace(model, slopes=model.slopes * units**2)


def _checked(given: Any) -> tuple[Feature, ...]:
    """Return the features that a calibrator gave, with the bias, or raise a ValueError."""
    are_features = isinstance(given, tuple | list) and all(isinstance(f, Feature) for f in given)
    require(
        are_features and len(given) > 0,
        f"features must return a tuple of Feature, not {given!r:.60}",
    )
    features = [replace(feature, value=as_expression(feature.value)) for feature in given]
    for feature in features:
        require(isinstance(feature.name, str), f"the name of a feature is {feature.name!r:.40}")
        require(
            feature.lower <= feature.identity < np.inf and 0.0 < feature.unit < np.inf,
            f"{feature.name!r} must have lower <= identity, both finite, and a unit above 0",
        )
    bias = Feature("bias", Number(1.0))
    require_features(
        tuple(feature.value for feature in (*features, bias)),
        tuple(feature.name for feature in (*features, bias)),
    )
    values = evaluate_all([feature.value for feature in features], {ODDS: CHECKED_ODDS})
    unchanged = sum(f.identity * value for f, value in zip(features, values, strict=True))
    require(
        np.allclose(unchanged, CHECKED_ODDS, rtol=1e-9, atol=1e-9),
        "with the coefficients that are their identity, features must add up to the log-odds: "
        "that is what changes nothing",
    )
    return (*features, bias)

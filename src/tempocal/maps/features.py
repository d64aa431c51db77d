"""Linear combinations of features of the log-odds that are given as formulas."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tempocal.errors import InputError
from tempocal.formula.nodes import Expression, numbers, substitute, total
from tempocal.formula.numpy_engine import evaluate_all
from tempocal.links import Array
from tempocal.maps.fitted_map import Coefficients, Numbers
from tempocal.maps.one_vs_rest import OneVsRest, OneVsRestForm, SmoothMap
from tempocal.maps.part import require, require_coefficients

ODDS = "odds"


@dataclass(frozen=True)
class FeatureMap(SmoothMap):
    """A linear combination of features of the log-odds that are given as formulas.

    Attributes
    ----------
    features : tuple of Expression
        Functions of the column ``odds``, saved with the model.
    names : tuple of str
        What their coefficients are called.
    coefficients : ndarray of shape (features,)
        Or (n, features), where every row has its own.
    """

    schema: ClassVar[int] = 2
    features: tuple[Expression, ...]
    names: tuple[str, ...]
    coefficients: Array

    def __call__(self, odds: Array) -> Array:
        """Calibrate log-odds."""
        with np.errstate(all="ignore"):
            values = np.stack(evaluate_all(self.features, {ODDS: odds}), axis=-1)
            found = np.asarray((values * self.coefficients).sum(axis=-1), dtype=np.float64)
        if not np.isfinite(found).all():
            undefined = odds[~np.isfinite(found)][0]
            raise InputError(f"a feature has no finite value at log-odds of {undefined:g}")
        return found

    def log_odds(self, odds: Expression) -> Expression:
        """Return calibrated log-odds as a formula of the log-odds."""
        return feature_formula(self.features, numbers(self.coefficients), odds)

    def validate(self) -> None:
        """Raise a ValueError if no fit could have left these numbers behind."""
        require_features(self.features, self.names)
        require(self.coefficients.shape == (len(self.features),), "a feature has no coefficient")
        require_coefficients(self.coefficients)


def feature_formula(
    features: tuple[Expression, ...], coefficients: list[Expression], odds: Expression
) -> Expression:
    """Return a linear combination of features of the log-odds as a formula."""
    values = substitute(features, {ODDS: odds})
    return total(c * value for c, value in zip(coefficients, values, strict=True))


# Features must be defined, and not too large, at some log-odds of every size that logits may have.
LARGEST_FEATURE = 1e100
MAX_FEATURES = 100
_NEGATIVE = -np.logspace(53 * np.log10(2), -9, 64)
CHECKED_ODDS = np.concatenate([_NEGATIVE, [0.0], -_NEGATIVE[::-1]])


def require_features(features: tuple[Expression, ...], names: tuple[str, ...]) -> None:
    """Refuse features that are not finite for all logits, or whose names are missing or twice."""
    require(0 < len(features) <= MAX_FEATURES, f"there must be 1 to {MAX_FEATURES} features")
    require(
        len(set(names)) == len(names) == len(features),
        "each feature needs a name of its own, and not bias",
    )
    with np.errstate(all="ignore"):
        values = np.stack(evaluate_all(features, {ODDS: CHECKED_ODDS}))
    for name, inside in zip(names, np.abs(values) <= LARGEST_FEATURE, strict=True):
        where = "" if inside.all() else f"{CHECKED_ODDS[~inside][0]:g}"
        require(
            bool(inside.all()), f"the feature {name!r} is not within 1e100 at log-odds of {where}"
        )


@dataclass(frozen=True)
class FeatureForm(OneVsRestForm):
    """Coefficients of features of the log-odds that are given as formulas."""

    name = "features"
    features: tuple[Expression, ...]
    names: tuple[str, ...]

    def to_map(self, coefficients: Coefficients) -> OneVsRest:
        """Make the map."""
        return OneVsRest(
            tuple(FeatureMap(self.features, self.names, np.array(each)) for each in coefficients)
        )

    def log_odds(self, model: Numbers, odds: Expression) -> Expression:
        """Return the calibrated log-odds of one model."""
        return feature_formula(self.features, list(model), odds)

"""Fitted maps from the log-odds of one class to its calibrated log-odds."""

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tempocal.errors import InputError
from tempocal.formula import links as symbolic
from tempocal.formula.nodes import Expression, Number, clamp, numbers, piecewise, substitute, total
from tempocal.formula.numpy_engine import evaluate_all
from tempocal.links import Array, log_sigmoid
from tempocal.maps.part import Part, require, require_coefficients

ODDS = "odds"


class BinaryMap(Part):
    """What a fitted calibrator of one class can do."""

    @abstractmethod
    def __call__(self, odds: Array) -> Array:
        """Return calibrated log-odds; ``odds`` has shape (n,)."""

    @abstractmethod
    def probability(self, odds: Expression) -> Expression:
        """Return the calibrated probability as a formula of the log-odds."""


class SmoothMap(BinaryMap):
    """One with finite calibrated log-odds."""

    @abstractmethod
    def log_odds(self, odds: Expression) -> Expression:
        """Return calibrated log-odds as a formula of the log-odds."""

    def probability(self, odds: Expression) -> Expression:
        """Return the calibrated probability as a formula of the log-odds."""
        return symbolic.sigmoid(self.log_odds(odds))


@dataclass(frozen=True)
class Line(SmoothMap):
    """Slope and bias: ``slope * odds + bias``."""

    slope: float
    bias: float

    def __call__(self, odds: Array) -> Array:
        """Calibrate log-odds."""
        return self.slope * odds + self.bias

    def log_odds(self, odds: Expression) -> Expression:
        """Return calibrated log-odds as a formula of the log-odds."""
        return odds * self.slope + self.bias

    def validate(self) -> None:
        """Raise a ValueError if no fit could have left these numbers behind."""
        require_coefficients(np.array([self.slope, self.bias]))


@dataclass(frozen=True)
class Beta(SmoothMap):
    """Beta calibration: ``a * log(p) - b * log(1 - p) + c``."""

    a: float
    b: float
    c: float

    def __call__(self, odds: Array) -> Array:
        """Calibrate log-odds."""
        return self.a * log_sigmoid(odds) - self.b * log_sigmoid(-odds) + self.c

    def log_odds(self, odds: Expression) -> Expression:
        """Return calibrated log-odds as a formula of the log-odds."""
        return beta_formula(Number(self.a), Number(self.b), Number(self.c), odds)

    def validate(self) -> None:
        """Raise a ValueError if no fit could have left these numbers behind."""
        require(min(self.a, self.b) >= 0, "a slope is negative")
        require_coefficients(np.array([self.a, self.b, self.c]))


def beta_formula(a: Expression, b: Expression, c: Expression, odds: Expression) -> Expression:
    """Return ``a * log(p) - b * log(1 - p) + c`` as a formula."""
    return symbolic.log_sigmoid(odds) * a - symbolic.log_sigmoid(-odds) * b + c


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
class Steps(BinaryMap):
    """A constant probability in each bin; ``edges`` are the inner ones, each closing a bin.

    A value equal to an edge belongs to the bin on its left.
    """

    edges: Array
    probabilities: Array

    def __call__(self, odds: Array) -> Array:
        """Calibrate log-odds."""
        return _logit(self.probabilities[np.searchsorted(self.edges, odds, side="left")])

    def probability(self, odds: Expression) -> Expression:
        """Return the calibrated probability as a formula of the log-odds."""
        return piecewise(odds, self.edges.tolist(), numbers(self.probabilities), "left")

    def validate(self) -> None:
        """Raise a ValueError if no fit could have left these numbers behind."""
        require(self.probabilities.shape == (self.edges.size + 1,), "bins and edges differ")
        _require_curve(self.edges, self.probabilities)


@dataclass(frozen=True)
class Knots(BinaryMap):
    """A probability that is linear in the log-odds between knots and held beyond the last ones."""

    odds: Array
    probabilities: Array

    def __call__(self, odds: Array) -> Array:
        """Calibrate log-odds."""
        # Interpolation can overshoot its knots by a rounding error.
        inside = np.clip(np.interp(odds, self.odds, self.probabilities), 0.0, 1.0)
        return _logit(inside)

    def probability(self, odds: Expression) -> Expression:
        """Return the calibrated probability; of several knots at one point the last counts."""
        positions, values = self.odds.tolist(), self.probabilities.tolist()
        with np.errstate(all="ignore"):
            slopes = np.diff(self.probabilities) / np.diff(self.odds)
        pieces: list[Expression] = [Number(values[0])]
        for slope, position, value in zip(slopes, positions, values, strict=False):
            rise = (odds - position) * float(slope if np.isfinite(slope) else 0.0)
            pieces.append(rise + value)
        pieces.append(Number(values[-1]))
        return clamp(piecewise(odds, positions, pieces, "right"), 0.0, 1.0)

    def validate(self) -> None:
        """Raise a ValueError if no fit could have left these numbers behind."""
        require(self.odds.size > 0, "there are no knots")
        require(self.probabilities.shape == self.odds.shape, "knots and probabilities differ")
        _require_curve(self.odds, self.probabilities)


def _require_curve(positions: Array, probabilities: Array) -> None:
    # Compared, not subtracted: a difference can overflow.
    ascends = positions.ndim == 1 and bool((positions[1:] >= positions[:-1]).all())
    require(ascends, "positions do not ascend")
    inside = (probabilities >= 0) & (probabilities <= 1)
    require(bool(inside.all()), "a probability is not within [0, 1]")


def _logit(probabilities: Array) -> Array:
    with np.errstate(divide="ignore"):
        return np.log(probabilities) - np.log1p(-probabilities)

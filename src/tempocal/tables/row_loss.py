"""The loss of a row and its derivatives by the coefficients, as formulas of columns.

They say what `tempocal.rows` says with arrays. What is summed over rows is one number each.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import singledispatch
from typing import Any

from tempocal.formula.links import Expressions, log, log_features, log_odds
from tempocal.formula.nodes import (
    AtMost,
    Column,
    Exp,
    Expression,
    Largest,
    Number,
    Same,
    Where,
    clamp,
    divide,
    total,
)
from tempocal.rows import LinearPredictor, ScaledSoftmax, Sigmoid, Softmax

LABEL = "label"


@dataclass(frozen=True)
class RowForecasts:
    """What a row forecasts: probabilities, one for each linear predictor."""

    p: Expressions
    outcomes: Expressions  # what they forecast
    # What each coefficient multiplies, by the linear predictors that it enters.
    features: tuple[Mapping[int, Expression], ...]

    def change(self, feature: Mapping[int, Expression], output: int) -> Expression:
        """Differentiate a probability by a coefficient that multiplies ``feature``."""
        p = self.p
        own = feature.get(output, Number(0.0))
        if len(p) == 1:
            return p[0] * (1.0 - p[0]) * own
        return p[output] * (own - total(p[k] * each for k, each in feature.items()))


@dataclass(frozen=True)
class Terms:
    """What a row adds to the sums, and its forecasts."""

    loss: Expression
    gradient: Expressions
    hessian: Expressions  # of pairs (p, q) with p <= q, row by row
    forecasts: RowForecasts


def terms_of(predictor: LinearPredictor, z: Expressions, theta: Sequence[Expression]) -> Terms:
    """Return what each row adds, from its logits and the coefficients of its key."""
    return _terms(predictor, z, theta)


@singledispatch
def _terms(predictor: Any, z: Expressions, theta: Sequence[Expression]) -> Terms:
    raise TypeError(f"{type(predictor).__name__} has no formula")


@_terms.register
def _(predictor: Sigmoid, z: Expressions, theta: Sequence[Expression]) -> Terms:
    x = _features(predictor, odds_of_class(z, predictor.of_class))
    eta = _combine(theta, x)
    small = Exp(-Largest((eta, -eta)))
    share = divide(Number(1.0), small + 1.0)
    p = Where(AtMost(Number(0.0), eta), share, small * share)
    target = is_class(predictor.of_class) * (predictor.high - predictor.low) + predictor.low
    residual = p - target
    variance = small * share * share
    return Terms(
        clamp(eta, low=0.0) + log(small + 1.0) - target * eta,
        tuple(residual * each for each in x),
        tuple(variance * x[p] * x[q] for p, q in pairs(len(x))),
        RowForecasts((p,), (target,), tuple({0: each} for each in x)),
    )


@_terms.register
def _(predictor: ScaledSoftmax, z: Expressions, theta: Sequence[Expression]) -> Terms:
    top = Largest(z)
    below = [each - top for each in z]
    if predictor.scale != 1.0:
        below = [each * predictor.scale for each in below]
    shares = [Exp(each * theta[0]) for each in below]
    whole = total(shares)
    mean = total(share * each for share, each in zip(shares, below, strict=True)) / whole
    square = total(share * each * each for share, each in zip(shares, below, strict=True)) / whole
    true = _true(below)
    return Terms(
        log(whole) - true * theta[0],
        (mean - true,),
        (square - mean * mean,),
        RowForecasts(
            tuple(share / whole for share in shares),
            tuple(is_class(k) for k in range(len(z))),
            (dict(enumerate(below)),),
        ),
    )


@_terms.register
def _(predictor: Softmax, z: Expressions, theta: Sequence[Expression]) -> Terms:
    features = log_features(z) if predictor.of_log_proba else z
    if predictor.centers:
        pairs_of = zip(features, predictor.centers, strict=True)
        features = tuple((each - center) * predictor.scale for each, center in pairs_of)
    one = Number(1.0)
    width = predictor.n_coefficients // predictor.n_classes
    x = [
        [features[k], one] if predictor.diagonal else [*features, one]
        for k in range(predictor.n_classes)
    ]
    eta = [_combine(theta[k * width :][:width], each) for k, each in enumerate(x)]
    top = Largest(tuple(eta))
    shares = [Exp(each - top) for each in eta]
    whole = total(shares)
    p = [share / whole for share in shares]
    residuals = [each - is_class(k) for k, each in enumerate(p)]
    curvature = {
        (k, j): p[k] * ((one - p[j]) if k == j else -p[j]) for k, j in pairs(predictor.n_classes)
    }
    places = [(k, i) for k in range(predictor.n_classes) for i in range(width)]
    return Terms(
        top + log(whole) - _true(eta),
        tuple(residuals[k] * x[k][i] for k, i in places),
        tuple(
            curvature[places[a][0], places[b][0]]
            * (x[places[a][0]][places[a][1]] * x[places[b][0]][places[b][1]])
            for a, b in pairs(len(places))
        ),
        RowForecasts(
            tuple(p),
            tuple(is_class(k) for k in range(predictor.n_classes)),
            tuple({k: x[k][i]} for k, i in places),
        ),
    )


def pairs(count: int) -> list[tuple[int, int]]:
    """All pairs (p, q) with p <= q, row by row."""
    return [(p, q) for p in range(count) for q in range(p, count)]


def is_class(k: int) -> Expression:
    """Return 1 where the label is a class, else 0."""
    return Where(Same(Column(LABEL), Number(float(k))), Number(1.0), Number(0.0))


def odds_of_class(z: Expressions, k: int) -> Expression:
    """Log-odds of a class against the rest; of two, those of the second."""
    if len(z) > 2:
        return log_odds(z)[k]
    return z[0] if len(z) == 1 else z[1] - z[0]


def _features(predictor: Sigmoid, odds: Expression) -> list[Expression]:
    functions = predictor.functions.formulas(odds)
    return [
        total(
            each if a == 1.0 else each * a for a, each in zip(column, functions, strict=True) if a
        )
        for column in zip(*predictor.features, strict=True)
    ]


def _combine(theta: Sequence[Expression], x: Sequence[Expression]) -> Expression:
    return total(a * each for a, each in zip(theta, x, strict=True))


def _true(values: Sequence[Expression]) -> Expression:
    """Return the one of the true class."""
    return total(is_class(k) * each for k, each in enumerate(values))

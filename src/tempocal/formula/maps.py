"""Fitted maps as formulas: those of `tempocal.maps`, with numbers that may change along time."""

from collections.abc import Callable, Sequence
from functools import singledispatch
from typing import Any

import numpy as np

from tempocal.formula.curves import numbers
from tempocal.formula.links import (
    Expressions,
    log_normalized,
    log_odds,
    log_sigmoid,
    log_softmax,
    logit,
    normalized,
    sigmoid,
    softmax,
)
from tempocal.formula.nodes import Expression, Number, as_expression, clamp, piecewise, total
from tempocal.inputs import SMALLEST_PROBABILITY
from tempocal.maps import Affine, Beta, FittedMap, Knots, Line, OneVsRest, Scale, Steps

LOWEST_FEATURE = float(np.log(SMALLEST_PROBABILITY))

Numbers = Sequence[Expression]


def probabilities(fitted: FittedMap, z: Expressions) -> Expressions:
    """Probability of each class, by a map that does not change along time."""
    if not _is_binned(fitted):
        return from_logits(logits_of(fitted, z))
    chances = _chances(fitted, z)
    return (Number(1.0) - chances[0], chances[0]) if len(chances) == 1 else normalized(chances, z)


def of_form(form: str, models: Sequence[Numbers], z: Expressions) -> Expressions:
    """Probability of each class, by a map of a certain form whose numbers are expressions."""
    return from_logits(logits_of_form(form, models, z))


def logits_of_form(form: str, models: Sequence[Numbers], z: Expressions) -> Expressions:
    """Calibrated logits, by a map of a certain form whose numbers are expressions."""
    return _FORMS[form](models, z)


def from_logits(logits: Expressions) -> Expressions:
    """Probability of each class: of the second by a sigmoid, or of all by softmax."""
    if len(logits) == 1:
        return sigmoid(-logits[0]), sigmoid(logits[0])
    return softmax(logits)


# Maps


@singledispatch
def logits_of(fitted: Any, z: Expressions) -> Expressions:
    """Calibrated logits, by a map that does not change along time; they may be infinite."""
    raise TypeError(f"{type(fitted).__name__} has no formula")


@logits_of.register
def _(fitted: Scale, z: Expressions) -> Expressions:
    return _scale([[Number(fitted.inverse_temperature)]], z)


@logits_of.register
def _(fitted: Affine, z: Expressions) -> Expressions:
    x = log_features(z) if fitted.of_log_proba else z
    bias = numbers(fitted.bias)
    if fitted.weights.ndim == 1:
        return _diagonal(numbers(fitted.weights), bias, x)
    return _full([numbers(row) for row in fitted.weights], bias, x)


@logits_of.register
def _(fitted: OneVsRest, z: Expressions) -> Expressions:
    if _is_binned(fitted):
        chances = _chances(fitted, z)
        return logit(chances) if len(chances) == 1 else log_normalized(chances, z)
    odds = _odds_of(z, len(fitted.maps))
    return _one_vs_rest(
        tuple(_of_odds(one, each) for one, each in zip(fitted.maps, odds, strict=True))
    )


def _is_binned(fitted: FittedMap) -> bool:
    """Tell maps that have a probability for some class without a detour by logits."""
    return isinstance(fitted, OneVsRest) and not all(
        isinstance(one, Line | Beta) for one in fitted.maps
    )


def _chances(fitted: Any, z: Expressions) -> Expressions:
    odds = _odds_of(z, len(fitted.maps))
    return tuple(_chance(one, each) for one, each in zip(fitted.maps, odds, strict=True))


# Maps of one class


@singledispatch
def _of_odds(fitted: Any, odds: Expression) -> Expression:
    raise TypeError(f"{type(fitted).__name__} has no formula")


@_of_odds.register
def _(fitted: Line, odds: Expression) -> Expression:
    return odds * fitted.slope + fitted.bias


@_of_odds.register
def _(fitted: Beta, odds: Expression) -> Expression:
    return _beta([Number(fitted.a), Number(fitted.b), Number(fitted.c)], odds)


def _chance(fitted: Any, odds: Expression) -> Expression:
    """Probability of the class; steps and knots have it without a detour by logits."""
    if isinstance(fitted, Steps):
        pieces = numbers(fitted.probabilities)
        return piecewise(odds, fitted.edges.tolist(), pieces, "left")
    return _between(fitted, odds) if isinstance(fitted, Knots) else sigmoid(_of_odds(fitted, odds))


def _between(fitted: Knots, odds: Expression) -> Expression:
    """Lines between knots, held beyond them; of knots at one place the last counts, from there."""
    positions, values = fitted.odds.tolist(), fitted.probabilities.tolist()
    with np.errstate(all="ignore"):
        slopes = np.diff(fitted.probabilities) / np.diff(fitted.odds)
    pieces: list[Expression] = [Number(values[0])]
    for slope, position, value in zip(slopes, positions, values, strict=False):
        rise = (odds - position) * float(slope if np.isfinite(slope) else 0.0)
        pieces.append(rise + value)
    pieces.append(Number(values[-1]))
    return clamp(piecewise(odds, positions, pieces, "right"), 0.0, 1.0)


# Forms: what the numbers of a curve make


def _scale(models: Sequence[Numbers], z: Expressions) -> Expressions:
    return tuple(each * models[0][0] for each in z)


def _lines(models: Sequence[Numbers], z: Expressions) -> Expressions:
    odds = _odds_of(z, len(models))
    return _one_vs_rest(tuple(each * m[0] + m[1] for each, m in zip(odds, models, strict=True)))


def _betas(models: Sequence[Numbers], z: Expressions) -> Expressions:
    odds = _odds_of(z, len(models))
    return _one_vs_rest(tuple(_beta(m, each) for m, each in zip(models, odds, strict=True)))


def _as_diagonal(models: Sequence[Numbers], z: Expressions) -> Expressions:
    return _diagonal(models[0][::2], _centered(models[0][1::2]), z)


def _as_full(models: Sequence[Numbers], z: Expressions) -> Expressions:
    n_classes = int(np.sqrt(len(models[0])))
    rows = [models[0][k * (n_classes + 1) :][: n_classes + 1] for k in range(n_classes)]
    bias = _centered([row[-1] for row in rows])
    return _full([row[:-1] for row in rows], bias, z)


_FORMS: dict[str, Callable[[Sequence[Numbers], Expressions], Expressions]] = {
    "scale": _scale,
    "lines": _lines,
    "betas": _betas,
    "diagonal": _as_diagonal,
    "full": _as_full,
    "full_of_log_proba": lambda models, z: _as_full(models, log_features(z)),
}


def _beta(abc: Numbers, odds: Expression) -> Expression:
    a, b, c = abc
    return log_sigmoid(odds) * a - log_sigmoid(-odds) * b + c


def _diagonal(weights: Numbers, bias: Numbers, x: Expressions) -> Expressions:
    return tuple(each * w + b for each, w, b in zip(x, weights, bias, strict=True))


def _full(weights: Sequence[Numbers], bias: Numbers, x: Expressions) -> Expressions:
    return tuple(
        total(each * w for each, w in zip(x, row, strict=True)) + b
        for row, b in zip(weights, bias, strict=True)
    )


def _centered(bias: Numbers) -> list[Expression]:
    mean = total(bias) / float(len(bias))
    return [as_expression(each) - mean for each in bias]


def _one_vs_rest(logits: Expressions) -> Expressions:
    """Logits whose softmax normalizes the probabilities of the classes, each against the rest."""
    return logits if len(logits) == 1 else tuple(map(log_sigmoid, logits))


def _odds_of(z: Expressions, n_maps: int) -> Expressions:
    if n_maps > 1:
        return log_odds(z)
    return z if len(z) == 1 else (z[1] - z[0],)


def log_features(z: Expressions) -> Expressions:
    """Log-probability of each class, none below that of the smallest that is told from 0."""
    pair = (log_sigmoid(-z[0]), log_sigmoid(z[0])) if len(z) == 1 else log_softmax(z)
    return tuple(clamp(each, low=LOWEST_FEATURE) for each in pair)

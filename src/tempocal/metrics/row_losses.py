"""Losses of a row as formulas: what the mean metrics are means of."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from tempocal.errors import InputError
from tempocal.formula.links import log
from tempocal.formula.nodes import Below, Expression, Number, Same, Where, clamp, total
from tempocal.inputs import check_choice
from tempocal.metrics.scored_rows import LABEL, LARGEST_SURPRISAL, ScoredRows, indicator

NEVER = Number(0.0)


@dataclass(frozen=True)
class RowLoss:
    """Loss of a row, and its expectation if the probabilities are true.

    An infinite loss is finite in ``loss`` and 1 in ``is_infinite``.
    """

    loss: Expression
    expected: Expression
    is_infinite: Expression = NEVER


# Row loss under the probabilities whose columns have some prefix.
LossFormula = Callable[[ScoredRows, str], RowLoss]


def row_nll(clip: float = 0.0) -> LossFormula:
    """Return the formula of the negative log likelihood."""
    if not (isinstance(clip, int | float | np.number) and 0.0 <= clip < 1.0):
        raise InputError(f"clip must be a number of at least 0 and below 1, but it is {clip!r}")
    return partial(_nll, clip=float(clip))


def row_brier(of: str = "all_classes") -> LossFormula:
    """Return the formula of the Brier score."""
    check_choice(of, "of", ("all_classes", "positive_class"))
    return _brier if of == "all_classes" else _brier_of_one_class


def row_overconfidence(rows: ScoredRows, prefix: str = "p") -> RowLoss:
    """Confidence in the most probable class, minus 1 where it is the true one."""
    confidence = rows.highest(prefix)
    top = rows.top_class(confidence, prefix)
    expected = confidence * (total(rows.proba(prefix)) - 1.0)
    return RowLoss(confidence - indicator(Same(top, LABEL)), expected)


def _nll(rows: ScoredRows, prefix: str = "p", *, clip: float) -> RowLoss:
    surprisal = rows.surprisal(prefix)
    if surprisal is not None:
        return _surprisal(rows, prefix, surprisal, clip)
    true = rows.of_true_class(prefix)
    expected = total(each * _minus_log(each, clip) for each in rows.proba(prefix))
    if clip > 0.0:
        return RowLoss(_minus_log(true, clip), expected)
    is_infinite = Where(Below(Number(0.0), true), Number(0.0), Number(1.0))
    return RowLoss(_minus_log(true, clip), expected, is_infinite)


def _surprisal(rows: ScoredRows, prefix: str, surprisal: list[Expression], clip: float) -> RowLoss:
    """Negative log likelihood from logits: no probability is rounded before its logarithm."""
    highest = -math.log(clip) if clip > 0.0 else math.inf

    def loss(each: Expression) -> Expression:
        if clip > 0.0:
            return clamp(each, high=highest)
        return Where(Below(each, Number(LARGEST_SURPRISAL)), each, Number(0.0))

    true = rows.of_true_class(f"{prefix}_surprisal")
    pairs = zip(rows.proba(prefix), surprisal, strict=True)
    expected = total(p * loss(each) for p, each in pairs)
    if clip > 0.0:
        return RowLoss(loss(true), expected)
    is_infinite = Where(Below(true, Number(LARGEST_SURPRISAL)), Number(0.0), Number(1.0))
    return RowLoss(loss(true), expected, is_infinite)


def _minus_log(p: Expression, clip: float) -> Expression:
    """Clip before the logarithm; without a clip 0 becomes 1, as some engines refuse log(0)."""
    return -1.0 * log(Where(Below(Number(clip), p), p, Number(clip or 1.0)))


def _brier(rows: ScoredRows, prefix: str = "p") -> RowLoss:
    proba, true = rows.proba(prefix), rows.of_true_class(prefix)
    squares = total(each * each for each in proba)
    expected = total(each * (squares - 2.0 * each + 1.0) for each in proba)
    return RowLoss((1.0 - true) ** 2 + (squares - true * true), expected)


def _brier_of_one_class(rows: ScoredRows, prefix: str = "p") -> RowLoss:
    other, p, *_ = rows.proba(prefix)
    error = p - indicator(Same(LABEL, Number(1.0)))
    return RowLoss(error * error, other * p * p + p * (1.0 - p) ** 2)

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

    An infinite loss is finite in ``loss`` and 1 in ``is_infinite``. ``by_class`` is the loss if
    each of the classes is the true one, of those losses that a gain is computed of.
    """

    loss: Expression
    expected: Expression
    is_infinite: Expression = NEVER
    by_class: tuple[Expression, ...] = ()

    def columns(self) -> dict[str, Expression]:
        """Return the columns that are summed."""
        return {"loss": self.loss, "expected": self.expected, "is_infinite": self.is_infinite}


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
    by_class = tuple(_minus_log(each, clip) for each in rows.proba(prefix))
    pairs = zip(rows.proba(prefix), by_class, strict=True)
    expected = total(p * each for p, each in pairs)
    never = Where(Below(Number(0.0), true), Number(0.0), Number(1.0))
    is_infinite = NEVER if clip > 0.0 else never
    return RowLoss(_minus_log(true, clip), expected, is_infinite, by_class)


def _surprisal(rows: ScoredRows, prefix: str, surprisal: list[Expression], clip: float) -> RowLoss:
    """Negative log likelihood from logits: no probability is rounded before its logarithm."""
    highest = -math.log(clip) if clip > 0.0 else math.inf

    def loss(each: Expression) -> Expression:
        if clip > 0.0:
            return clamp(each, high=highest)
        return Where(Below(each, Number(LARGEST_SURPRISAL)), each, Number(0.0))

    true = rows.of_true_class(f"{prefix}_surprisal")
    by_class = tuple(map(loss, surprisal))
    pairs = zip(rows.proba(prefix), by_class, strict=True)
    expected = total(p * each for p, each in pairs)
    never = Where(Below(true, Number(LARGEST_SURPRISAL)), Number(0.0), Number(1.0))
    is_infinite = NEVER if clip > 0.0 else never
    return RowLoss(loss(true), expected, is_infinite, by_class)


def _minus_log(p: Expression, clip: float) -> Expression:
    """Clip before the logarithm; without a clip 0 becomes 1, as some engines refuse log(0)."""
    return -1.0 * log(Where(Below(Number(clip), p), p, Number(clip or 1.0)))


def _brier(rows: ScoredRows, prefix: str = "p") -> RowLoss:
    proba, true = rows.proba(prefix), rows.of_true_class(prefix)
    squares = total(each * each for each in proba)
    expected = total(each * (squares - 2.0 * each + 1.0) for each in proba)
    by_class = tuple((1.0 - each) ** 2 + (squares - each * each) for each in proba)
    return RowLoss((1.0 - true) ** 2 + (squares - true * true), expected, NEVER, by_class)


def _brier_of_one_class(rows: ScoredRows, prefix: str = "p") -> RowLoss:
    other, p, *_ = rows.proba(prefix)
    error = p - indicator(Same(LABEL, Number(1.0)))
    by_class = (p * p, (1.0 - p) ** 2)
    return RowLoss(error * error, other * p * p + p * (1.0 - p) ** 2, NEVER, by_class)

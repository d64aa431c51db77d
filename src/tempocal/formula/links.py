"""Sigmoid, softmax and log-odds as formulas: those of `tempocal.links`, in what every engine has.

There is no log1p or expm1 in SQL. What is exponentiated in the end must be right to an absolute
error only, and ``log(1 + u)`` is. Where the error must be relative there is `log1p`.
"""

import math
from collections.abc import Sequence

import numpy as np

from tempocal.formula.nodes import (
    AtMost,
    Below,
    Exp,
    Expression,
    Largest,
    Log,
    Number,
    Same,
    Where,
    as_expression,
    clamp,
    divide,
    total,
)
from tempocal.links import SMALLEST_PROBABILITY

# PostgreSQL raises where exp overflows or underflows. The double nearest to it is left alone.
LARGEST_EXPONENT = 700.0
SMALLEST_DOUBLE = 2.0**-1022
# Up to so many classes each probability is written out by itself, which makes short formulas; with
# more the sum of exponentials is computed once.
FEW_CLASSES = 8
# Below this five terms of the series of log(1 + u) are exact; above it the sum 1 + u is.
SMALL = 1e-3
LOWEST_FEATURE = float(np.log(SMALLEST_PROBABILITY))

Expressions = tuple[Expression, ...]


def sqrt(argument: Expression | float) -> Expression:
    """Square root of what is nonnegative by construction."""
    # There is no square root among the operations of all engines.
    return exp(log(clamp(as_expression(argument), low=SMALLEST_DOUBLE)) * 0.5)


def exp(exponent: Expression | float, low: float = -LARGEST_EXPONENT) -> Expression:
    """Exponential, of an exponent that is kept within what a double can hold."""
    clamped = clamp(as_expression(exponent), low, LARGEST_EXPONENT)
    return Number(math.exp(clamped.value)) if isinstance(clamped, Number) else Exp(clamped)


def log(argument: Expression | float) -> Expression:
    """Natural logarithm of what is positive by construction."""
    argument = as_expression(argument)
    return Number(math.log(argument.value)) if isinstance(argument, Number) else Log(argument)


def log1p(argument: Expression) -> Expression:
    """``log(1 + u)`` for nonnegative u, with all digits of a small u."""
    u = argument
    series = u * (1.0 - u * (1.0 / 2 - u * (1.0 / 3 - u * (1.0 / 4 - u * (1.0 / 5)))))
    return Where(Below(u, Number(SMALL)), series, log(u + 1.0))


def sigmoid(logit: Expression) -> Expression:
    """Logistic function, exact at both ends."""
    return divide(Number(1.0), exp(-logit) + 1.0)


def log_sigmoid(logit: Expression) -> Expression:
    """Log of the sigmoid."""
    size = Largest((logit, -logit))
    return clamp(logit, high=0.0) - log(exp(-size) + 1.0)


def softmax(logits: Expressions) -> Expressions:
    """Probability of each class."""
    if len(logits) <= FEW_CLASSES:
        return tuple(_against_others(logits, k) for k in range(len(logits)))
    top = Largest(logits)
    shares = [exp(logit - top) for logit in logits]
    normalizer = total(shares)
    return tuple(share / normalizer for share in shares)


def log_softmax(logits: Expressions) -> Expressions:
    """Log-probability of each class."""
    top = Largest(logits)
    shifted = [logit - top for logit in logits]
    normalizer = log(total(exp(each) for each in shifted))
    return tuple(each - normalizer for each in shifted)


def log_features(logits: Expressions) -> Expressions:
    """Log-probability of each class, none below that of the smallest nonzero probability."""
    if len(logits) == 1:
        log_p: Expressions = (log_sigmoid(-logits[0]), log_sigmoid(logits[0]))
    else:
        log_p = log_softmax(logits)
    return tuple(clamp(each, low=LOWEST_FEATURE) for each in log_p)


def log_odds(logits: Expressions) -> Expressions:
    """Log-odds of each class against all the others."""
    return tuple(_odds(logits[k], logits[:k] + logits[k + 1 :]) for k in range(len(logits)))


def normalized(probabilities: Expressions, logits: Expressions) -> Expressions:
    """Divide by the sum; where that is zero, the softmax of the logits."""
    normalizer = total(probabilities)
    is_lost = AtMost(normalizer, Number(0.0))
    divisor = Where(Below(Number(0.0), normalizer), normalizer, Number(1.0))
    return tuple(
        Where(is_lost, kept, each / divisor)
        for kept, each in zip(softmax(logits), probabilities, strict=True)
    )


def top_class(probabilities: Sequence[Expression], highest: Expression) -> Expression:
    """Return the class with the highest probability, the first of them in a tie."""
    *others, last = enumerate(probabilities)
    chosen: Expression = Number(float(last[0]))
    for k, each in reversed(others):
        chosen = Where(Same(each, highest), Number(float(k)), chosen)
    return chosen


def logit(probabilities: Expressions) -> Expressions:
    """Log-odds of probabilities; infinite where they are 0 or 1."""
    return tuple(
        Where(AtMost(Number(1.0), each), Number(math.inf), _log(each) - log(_positive(_rest(each))))
        for each in probabilities
    )


def log_normalized(probabilities: Expressions, logits: Expressions) -> Expressions:
    """Log-probabilities up to a constant; where all are 0, those of the logits."""
    is_lost = AtMost(total(probabilities), Number(0.0))
    return tuple(
        Where(is_lost, kept, _log(each))
        for kept, each in zip(log_softmax(logits), probabilities, strict=True)
    )


def _log(probability: Expression) -> Expression:
    return Where(AtMost(probability, Number(0.0)), Number(-math.inf), log(_positive(probability)))


def _positive(probability: Expression) -> Expression:
    return clamp(probability, low=SMALLEST_DOUBLE)


def _rest(probability: Expression) -> Expression:
    return Number(1.0) - probability


def _against_others(logits: Expressions, k: int) -> Expression:
    others = (logit for j, logit in enumerate(logits) if j != k)
    return divide(Number(1.0), total([Number(1.0), *(exp(each - logits[k]) for each in others)]))


def _odds(logit: Expression, others: Expressions) -> Expression:
    if len(others) == 1:
        return logit - others[0]
    top = Largest(others)
    return (logit - top) - log(total(exp(other - top) for other in others))

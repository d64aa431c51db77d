"""The door for logits and probabilities, as a formula: that of `tempocal.inputs.logits`.

What is refused there has no answer here: `Readings.valid` is where there is one.
"""

import sys
from collections.abc import Sequence
from dataclasses import dataclass

from tempocal.formula.links import Expressions, exp, log
from tempocal.formula.nodes import (
    AtMost,
    Below,
    Column,
    Condition,
    Every,
    Expression,
    Largest,
    Number,
    Some,
    Where,
    clamp,
    total,
)
from tempocal.inputs import CERTAIN_LOGIT, SMALLEST_PROBABILITY, Inputs
from tempocal.inputs.logits import LARGEST_LOGIT, SUM_TOLERANCE

LARGEST_DOUBLE = sys.float_info.max
# Less than any logit, for those that are not to count.
FAR_BELOW = -2.0 * LARGEST_LOGIT


@dataclass(frozen=True)
class Readings:
    """Numbers that are finite, and where they are to be trusted."""

    values: Expressions
    valid: Condition


def read_scores(names: Sequence[str], inputs: Inputs) -> Readings:
    """Return the logits in some columns of logits or of probabilities."""
    columns = [Column(name) for name in names]
    if inputs == "proba":
        return _from_one_proba(columns[0]) if len(columns) == 1 else _from_proba(columns)
    return _from_one_logit(columns[0]) if len(columns) == 1 else _from_logits(columns)


def within(value: Expression, low: float, high: float) -> Condition:
    """Tell whether a number lies between two; NaN does not, for it is not below the upper one.

    Some engines take NaN for the largest number of all, and others for none.
    """
    return Every((AtMost(value, Number(high)), AtMost(Number(low), value)))


def _from_one_logit(z: Column) -> Readings:
    certain, never = Number(CERTAIN_LOGIT), Number(-CERTAIN_LOGIT)
    value = Where(_is_finite(z), z, Where(_is_below(z), never, certain))
    return Readings((value,), Some((_is_finite(z), _is_above(z), _is_below(z))))


def _from_logits(columns: list[Column]) -> Readings:
    finite = [_is_finite(z) for z in columns]
    counted = [
        Where(is_finite, z, Number(FAR_BELOW)) for is_finite, z in zip(finite, columns, strict=True)
    ]
    top = Largest(tuple(counted))
    rest = Where(Some(tuple(finite)), top + log(total(exp(z - top) for z in counted)), Number(0.0))
    values = tuple(
        Where(
            _is_finite(z),
            z,
            rest + Where(_is_below(z), Number(-CERTAIN_LOGIT), Number(CERTAIN_LOGIT)),
        )
        for z in columns
    )
    return Readings(values, Every((*_known(columns), *_are_clear(columns))))


def _known(columns: list[Column]) -> list[Condition]:
    return [Some((_is_finite(z), _is_above(z), _is_below(z))) for z in columns]


def _are_clear(columns: list[Column]) -> list[Condition]:
    """Refuse several classes that are certain, and none that is possible."""
    certain = total(Where(_is_above(z), Number(1.0), Number(0.0)) for z in columns)
    possible = total(Where(_is_below(z), Number(0.0), Number(1.0)) for z in columns)
    return [AtMost(certain, Number(1.0)), AtMost(Number(1.0), possible)]


def _from_one_proba(p: Column) -> Readings:
    inside = _clipped(p)
    return Readings((log(inside) - log(Number(1.0) - inside),), within(p, 0.0, 1.0))


def _from_proba(columns: list[Column]) -> Readings:
    row_sum = total(columns)
    sums = within(row_sum - 1.0, -SUM_TOLERANCE, SUM_TOLERANCE)
    valid = Every((*(within(p, 0.0, 1.0) for p in columns), sums))
    return Readings(tuple(log(_clipped(p)) for p in columns), valid)


def _clipped(p: Expression) -> Expression:
    return clamp(p, SMALLEST_PROBABILITY, 1.0 - SMALLEST_PROBABILITY)


def _is_finite(z: Expression) -> Condition:
    return within(z, -LARGEST_LOGIT, LARGEST_LOGIT)


def _is_above(z: Expression) -> Condition:
    """Tell plus infinity, and not NaN, from the rest."""
    return Below(-z, Number(-LARGEST_DOUBLE))


def _is_below(z: Expression) -> Condition:
    return Below(z, Number(-LARGEST_DOUBLE))

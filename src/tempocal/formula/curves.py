"""Curves along time as formulas: the bases of `tempocal.maps.bases`, combined."""

from collections.abc import Callable, Sequence
from functools import singledispatch
from typing import Any

import numpy as np

from tempocal.formula.links import LARGEST_EXPONENT, Expressions, exp, log
from tempocal.formula.nodes import (
    Condition,
    Every,
    Expression,
    Number,
    Same,
    clamp,
    piecewise,
    total,
)
from tempocal.inputs import LARGEST_TIME
from tempocal.links import Array
from tempocal.maps import (
    Basis,
    BinBasis,
    ConstantBasis,
    ExponentialBasis,
    ProductBasis,
    SplineBasis,
    StepBasis,
)

# From coefficients, one for each function of a basis, to the curve at the time of each row.
Curve = Callable[[Sequence[Expression]], Expression]


def curve_along(basis: Basis, time: Expressions) -> Curve:
    """Return what makes a curve of coefficients.

    What does not depend on the coefficients is worked out once for all curves.
    """
    return _curve(basis, time)


def seen_by(basis: Basis, time: Expressions) -> Condition | None:
    """Tell where a basis knows an answer; None: everywhere."""
    if isinstance(basis, ProductBasis):
        parts = (seen_by(basis.one, time[:1]), seen_by(basis.other, time[1:]))
        known = tuple(part for part in parts if part is not None)
        return Every(known) if known else None
    if isinstance(basis, StepBasis) and basis.unseen == "error":
        nearest = choose_step(basis, time[0], [Number(float(t)) for t in basis.times])
        return Same(time[0], nearest)
    return None


def choose_step(
    basis: StepBasis | BinBasis, time: Expression, pieces: Sequence[Expression]
) -> Expression:
    """Return the piece of the step that is nearest, or of the stretch."""
    if isinstance(basis, BinBasis):
        return piecewise(time, basis.edges.tolist(), pieces, "right")
    return piecewise(time, _half_way(basis.times).tolist(), pieces, "left")


def numbers(values: Array) -> list[Expression]:
    """Return constants as expressions."""
    return [Number(float(value)) for value in values]


@singledispatch
def _curve(basis: Any, time: Expressions) -> Curve:
    raise TypeError(f"{type(basis).__name__} has no formula")


@_curve.register
def _(basis: ConstantBasis, time: Expressions) -> Curve:
    return lambda coefficients: coefficients[0]


@_curve.register
def _(basis: ExponentialBasis, time: Expressions) -> Curve:
    # Times at which nothing is left of the start are clamped, for products could overflow.
    longest = LARGEST_EXPONENT / max(basis.rate, 1e-300)
    elapsed = clamp(time[0], basis.first, min(basis.first + longest, LARGEST_TIME)) - basis.first
    share = exp(elapsed * -basis.rate)
    return lambda coefficients: coefficients[0] + (coefficients[1] - coefficients[0]) * share


@_curve.register
def _(basis: SplineBasis, time: Expressions) -> Curve:
    n = int(basis.intervals)
    position = _position(basis, time[0])
    offsets = [position - float(k) for k in range(n)]
    inner = [float(k) for k in range(1, n)]

    def curve(coefficients: Sequence[Expression]) -> Expression:
        pieces = [_cubic(coefficients[k : k + 4], offsets[k]) for k in range(n)]
        return piecewise(position, inner, pieces, "right")

    return curve


@_curve.register
def _(basis: StepBasis, time: Expressions) -> Curve:
    if basis.unseen != "interpolate" or len(basis.times) == 1:
        return lambda coefficients: choose_step(basis, time[0], coefficients)
    times = basis.times.tolist()
    inside = clamp(time[0], times[0], times[-1])
    offsets = [inside - start for start in times[:-1]]

    def curve(coefficients: Sequence[Expression]) -> Expression:
        pieces = [
            coefficients[k]
            + offsets[k] * ((coefficients[k + 1] - coefficients[k]) / (times[k + 1] - times[k]))
            for k in range(len(times) - 1)
        ]
        return piecewise(inside, times[1:-1], pieces, "left")

    return curve


@_curve.register
def _(basis: BinBasis, time: Expressions) -> Curve:
    return lambda coefficients: choose_step(basis, time[0], coefficients)


@_curve.register
def _(basis: ProductBasis, time: Expressions) -> Curve:
    # A curve along one clock whose coefficients are curves along the other.
    outer, inner = _curve(basis.one, time[:1]), _curve(basis.other, time[1:])
    width = basis.other.n_functions

    def curve(coefficients: Sequence[Expression]) -> Expression:
        rows = range(0, len(coefficients), width)
        return outer([inner(coefficients[start : start + width]) for start in rows])

    return curve


def _position(basis: SplineBasis, time: Expression) -> Expression:
    """Where a time lies among the knots, from 0 to the number of intervals."""
    whole = basis.last - basis.first
    inside = clamp(time, basis.first, basis.last) - basis.first
    if basis.unit > 0.0:
        position = log(inside / basis.unit + 1.0) * (basis.intervals / np.log1p(whole / basis.unit))
    else:
        position = inside / whole * basis.intervals
    return clamp(position, 0.0, basis.intervals)


def _cubic(c: Sequence[Expression], x: Expression) -> Expression:
    """Combine the four B-splines of an interval, as a polynomial in the place within it."""
    constant = total([c[0], c[1] * 4.0, c[2]]) / 6.0
    linear = (c[2] - c[0]) / 2.0
    square = total([c[0], c[1] * -2.0, c[2]]) / 2.0
    cube = total([c[3] - c[0], (c[1] - c[2]) * 3.0]) / 6.0
    return constant + x * (linear + x * (square + x * cube))


def _half_way(times: Array) -> Array:
    """Return the last time that is as near to a step as to the next, for each but the last."""
    before, after = times[:-1], times[1:]
    middle = before + (after - before) / 2.0
    # Rounding may have put it on the far side.
    is_closer = middle - before <= after - middle
    return np.where(is_closer, middle, np.nextafter(middle, before))

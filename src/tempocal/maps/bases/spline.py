"""Cubic B-splines."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tempocal.formula.links import Expressions, log
from tempocal.formula.nodes import Expression, clamp, piecewise, total
from tempocal.links import Array
from tempocal.maps.bases.basis import Basis, Combination
from tempocal.maps.part import require, require_time


@dataclass(frozen=True)
class SplineBasis(Basis):
    """Cubic B-splines with equally spaced knots on time, or on the logarithm of time.

    With a ``unit`` above zero the clock is ``log(1 + (time - first) / unit)``.
    """

    first: float
    last: float
    unit: float
    intervals: float

    @property
    def n_functions(self) -> int:
        """How many functions there are."""
        return int(self.intervals) + 3

    def clock(self, time: Array) -> Array:
        """Time as it runs from 0 at the first to 1 at the last time of the fit."""
        inside = np.clip(time, self.first, self.last) - self.first
        if self.last == self.first:
            return np.zeros_like(inside)
        length = self.last - self.first
        if self.unit > 0.0:
            return np.asarray(np.log1p(inside / self.unit) / np.log1p(length / self.unit))
        return np.asarray(inside / length)

    def __call__(self, time: Array) -> Array:
        """Return the functions at some times, of shape (n, functions)."""
        n = int(self.intervals)
        position = np.minimum(self.clock(time), 1.0) * n
        left = np.minimum(position.astype(np.intp), n - 1)
        x = position - left
        pieces = ((1 - x) ** 3, 3 * x**3 - 6 * x**2 + 4, -3 * x**3 + 3 * x**2 + 3 * x + 1, x**3)
        matrix = np.zeros((len(time), n + 3))
        rows = np.arange(len(time))
        for shift, piece in enumerate(pieces):
            matrix[rows, left + shift] = piece / 6.0
        return matrix

    def combination(self, time: Expressions) -> Combination:
        """Return what makes a curve of its coefficients."""
        n = int(self.intervals)
        position = self._position(time[0])
        offsets = [position - float(k) for k in range(n)]
        inner = [float(k) for k in range(1, n)]

        def curve(coefficients: Sequence[Expression]) -> Expression:
            pieces = [_cubic(coefficients[k : k + 4], offsets[k]) for k in range(n)]
            return piecewise(position, inner, pieces, "right")

        return curve

    def _position(self, time: Expression) -> Expression:
        """Return where a time lies among the knots, from 0 to the number of intervals."""
        length = self.last - self.first
        inside = clamp(time, self.first, self.last) - self.first
        if self.unit > 0.0:
            scale = self.intervals / np.log1p(length / self.unit)
            position = log(inside / self.unit + 1.0) * scale
        else:
            position = inside / length * self.intervals
        return clamp(position, 0.0, self.intervals)

    def validate(self) -> None:
        """Raise a ValueError if no fit could have left these numbers behind."""
        require_time(self.first, self.last)
        length = self.last - self.first
        require(0.0 < length < math.inf and self.unit >= 0.0, "there is no range of time")
        # The clock divides by this.
        on_clock = math.log1p(length / self.unit) if self.unit > 0.0 else length
        require(0.0 < on_clock < math.inf, "the clock stands still")
        require(self.intervals >= 1.0 and self.intervals.is_integer(), "intervals are no count")


def _cubic(c: Sequence[Expression], x: Expression) -> Expression:
    """Combine the four B-splines of an interval, as a polynomial in the position within it."""
    constant = total([c[0], c[1] * 4.0, c[2]]) / 6.0
    linear = (c[2] - c[0]) / 2.0
    square = total([c[0], c[1] * -2.0, c[2]]) / 2.0
    cube = total([c[3] - c[0], (c[1] - c[2]) * 3.0]) / 6.0
    return constant + x * (linear + x * (square + x * cube))

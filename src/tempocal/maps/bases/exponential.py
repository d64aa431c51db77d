"""Decay from a first value towards a limit."""

from dataclasses import dataclass

import numpy as np

from tempocal.formula.links import LARGEST_EXPONENT, Expressions, exp
from tempocal.formula.nodes import clamp
from tempocal.inputs import LARGEST_TIME
from tempocal.links import Array
from tempocal.maps.bases.basis import Basis, Combination
from tempocal.maps.part import require, require_time


@dataclass(frozen=True)
class ExponentialBasis(Basis):
    """``1 - u`` and ``u = exp(-rate * (time - first))``: the curve at infinity and at first."""

    rate: float
    first: float

    @property
    def n_functions(self) -> int:
        """How many functions there are."""
        return 2

    def __call__(self, time: Array) -> Array:
        """Return the functions at some times, of shape (n, functions)."""
        return _decay(self.rate, time - self.first)

    def combination(self, time: Expressions) -> Combination:
        """Return what makes a curve of its coefficients."""
        # Times at which nothing is left of the start are clamped, for products could overflow.
        longest = LARGEST_EXPONENT / max(self.rate, 1e-300)
        elapsed = clamp(time[0], self.first, min(self.first + longest, LARGEST_TIME)) - self.first
        share = exp(elapsed * -self.rate)
        return lambda coefficients: coefficients[0] + (coefficients[1] - coefficients[0]) * share

    def validate(self) -> None:
        """Raise a ValueError if no fit could have left these numbers behind."""
        require(self.rate > 0.0, "the rate is not positive")
        require_time(self.first)


@dataclass(frozen=True)
class ExponentialBases(ExponentialBasis, saved=False):
    """Exponential bases at several rates, which are the first axis of their functions."""

    rate: Array  # type: ignore[assignment]


def _decay(rates: float | Array, since: Array) -> Array:
    with np.errstate(over="ignore"):  # long after the fit nothing is left of it
        fall = np.multiply.outer(-rates, np.maximum(since, 0.0))
    functions = np.empty((*fall.shape, 2))
    # expm1 keeps the digits of 1 - u where u is nearly 1.
    functions[..., 0] = -np.expm1(fall)
    np.exp(fall, out=functions[..., 1])
    return functions

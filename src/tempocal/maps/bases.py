"""Functions of time whose combinations are curves: what a fitted curve is made of.

Every basis is positive and sums to 1 at all times, so that a curve lies between its smallest and
its largest coefficient, and coefficients that are all alike make a constant. Before the first time
of the fit a curve is held, and after the last, but for the exponential.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from tempocal.errors import InputError
from tempocal.inputs import Codes
from tempocal.links import Array


class Basis(Protocol):
    """What a basis can do."""

    @property
    def n_functions(self) -> int:
        """How many functions there are."""

    def __call__(self, time: Array) -> Array:
        """Return the functions at some times, of shape (n, functions)."""

    def combine(self, time: Array, table: Array) -> Array:
        """Return the curves whose coefficients are the columns of ``table``: (n, columns)."""


class _Dense(ABC):
    """A basis of few functions."""

    @abstractmethod
    def __call__(self, time: Array) -> Array:
        """Return the functions at some times, of shape (n, functions)."""

    def combine(self, time: Array, table: Array) -> Array:
        """Return the curves whose coefficients are the columns of ``table``: (n, columns)."""
        return np.asarray(self(time) @ table, dtype=np.float64)


@dataclass(frozen=True)
class ConstantBasis(_Dense):
    """The function 1."""

    @property
    def n_functions(self) -> int:
        """How many functions there are."""
        return 1

    def __call__(self, time: Array) -> Array:
        """Return the functions at some times, of shape (n, functions)."""
        return np.ones((len(time), 1))


@dataclass(frozen=True)
class ExponentialBasis(_Dense):
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


@dataclass(frozen=True)
class ExponentialBases(_Dense):
    """Exponential bases at several rates, which are the first axis of their functions."""

    rates: Array
    first: float

    @property
    def n_functions(self) -> int:
        """How many functions there are at each rate."""
        return 2

    def __call__(self, time: Array) -> Array:
        """Return the functions at some times, of shape (rates, n, functions)."""
        return _decay(self.rates, time - self.first)


def _decay(rates: float | Array, since: Array) -> Array:
    with np.errstate(over="ignore"):  # long after the fit nothing is left of it
        fall = np.multiply.outer(-rates, np.maximum(since, 0.0))
    functions = np.empty((*fall.shape, 2))
    # expm1 keeps the digits of 1 - u where u is nearly 1.
    functions[..., 0] = -np.expm1(fall)
    np.exp(fall, out=functions[..., 1])
    return functions


@dataclass(frozen=True)
class SplineBasis(_Dense):
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
        whole = self.last - self.first
        if self.unit > 0.0:
            return np.asarray(np.log1p(inside / self.unit) / np.log1p(whole / self.unit))
        return np.asarray(inside / whole)

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


@dataclass(frozen=True)
class StepBasis:
    """A function for each of some ascending times.

    At a time in between, ``unseen`` says what happens: the "nearest" of the times, of two as near
    the earlier one; a line between its neighbors ("interpolate"); or an "error".
    """

    times: Array
    unseen: str

    @property
    def n_functions(self) -> int:
        """How many functions there are."""
        return len(self.times)

    def __call__(self, time: Array) -> Array:
        """Return the functions at some times, of shape (n, functions)."""
        return self.combine(time, np.eye(len(self.times)))

    @property
    def _are_whole_numbers(self) -> bool:
        """Whether the times are whole numbers without a gap, which need no search."""
        first, span = self.times[0], self.times[-1] - self.times[0]
        whole = first == np.floor(first) and abs(first) < 2**40
        return bool(whole and span == len(self.times) - 1 and (np.diff(self.times) == 1).all())

    def combine(self, time: Array, table: Array) -> Array:
        """Return the curves whose coefficients are the columns of ``table``: (n, columns)."""
        if self.unseen != "interpolate":
            return np.take(table, self.codes(time), axis=0)
        after = np.clip(np.searchsorted(self.times, time), 1, max(len(self.times) - 1, 1))
        if len(self.times) == 1:
            return np.asarray(np.repeat(table, len(time), axis=0))
        before = after - 1
        gap = self.times[after] - self.times[before]
        with np.errstate(over="ignore"):  # far from two times that are close
            share = np.clip((time - self.times[before]) / gap, 0.0, 1.0)[:, None]
        return np.asarray((1.0 - share) * table[before] + share * table[after])

    def codes(self, time: Array) -> Codes:
        """Position of the nearest time."""
        if self.unseen == "nearest" and self._are_whole_numbers:
            # Half way between two the earlier one is nearest: halves are rounded down.
            places = np.ceil(time - (self.times[0] + 0.5))
            return np.asarray(np.clip(places, 0, len(self.times) - 1), dtype=np.intp)
        after = np.clip(np.searchsorted(self.times, time), 0, len(self.times) - 1)
        before = np.maximum(after - 1, 0)
        closer = time - self.times[before] <= self.times[after] - time
        codes = np.where(closer, before, after).astype(np.intp)
        if self.unseen == "error" and not np.array_equal(self.times[codes], time):
            stranger = time[self.times[codes] != time][0]
            raise InputError(
                f"time holds {stranger:.12g}, a step that the fit had not seen or had too few rows "
                'of: PerStep(unseen="nearest") or "interpolate" would answer'
            )
        return codes


@dataclass(frozen=True)
class BinBasis:
    """A function for each stretch of time; ``edges`` are the inner ones, each opening a stretch."""

    edges: Array

    @property
    def n_functions(self) -> int:
        """How many functions there are."""
        return len(self.edges) + 1

    def __call__(self, time: Array) -> Array:
        """Return the functions at some times, of shape (n, functions)."""
        return self.combine(time, np.eye(self.n_functions))

    def combine(self, time: Array, table: Array) -> Array:
        """Return the curves whose coefficients are the columns of ``table``: (n, columns)."""
        return np.take(table, self.codes(time), axis=0)

    def codes(self, time: Array) -> Codes:
        """Position of the stretch."""
        return np.searchsorted(self.edges, time, side="right").astype(np.intp, copy=False)


@dataclass(frozen=True)
class ProductBasis(_Dense):
    """All products of a function of one clock and one of another; ``time`` has two columns."""

    one: Basis
    other: Basis

    @property
    def n_functions(self) -> int:
        """How many functions there are."""
        return self.one.n_functions * self.other.n_functions

    def __call__(self, time: Array) -> Array:
        """Return the functions at some times, of shape (n, functions)."""
        left, right = self.one(time[:, 0]), self.other(time[:, 1])
        products = left[..., :, None] * right[..., None, :]
        return products.reshape(*products.shape[:-2], -1)

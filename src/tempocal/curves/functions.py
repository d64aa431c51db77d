"""Base of the curves that are combinations of a few given functions of time.

A subclass writes its functions once, as formulas. Arrays, SQL, ONNX, torch, data frames and the
scorer are made of these, and they are saved with the model.
"""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tempocal.curves.curve import RangeCurve, Shape, Track, constant_track
from tempocal.curves.grid import Grid
from tempocal.errors import InputError
from tempocal.formula.nodes import Column, Expression, as_expression
from tempocal.maps import ExpressionBasis

# Times over which the penalty towards the identity is averaged.
PENALIZED_TIMES = 256


@dataclass(frozen=True)
class TimeRange:
    """The times that a curve is fitted along: the first, the (weighted) median and the last."""

    first: float
    median: float
    last: float


class FunctionCurve(RangeCurve):
    """Base of the curves that are linear combinations of given functions of time.

    Functions must be nonnegative and sum to 1 at all times of the fit, so that a curve lies between
    its smallest and its largest coefficient. Outside the times of the fit the curve is constant.
    """

    @abstractmethod
    def functions(self, time: Expression, times: TimeRange) -> Sequence[Expression]:
        """Return the functions as formulas of time.

        Parameters
        ----------
        time : Expression
            The time of a row. It takes ``+ - * /`` and the functions of `tempocal.extend`.
        times : TimeRange
            The times of the fit.
        """

    def _lay(self, grid: Grid) -> Track:
        first, last = float(grid.times[0]), float(grid.times[-1])
        if first == last:
            return constant_track(grid)
        basis = self._basis(TimeRange(first, _median(grid), last))
        values = basis(np.linspace(first, last, PENALIZED_TIMES))
        # Mean square of what the curve is off the identity, over the range of time.
        shape = Shape(basis, level=values.T @ values / len(values))
        return Track(grid, lambda rates: shape)

    def _basis(self, times: TimeRange) -> ExpressionBasis:
        functions = self.functions(Column("time"), times)
        if not isinstance(functions, tuple | list):
            raise InputError(
                f"functions of {type(self).__name__} must return a tuple of expressions, but it "
                f"returned {functions!r:.60}"
            )
        basis = ExpressionBasis(times.first, times.last, tuple(map(as_expression, functions)))
        try:
            basis.validate()
        except ValueError as error:
            raise InputError(
                f"{self!r} is no valid curve from time {times.first:g} to {times.last:g}: {error}"
            ) from error
        return basis


def _median(grid: Grid) -> float:
    half = np.searchsorted(np.cumsum(grid.weights), 0.5 * grid.weights.sum())
    return float(grid.times[min(int(half), grid.n_keys - 1)])

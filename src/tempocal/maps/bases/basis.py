"""What a basis of time is."""

from abc import abstractmethod
from collections.abc import Callable, Sequence

import numpy as np

from tempocal.formula.links import Expressions
from tempocal.formula.nodes import Condition, Expression
from tempocal.links import Array
from tempocal.maps.part import Part

# From coefficients, one for each function of a basis, to the curve at the time of each row.
Combination = Callable[[Sequence[Expression]], Expression]


class Basis(Part):
    """Functions of time whose linear combinations are curves.

    They are positive and sum to 1 at all times, so that a curve lies between its smallest and its
    largest coefficient, and equal coefficients make a constant. Before the first time of the fit a
    curve is held, and after the last, but for the exponential.

    A basis has two forms that must agree: `__call__` for arrays and `combination` for formulas,
    which SQL, ONNX, torch and data frames are made of.
    """

    @property
    @abstractmethod
    def n_functions(self) -> int:
        """How many functions there are."""

    @property
    def n_clocks(self) -> int:
        """How many columns ``time`` has."""
        return 1

    @abstractmethod
    def __call__(self, time: Array) -> Array:
        """Return the functions at some times, of shape (n, functions)."""

    @abstractmethod
    def combination(self, time: Expressions) -> Combination:
        """Return what makes a curve, as a formula of time, of its coefficients.

        What does not depend on the coefficients is computed once for all curves.
        """

    def combine(self, time: Array, table: Array) -> Array:
        """Return the curves whose coefficients are the columns of ``table``: (n, columns)."""
        return np.asarray(self(time) @ table, dtype=np.float64)

    def is_defined(self, time: Expressions) -> Condition | None:
        """Tell, as a formula, at which times there is an answer; None: at all."""
        return None

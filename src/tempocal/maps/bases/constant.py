"""The function 1."""

from dataclasses import dataclass

import numpy as np

from tempocal.formula.links import Expressions
from tempocal.links import Array
from tempocal.maps.bases.basis import Basis, Combination


@dataclass(frozen=True)
class ConstantBasis(Basis):
    """The function 1, whatever the number of clocks."""

    @property
    def n_functions(self) -> int:
        """How many functions there are."""
        return 1

    def __call__(self, time: Array) -> Array:
        """Return the functions at some times, of shape (n, functions)."""
        return np.ones((len(time), 1))

    def combination(self, time: Expressions) -> Combination:
        """Return what makes a curve of its coefficients."""
        return lambda coefficients: coefficients[0]

"""One function for each bin of time."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tempocal.formula.links import Expressions
from tempocal.formula.nodes import Expression, piecewise
from tempocal.inputs import Codes
from tempocal.links import Array
from tempocal.maps.bases.basis import Basis, Combination
from tempocal.maps.part import require_ascending


@dataclass(frozen=True)
class BinBasis(Basis):
    """A function for each bin of time; ``edges`` are the inner ones, each opening a bin."""

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
        """Index of the bin."""
        return np.searchsorted(self.edges, time, side="right").astype(np.intp, copy=False)

    def choose(self, time: Expression, pieces: Sequence[Expression]) -> Expression:
        """Return the piece of the bin, as a formula."""
        return piecewise(time, self.edges.tolist(), pieces, "right")

    def combination(self, time: Expressions) -> Combination:
        """Return what makes a curve of its coefficients."""
        return lambda coefficients: self.choose(time[0], coefficients)

    def validate(self) -> None:
        """Raise a ValueError if no fit could have left these numbers behind."""
        require_ascending(self.edges)

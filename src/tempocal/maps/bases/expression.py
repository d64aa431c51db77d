"""Functions of time that are given as formulas."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tempocal.errors import InputError
from tempocal.formula.links import Expressions
from tempocal.formula.nodes import Expression, clamp, substitute, total
from tempocal.formula.numpy_engine import evaluate_all
from tempocal.formula.serialize import to_instructions
from tempocal.links import Array
from tempocal.maps.bases.basis import Basis, Combination
from tempocal.maps.part import require, require_time

TIME = "time"
# Times at which the functions are checked to be positive and to sum to 1.
CHECKED_TIMES = 257
ROUNDING = 1e-9
MAX_FUNCTIONS = 100


@dataclass(frozen=True)
class ExpressionBasis(Basis):
    """Any functions of the column ``time``, from the first to the last time of the fit.

    The formulas are saved with the model: whoever reads the file can evaluate them, without the
    code that wrote them.
    """

    schema: ClassVar[int] = 2
    first: float
    last: float
    functions: tuple[Expression, ...]

    @property
    def n_functions(self) -> int:
        """How many functions there are."""
        return len(self.functions)

    def __call__(self, time: Array) -> Array:
        """Return the functions at some times, of shape (n, functions)."""
        inside = np.clip(np.asarray(time, dtype=np.float64), self.first, self.last)
        with np.errstate(all="ignore"):
            values = np.stack(evaluate_all(self.functions, {TIME: inside}), axis=1)
        if not np.isfinite(values).all():
            undefined = inside[~np.isfinite(values).all(axis=1)][0]
            raise InputError(f"a function of the curve has no finite value at time {undefined:g}")
        return values

    def combination(self, time: Expressions) -> Combination:
        """Return what makes a curve of its coefficients."""
        functions = substitute(self.functions, {TIME: clamp(time[0], self.first, self.last)})

        def curve(coefficients: Sequence[Expression]) -> Expression:
            return total(c * each for c, each in zip(coefficients, functions, strict=True))

        return curve

    def validate(self) -> None:
        """Raise a ValueError unless functions are positive and sum to 1 all along."""
        require_time(self.first, self.last)
        require(self.first <= self.last, "there is no range of time")
        some = 0 < len(self.functions) <= MAX_FUNCTIONS
        require(some, f"there must be 1 to {MAX_FUNCTIONS} functions")
        for function in self.functions:
            to_instructions(function)  # which refuses what could not be saved
        values = self(np.linspace(self.first, self.last, CHECKED_TIMES))
        require(bool((values >= -ROUNDING).all()), "functions must not be negative")
        sums = values.sum(axis=1)
        off = np.abs(sums - 1.0).max()
        require(
            bool(off <= ROUNDING), f"functions must sum to 1 at all times, but are off by {off:.3g}"
        )

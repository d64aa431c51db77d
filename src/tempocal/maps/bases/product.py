"""Products of the functions of two clocks."""

from collections.abc import Sequence
from dataclasses import dataclass

from tempocal.formula.links import Expressions
from tempocal.formula.nodes import Condition, Every, Expression
from tempocal.links import Array
from tempocal.maps.bases.basis import Basis, Combination
from tempocal.maps.part import require


@dataclass(frozen=True)
class ProductBasis(Basis):
    """All products of a function of one clock and one of another; ``time`` has two columns."""

    one: Basis
    other: Basis

    @property
    def n_functions(self) -> int:
        """How many functions there are."""
        return self.one.n_functions * self.other.n_functions

    @property
    def n_clocks(self) -> int:
        """How many columns ``time`` has."""
        return 2

    def __call__(self, time: Array) -> Array:
        """Return the functions at some times, of shape (n, functions)."""
        left, right = self.one(time[:, 0]), self.other(time[:, 1])
        products = left[..., :, None] * right[..., None, :]
        return products.reshape(*products.shape[:-2], -1)

    def combination(self, time: Expressions) -> Combination:
        """Return what makes a curve of its coefficients."""
        # A curve along one clock whose coefficients are curves along the other.
        outer, inner = self.one.combination(time[:1]), self.other.combination(time[1:])
        width = self.other.n_functions

        def curve(coefficients: Sequence[Expression]) -> Expression:
            starts = range(0, len(coefficients), width)
            return outer([inner(coefficients[start : start + width]) for start in starts])

        return curve

    def is_defined(self, time: Expressions) -> Condition | None:
        """Tell, as a formula, at which times there is an answer; None: at all."""
        parts = (self.one.is_defined(time[:1]), self.other.is_defined(time[1:]))
        conditions = tuple(part for part in parts if part is not None)
        return Every(conditions) if conditions else None

    def validate(self) -> None:
        """Raise a ValueError if no fit could have left these numbers behind."""
        require(self.one.n_clocks == self.other.n_clocks == 1, "a surface has two clocks")

"""What a fitted map is, and a form: what makes one of coefficients.

Every map takes logits of shape (n,) or (n, K) and gives calibrated ones: of shape (n,), whose
sigmoid is the probability of the second class, or (n, K), whose softmax is that of each class.

A form gets coefficients as one array for each model, with those of one map along the last axis.
Axes before it are kept, so that every row can have coefficients of its own: the same code, then,
gives a map whose numbers are arrays. A map and its form stand in one file.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import ClassVar

from tempocal.formula import links as symbolic
from tempocal.formula.links import Expressions
from tempocal.formula.nodes import Expression
from tempocal.links import Array
from tempocal.maps.part import Part, require

Numbers = Sequence[Expression]
Coefficients = Sequence[Array]


class FittedMap(Part):
    """What a fitted calibrator can do."""

    @abstractmethod
    def __call__(self, logits: Array) -> Array:
        """Return calibrated logits."""

    @abstractmethod
    def logits(self, z: Expressions) -> Expressions:
        """Return calibrated logits as formulas of the logits; they may be infinite."""

    def probabilities(self, z: Expressions) -> Expressions:
        """Return the probability of each class as a formula of the logits."""
        return from_logits(self.logits(z))


def from_logits(logits: Expressions) -> Expressions:
    """Probability of each class: of the second by a sigmoid, or of all by softmax."""
    if len(logits) == 1:
        return symbolic.sigmoid(-logits[0]), symbolic.sigmoid(logits[0])
    return symbolic.softmax(logits)


class Form(ABC):
    """Which map coefficients make, and what they are called."""

    name: ClassVar[str]

    @abstractmethod
    def to_map(self, coefficients: Coefficients) -> FittedMap:
        """Make the map."""

    @abstractmethod
    def logits(self, models: Sequence[Numbers], z: Expressions) -> Expressions:
        """Return the calibrated logits of a map whose numbers are expressions."""

    @abstractmethod
    def parameters(self, numbers: Coefficients) -> dict[str, Array]:
        """Names of the numbers; those of several models along the last axis."""

    def deviations(self, numbers: Coefficients, deviations: Coefficients) -> dict[str, Array]:
        """Return the standard deviations of all numbers, by the same names."""
        return self.parameters(deviations)

    @abstractmethod
    def validate(self, tables: Coefficients) -> None:
        """Raise a ValueError for tables (functions, numbers) that make no such map."""


def require_one_model(tables: Coefficients, has_width: Callable[[int], bool]) -> None:
    """Refuse tables that are not one, or whose width is not that of its map."""
    require(len(tables) == 1 and has_width(tables[0].shape[1]), "there are too few coefficients")

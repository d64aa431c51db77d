"""Averages of maps along time: a weighted mean of log-probabilities, normalized.

Probabilities are proportional to ``prod_m p_m ** w_m``, so that their softmax is that of the
weighted mean of the calibrated logits; for two classes this is the weighted mean of the log-odds.
What is added to all logits of a row by one of the maps changes nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, ClassVar

import numpy as np

from tempocal.errors import InputError
from tempocal.formula.links import Expressions
from tempocal.formula.nodes import Condition, Every, Number, total
from tempocal.lazy import cached
from tempocal.links import Array, one_column
from tempocal.maps.along_time import CoefficientMap, Curves
from tempocal.maps.bases import Basis
from tempocal.maps.fitted_map import Coefficients, FittedMap, Form, Numbers
from tempocal.maps.linear_parameters import alike, linear_parameters
from tempocal.maps.part import require

# By how much a sum of weights may differ from 1.
ROUNDING = 1e-9


@dataclass(frozen=True)
class AverageMap(FittedMap, saved=False):
    """The weighted mean of the calibrated logits of some maps.

    If some give one column and others two, both stand for two classes: log-odds are averaged.
    """

    maps: tuple[FittedMap, ...]
    weights: tuple[float, ...]

    def __call__(self, logits: Array) -> Array:
        """Calibrate logits."""
        each = [one(logits) for one in self.maps]
        if any(one.ndim == 1 for one in each):
            require(all(one.ndim == 1 or one.shape[1] == 2 for one in each), "classes differ")
            each = [one_column(one) for one in each]
        require(len({one.shape for one in each}) == 1, "classes differ")
        mean = self.weights[0] * each[0]
        for weight, one in zip(self.weights[1:], each[1:], strict=True):
            mean += weight * one
        return mean

    def logits(self, z: Expressions) -> Expressions:
        """Return calibrated logits as formulas of the logits."""
        return average_formula([one.logits(z) for one in self.maps], self.weights)


def average_formula(each: Sequence[Expressions], weights: Sequence[float]) -> Expressions:
    """Return the weighted mean of logits as formulas."""
    if any(len(one) == 1 for one in each):
        each = [one if len(one) == 1 else (one[1] - one[0],) for one in each]
    return tuple(
        total(one * Number(weight) for one, weight in zip(column, weights, strict=True))
        for column in zip(*each, strict=True)
    )


@dataclass(frozen=True)
class AverageForm(Form):
    """Several forms, each of some models, and their weights."""

    name = "average"
    forms: tuple[Form, ...]
    n_models: tuple[int, ...]
    weights: tuple[float, ...]

    def to_map(self, coefficients: Coefficients) -> AverageMap:
        """Make the map."""
        pairs = zip(self.forms, self._split(coefficients), strict=True)
        return AverageMap(tuple(form.to_map(own) for form, own in pairs), self.weights)

    def logits(self, models: Sequence[Numbers], z: Expressions) -> Expressions:
        """Return the calibrated logits of a map whose numbers are expressions."""
        pairs = zip(self.forms, self._split(models), strict=True)
        return average_formula([form.logits(own, z) for form, own in pairs], self.weights)

    def parameters(self, numbers: Coefficients) -> dict[str, Array]:
        """Names of the numbers of a map that is linear in the logits; else an error."""
        each = self._linear(numbers)
        return {name: self._mean([one[name] for one in each]) for name in each[0]}

    def deviations(self, numbers: Coefficients, deviations: Coefficients) -> dict[str, Array]:
        """Return standard deviations: within the maps and, by how far they differ, between them."""
        centers, spreads = self._linear(numbers), self._linear(deviations)
        means = self.parameters(numbers)
        return {
            name: np.sqrt(
                self._mean(
                    [
                        spread[name] ** 2 + (center[name] - mean) ** 2
                        for center, spread in zip(centers, spreads, strict=True)
                    ]
                )
            )
            for name, mean in means.items()
        }

    def validate(self, tables: Coefficients) -> None:
        """Raise a ValueError for tables that make no such map."""
        for form, own in zip(self.forms, self._split(tables), strict=True):
            form.validate(own)

    def _mean(self, each: Sequence[Array]) -> Array:
        return np.asarray(
            sum(weight * one for weight, one in zip(self.weights, each, strict=True)),
            dtype=np.float64,
        )

    def _linear(self, numbers: Coefficients) -> list[dict[str, Array]]:
        pairs = zip(self.forms, self._split(numbers), strict=True)
        found = [linear_parameters(form, own) for form, own in pairs]
        named = [one for one in found if one is not None]
        if len(named) < len(found):
            raise InputError(
                "this is an average of which some members are not linear in the logits, so that "
                "it has no slope and bias: ask best_, its leading candidate, for its parameters"
            )
        return alike(named)

    def _split(self, models: Sequence[Any]) -> list[list[Any]]:
        rest = iter(models)
        return [list(islice(rest, count)) for count in self.n_models]


@dataclass(frozen=True)
class Average(CoefficientMap):
    """A weighted mean of the logits of several maps along time.

    Attributes
    ----------
    weights : ndarray of shape (maps,)
        Their weights, which sum to 1.
    maps : tuple of Curves
        What is averaged.
    """

    schema: ClassVar[int] = 2
    weights: Array
    maps: tuple[Curves, ...]

    @cached
    def bases(self) -> tuple[Basis, ...]:  # type: ignore[override]
        """Functions of time, for each model of each map."""
        return tuple(basis for one in self.maps for basis in one.bases)

    @cached
    def tables(self) -> tuple[Array, ...]:  # type: ignore[override]
        """What they are multiplied by."""
        return tuple(table for one in self.maps for table in one.tables)

    @property
    def map_form(self) -> AverageForm:
        """Which map the coefficients make."""
        return AverageForm(
            tuple(one.map_form for one in self.maps),
            tuple(len(one.tables) for one in self.maps),
            tuple(self.weights.tolist()),
        )

    @property
    def is_line(self) -> bool:
        """Whether the map only scales and shifts, where it is given one column."""
        return all(one.is_line for one in self.maps)

    def is_defined(self, time: Expressions) -> Condition | None:
        """Tell, as a formula, at which times there is an answer; None: at all."""
        found = [one.is_defined(time) for one in self.maps]
        conditions = tuple(one for one in found if one is not None)
        if len(conditions) > 1:
            return Every(conditions)
        return conditions[0] if conditions else None

    def validate(self) -> None:
        """Raise a ValueError if no fit could have left these numbers behind."""
        require(len(self.maps) > 1, "an average needs two maps or more")
        require(self.weights.shape == (len(self.maps),), "there must be a weight for each map")
        is_share = bool((self.weights > 0).all()) and abs(self.weights.sum() - 1.0) <= ROUNDING
        require(is_share, "weights must be positive and sum to 1")


def members_of(fitted: CoefficientMap) -> tuple[CoefficientMap, ...]:
    """Return what is averaged; a map that is no average is its own only member."""
    return fitted.maps if isinstance(fitted, Average) else (fitted,)

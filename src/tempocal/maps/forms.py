"""From coefficients to the map they stand for: for arrays, and as a formula.

Coefficients come as one array for each model, with those of one map along the last axis. Axes
before it are kept, so that every row can have coefficients of its own: the same code, then,
gives a map whose numbers are arrays.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import isqrt
from typing import ClassVar

import numpy as np

from tempocal.formula import links as symbolic
from tempocal.formula.links import Expressions
from tempocal.formula.nodes import Expression, as_expression, total
from tempocal.links import Array
from tempocal.maps.multiclass import (
    Affine,
    FittedMap,
    Numbers,
    OneVsRest,
    Scale,
    diagonal_formula,
    matrix_formula,
    odds_vs_rest,
    one_vs_rest_logits,
)
from tempocal.maps.one_class import Beta, FeatureMap, Line, beta_formula, feature_formula
from tempocal.maps.part import require

Coefficients = Sequence[Array]


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

    @abstractmethod
    def validate(self, tables: Coefficients) -> None:
        """Raise a ValueError for tables (functions, numbers) that make no such map."""


class ScaleForm(Form):
    """One inverse temperature."""

    name = "scale"

    def to_map(self, coefficients: Coefficients) -> Scale:
        """Make the map."""
        return Scale(_number(coefficients[0][..., 0]))

    def logits(self, models: Sequence[Numbers], z: Expressions) -> Expressions:
        """Return the calibrated logits of a map whose numbers are expressions."""
        return tuple(each * models[0][0] for each in z)

    def parameters(self, numbers: Coefficients) -> dict[str, Array]:
        """Names of the numbers."""
        return {"inverse_temperature": numbers[0][..., 0]}

    def validate(self, tables: Coefficients) -> None:
        """Raise a ValueError for tables that make no such map."""
        _require_one_model(tables, lambda width: width == 1)
        require(bool((tables[0] > 0).all()), "a temperature is not positive")


class DiagonalForm(Form):
    """A weight and a bias for each class, one class after the other."""

    name = "diagonal"

    def to_map(self, coefficients: Coefficients) -> Affine:
        """Make the map."""
        pairs = _pairs(coefficients)
        return Affine(pairs[..., 0].copy(), _centered(pairs[..., 1]), of_log_proba=False)

    def logits(self, models: Sequence[Numbers], z: Expressions) -> Expressions:
        """Return the calibrated logits of a map whose numbers are expressions."""
        return diagonal_formula(models[0][::2], _centered_formula(models[0][1::2]), z)

    def parameters(self, numbers: Coefficients) -> dict[str, Array]:
        """Names of the numbers."""
        pairs = _pairs(numbers)
        return {"weights": pairs[..., 0], "bias": pairs[..., 1]}

    def validate(self, tables: Coefficients) -> None:
        """Raise a ValueError for tables that make no such map."""
        _require_one_model(tables, lambda width: width > 2 and width % 2 == 0)


@dataclass(frozen=True)
class MatrixForm(Form):
    """The weights and the bias of each class, one class after the other."""

    name: str  # type: ignore[misc]
    of_log_proba: bool

    def to_map(self, coefficients: Coefficients) -> Affine:
        """Make the map."""
        table = _square(coefficients[0])
        weights, bias = table[..., :-1].copy(), _centered(table[..., -1])
        return Affine(weights, bias, of_log_proba=self.of_log_proba)

    def logits(self, models: Sequence[Numbers], z: Expressions) -> Expressions:
        """Return the calibrated logits of a map whose numbers are expressions."""
        n_classes = isqrt(len(models[0]))
        rows = [models[0][k * (n_classes + 1) :][: n_classes + 1] for k in range(n_classes)]
        bias = _centered_formula([row[-1] for row in rows])
        x = symbolic.log_features(z) if self.of_log_proba else z
        return matrix_formula([row[:-1] for row in rows], bias, x)

    def parameters(self, numbers: Coefficients) -> dict[str, Array]:
        """Names of the numbers."""
        table = _square(numbers[0])
        return {"weights": table[..., :-1], "bias": table[..., -1]}

    def validate(self, tables: Coefficients) -> None:
        """Raise a ValueError for tables that make no such map."""
        _require_one_model(tables, lambda width: width == isqrt(width) * (isqrt(width) + 1) > 2)


class OneVsRestForm(Form):
    """One map of log-odds for each model: a single one, or one for each class against the rest."""

    names: tuple[str, ...]

    def parameters(self, numbers: Coefficients) -> dict[str, Array]:
        """Names of the numbers; those of several models along the last axis."""
        if len(numbers) == 1:
            return {name: numbers[0][..., k] for k, name in enumerate(self.names)}
        return {
            name: np.stack([each[..., k] for each in numbers], axis=-1)
            for k, name in enumerate(self.names)
        }

    def logits(self, models: Sequence[Numbers], z: Expressions) -> Expressions:
        """Return the calibrated logits of a map whose numbers are expressions."""
        odds = odds_vs_rest(z, len(models))
        pairs = zip(models, odds, strict=True)
        return one_vs_rest_logits([self.log_odds(model, each) for model, each in pairs])

    @abstractmethod
    def log_odds(self, model: Numbers, odds: Expression) -> Expression:
        """Return the calibrated log-odds of one model."""

    def validate(self, tables: Coefficients) -> None:
        """Raise a ValueError for tables that make no such map."""
        require(len(tables) > 0, "there are no coefficients")
        require(all(table.shape[1] == len(self.names) for table in tables), "there are too few")


class LineForm(OneVsRestForm):
    """A slope and a bias."""

    name, names = "lines", ("slope", "bias")

    def to_map(self, coefficients: Coefficients) -> OneVsRest:
        """Make the map."""
        return OneVsRest(tuple(Line(*_numbers(each)) for each in coefficients))

    def log_odds(self, model: Numbers, odds: Expression) -> Expression:
        """Return the calibrated log-odds of one model."""
        return odds * model[0] + model[1]


class BetaForm(OneVsRestForm):
    """The a, b and c of beta calibration."""

    name, names = "betas", ("a", "b", "c")

    def to_map(self, coefficients: Coefficients) -> OneVsRest:
        """Make the map."""
        return OneVsRest(tuple(Beta(*_numbers(each)) for each in coefficients))

    def log_odds(self, model: Numbers, odds: Expression) -> Expression:
        """Return the calibrated log-odds of one model."""
        return beta_formula(model[0], model[1], model[2], odds)

    def validate(self, tables: Coefficients) -> None:
        """Raise a ValueError for tables that make no such map."""
        super().validate(tables)
        # The a and b of a beta map may stand at their bound, which is 0.
        require(all(bool((table[:, :2] >= 0).all()) for table in tables), "a slope is negative")


@dataclass(frozen=True)
class FeatureForm(OneVsRestForm):
    """Coefficients of features of the log-odds that are given as formulas."""

    name = "features"
    features: tuple[Expression, ...]
    names: tuple[str, ...]

    def to_map(self, coefficients: Coefficients) -> OneVsRest:
        """Make the map."""
        return OneVsRest(
            tuple(FeatureMap(self.features, self.names, np.array(each)) for each in coefficients)
        )

    def log_odds(self, model: Numbers, odds: Expression) -> Expression:
        """Return the calibrated log-odds of one model."""
        return feature_formula(self.features, list(model), odds)


SCALE, LINES, BETAS, DIAGONAL = ScaleForm(), LineForm(), BetaForm(), DiagonalForm()
FULL = MatrixForm("full", of_log_proba=False)
FULL_OF_LOG_PROBA = MatrixForm("full_of_log_proba", of_log_proba=True)
FORMS: dict[str, Form] = {
    form.name: form for form in (SCALE, LINES, BETAS, DIAGONAL, FULL, FULL_OF_LOG_PROBA)
}


def _require_one_model(tables: Coefficients, has_width: Callable[[int], bool]) -> None:
    require(len(tables) == 1 and has_width(tables[0].shape[1]), "there are too few coefficients")


def _pairs(numbers: Coefficients) -> Array:
    return numbers[0].reshape(*numbers[0].shape[:-1], -1, 2)


def _square(numbers: Array) -> Array:
    """Weights and bias of each class as a table; K classes have K * (K + 1) of them."""
    n_classes = isqrt(numbers.shape[-1])
    return numbers.reshape(*numbers.shape[:-1], n_classes, n_classes + 1)


def _centered(bias: Array) -> Array:
    return np.asarray(bias - bias.mean(axis=-1, keepdims=True), dtype=np.float64)


def _centered_formula(bias: Numbers) -> list[Expression]:
    mean = total(bias) / float(len(bias))
    return [as_expression(each) - mean for each in bias]


def _numbers(coefficients: Array) -> list[float]:
    return [_number(part) for part in np.moveaxis(coefficients, -1, 0)]


def _number(value: Array) -> float:
    """Return a Python float; or the array that stands for one, where every row has its own."""
    array: float = value.item() if value.ndim == 0 else value  # type: ignore[assignment]
    return array

"""Weights and a bias for each class, under one softmax."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isqrt

import numpy as np

from tempocal.formula import links as symbolic
from tempocal.formula.links import Expressions
from tempocal.formula.nodes import Expression, as_expression, numbers, total
from tempocal.links import Array, log_features
from tempocal.maps.fitted_map import Coefficients, FittedMap, Form, Numbers, require_one_model
from tempocal.maps.part import require, require_coefficients


@dataclass(frozen=True)
class Affine(FittedMap):
    """Softmax of ``W x + b``; ``weights`` is (K,) for a diagonal W, else (K, K).

    Where every row has its own W and b, they are (n, K) or (n, K, K), and (n, K).

    ``x`` are the logits, or if ``of_log_proba`` their log-probabilities as in `log_features`.
    """

    weights: Array
    bias: Array
    of_log_proba: bool

    def __call__(self, logits: Array) -> Array:
        """Calibrate logits."""
        x = log_features(logits) if self.of_log_proba else logits
        if self.weights.ndim == self.bias.ndim:
            scaled = x * self.weights
        elif self.bias.ndim == 1:
            scaled = x @ self.weights.T
        else:
            scaled = np.einsum("nkj,nj->nk", self.weights, x)
        return np.asarray(scaled + self.bias, dtype=np.float64)

    def logits(self, z: Expressions) -> Expressions:
        """Return calibrated logits as formulas of the logits."""
        x = symbolic.log_features(z) if self.of_log_proba else z
        bias = numbers(self.bias)
        if self.weights.ndim == 1:
            return diagonal_formula(numbers(self.weights), bias, x)
        return matrix_formula([numbers(row) for row in self.weights], bias, x)

    def validate(self) -> None:
        """Raise a ValueError if no fit could have left these numbers behind."""
        shape = self.bias.shape
        is_shape = len(shape) == 1 and shape[0] > 1 and self.weights.shape in (shape, 2 * shape)
        require(is_shape, "weights and bias differ")
        # No calibrator has a diagonal of log-probabilities.
        require(not (self.of_log_proba and self.weights.ndim == 1), "weights are no matrix")
        require_coefficients(self.weights)
        require_coefficients(self.bias)


def diagonal_formula(weights: Numbers, bias: Numbers, x: Expressions) -> Expressions:
    """Return a weight times each x, plus a bias."""
    return tuple(each * w + b for each, w, b in zip(x, weights, bias, strict=True))


def matrix_formula(weights: Sequence[Numbers], bias: Numbers, x: Expressions) -> Expressions:
    """Return the rows of weights times x, plus a bias."""
    return tuple(
        total(each * w for each, w in zip(x, row, strict=True)) + b
        for row, b in zip(weights, bias, strict=True)
    )


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
        require_one_model(tables, lambda width: width > 2 and width % 2 == 0)


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
        require_one_model(tables, lambda width: width == isqrt(width) * (isqrt(width) + 1) > 2)


DIAGONAL = DiagonalForm()
FULL = MatrixForm("full", of_log_proba=False)
FULL_OF_LOG_PROBA = MatrixForm("full_of_log_proba", of_log_proba=True)


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

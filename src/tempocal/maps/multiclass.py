"""Fitted maps from the logits of a classifier to calibrated logits.

Every map takes logits of shape (n,) or (n, K) and gives calibrated ones: of shape (n,), whose
sigmoid is the probability of the second class, or (n, K), whose softmax is that of each class.
"""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tempocal.formula import links as symbolic
from tempocal.formula.links import Expressions
from tempocal.formula.nodes import Expression, Number, numbers, total
from tempocal.links import (
    Array,
    log_features,
    log_odds,
    log_sigmoid,
    log_softmax,
    one_column,
)
from tempocal.maps.one_class import BinaryMap, SmoothMap
from tempocal.maps.part import LARGEST_COEFFICIENT, Part, require, require_coefficients

Numbers = Sequence[Expression]


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


@dataclass(frozen=True)
class Scale(FittedMap):
    """All logits times one number, the inverse temperature."""

    inverse_temperature: float

    def __call__(self, logits: Array) -> Array:
        """Calibrate logits."""
        # Transposed, so that an array with a number for each row multiplies rows.
        return np.asarray((self.inverse_temperature * logits.T).T)

    def logits(self, z: Expressions) -> Expressions:
        """Return calibrated logits as formulas of the logits."""
        return tuple(each * Number(self.inverse_temperature) for each in z)

    def validate(self) -> None:
        """Raise a ValueError if no fit could have left these numbers behind."""
        require(0 < self.inverse_temperature <= LARGEST_COEFFICIENT, "it is no temperature")


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


@dataclass(frozen=True)
class OneVsRest(FittedMap):
    """One binary map a class, normalized; a single one where there are two classes."""

    maps: tuple[BinaryMap, ...]

    def __call__(self, logits: Array) -> Array:
        """Calibrate logits."""
        if len(self.maps) == 1:
            return self.maps[0](one_column(logits))
        odds = log_odds(logits)
        log_p = np.stack(
            [log_sigmoid(fitted(odds[:, k])) for k, fitted in enumerate(self.maps)], axis=1
        )
        # Where every class is given probability 0 there is nothing to normalize: keep the input.
        lost = np.isneginf(log_p).all(axis=1)
        if lost.any():
            log_p[lost] = log_softmax(logits[lost])
        return log_p

    def logits(self, z: Expressions) -> Expressions:
        """Return calibrated logits as formulas of the logits; they may be infinite."""
        smooth = self._smooth_maps
        if smooth is None:
            p = self._probabilities_vs_rest(z)
            return symbolic.logit(p) if len(p) == 1 else symbolic.log_normalized(p, z)
        odds = odds_vs_rest(z, len(smooth))
        return one_vs_rest_logits([m.log_odds(each) for m, each in zip(smooth, odds, strict=True)])

    def probabilities(self, z: Expressions) -> Expressions:
        """Return the probability of each class as a formula of the logits."""
        if self._smooth_maps is not None:
            return from_logits(self.logits(z))
        p = self._probabilities_vs_rest(z)
        return (Number(1.0) - p[0], p[0]) if len(p) == 1 else symbolic.normalized(p, z)

    @property
    def _smooth_maps(self) -> list[SmoothMap] | None:
        """The maps if all have finite log-odds; None if some are bare probabilities."""
        smooth = [each for each in self.maps if isinstance(each, SmoothMap)]
        return smooth if len(smooth) == len(self.maps) else None

    def _probabilities_vs_rest(self, z: Expressions) -> Expressions:
        odds = odds_vs_rest(z, len(self.maps))
        return tuple(m.probability(each) for m, each in zip(self.maps, odds, strict=True))

    def validate(self) -> None:
        """Raise a ValueError if no fit could have left these numbers behind."""
        require(len(self.maps) > 0, "there are no maps")


def odds_vs_rest(z: Expressions, n_maps: int) -> Expressions:
    """Return the log-odds of each class against the rest; of two classes, those of the second."""
    if n_maps > 1:
        return symbolic.log_odds(z)
    return z if len(z) == 1 else (z[1] - z[0],)


def one_vs_rest_logits(logits: Sequence[Expression]) -> Expressions:
    """Return logits whose softmax normalizes the probabilities of each class against the rest."""
    return tuple(logits) if len(logits) == 1 else tuple(map(symbolic.log_sigmoid, logits))

"""Maps of the log-odds of one class against the rest, and one of them for each class."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tempocal.formula import links as symbolic
from tempocal.formula.links import Expressions
from tempocal.formula.nodes import Expression, Number
from tempocal.links import Array, log_odds, log_sigmoid, log_softmax, one_column
from tempocal.maps.fitted_map import Coefficients, FittedMap, Form, Numbers, from_logits
from tempocal.maps.part import Part, require, require_coefficients


class BinaryMap(Part):
    """What a fitted calibrator of one class can do."""

    @abstractmethod
    def __call__(self, odds: Array) -> Array:
        """Return calibrated log-odds; ``odds`` has shape (n,)."""

    @abstractmethod
    def probability(self, odds: Expression) -> Expression:
        """Return the calibrated probability as a formula of the log-odds."""


class SmoothMap(BinaryMap):
    """One with finite calibrated log-odds."""

    @abstractmethod
    def log_odds(self, odds: Expression) -> Expression:
        """Return calibrated log-odds as a formula of the log-odds."""

    def probability(self, odds: Expression) -> Expression:
        """Return the calibrated probability as a formula of the log-odds."""
        return symbolic.sigmoid(self.log_odds(odds))


@dataclass(frozen=True)
class Line(SmoothMap):
    """Slope and bias: ``slope * odds + bias``."""

    slope: float
    bias: float

    def __call__(self, odds: Array) -> Array:
        """Calibrate log-odds."""
        return self.slope * odds + self.bias

    def log_odds(self, odds: Expression) -> Expression:
        """Return calibrated log-odds as a formula of the log-odds."""
        return odds * self.slope + self.bias

    def validate(self) -> None:
        """Raise a ValueError if no fit could have left these numbers behind."""
        require_coefficients(np.array([self.slope, self.bias]))


@dataclass(frozen=True)
class Beta(SmoothMap):
    """Beta calibration: ``a * log(p) - b * log(1 - p) + c``."""

    a: float
    b: float
    c: float

    def __call__(self, odds: Array) -> Array:
        """Calibrate log-odds."""
        return self.a * log_sigmoid(odds) - self.b * log_sigmoid(-odds) + self.c

    def log_odds(self, odds: Expression) -> Expression:
        """Return calibrated log-odds as a formula of the log-odds."""
        return beta_formula(Number(self.a), Number(self.b), Number(self.c), odds)

    def validate(self) -> None:
        """Raise a ValueError if no fit could have left these numbers behind."""
        require(min(self.a, self.b) >= 0, "a slope is negative")
        require_coefficients(np.array([self.a, self.b, self.c]))


def beta_formula(a: Expression, b: Expression, c: Expression, odds: Expression) -> Expression:
    """Return ``a * log(p) - b * log(1 - p) + c`` as a formula."""
    return symbolic.log_sigmoid(odds) * a - symbolic.log_sigmoid(-odds) * b + c


@dataclass(frozen=True)
class OneVsRest(FittedMap):
    """One binary map a class, normalized; a single one where there are two classes."""

    maps: tuple[BinaryMap, ...]

    def __call__(self, logits: Array) -> Array:
        """Calibrate logits."""
        if len(self.maps) == 1:
            return self.maps[0](logits if logits.ndim == 1 else one_column(logits))
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


LINES, BETAS = LineForm(), BetaForm()


def _numbers(coefficients: Array) -> list[float]:
    """Return Python floats; or the arrays that stand for them, where every row has its own."""
    parts = np.moveaxis(coefficients, -1, 0)
    return parts.tolist() if parts.ndim == 1 else list(parts)

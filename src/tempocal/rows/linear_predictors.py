"""What a model says of a row, whoever holds the rows: its linear predictors and its loss.

A predictor has no rows. With arrays it makes rows in memory; with a table, expressions of columns.
"""

from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from tempocal.formula import links as symbolic
from tempocal.formula.nodes import Column, Expression, Number, substitute
from tempocal.formula.numpy_engine import evaluate_all
from tempocal.formula.serialize import to_instructions
from tempocal.inputs import Codes
from tempocal.lazy import cached
from tempocal.links import Array, Floats, log_features, log_odds, log_sigmoid, one_column
from tempocal.rows.in_memory import StoredRows
from tempocal.rows.sigmoid import BinaryRows
from tempocal.rows.softmax_per_class import PerClassRows
from tempocal.rows.softmax_shared import SharedRows

_ODDS = Column("odds")


@dataclass(frozen=True)
class OddsFunctions:
    """Functions of the log-odds of a class, as formulas of the column ``odds``.

    Two that are written alike are equal.
    """

    expressions: tuple[Expression, ...] = field(compare=False)
    written: str

    @classmethod
    def of(cls, *expressions: Expression) -> Self:
        """Take some formulas."""
        return cls(expressions, repr([to_instructions(each) for each in expressions]))

    def values(self, odds: Array, used: list[int]) -> list[Array]:
        """Return some of the functions at some log-odds."""
        if self == STANDARD:
            return [_STANDARD_VALUES[k](odds) for k in used]
        return evaluate_all([self.expressions[k] for k in used], {"odds": odds})

    def formulas(self, odds: Expression) -> list[Expression]:
        """Return the functions of log-odds that are a formula themselves."""
        return substitute(self.expressions, {"odds": odds})


# The log-odds themselves, log p, -log(1 - p), and 1.
STANDARD = OddsFunctions.of(
    _ODDS, symbolic.log_sigmoid(_ODDS), -symbolic.log_sigmoid(-_ODDS), Number(1.0)
)
_STANDARD_VALUES = (
    lambda odds: odds,
    log_sigmoid,
    lambda odds: -log_sigmoid(-odds),
    np.ones_like,
)

# Features as combinations of functions of the log-odds: one row for each function.
Features = tuple[tuple[float, ...], ...]
ODDS = ((1.0,), (0.0,), (0.0,), (0.0,))
LINE = ((1.0, 0.0), (0.0, 0.0), (0.0, 0.0), (0.0, 1.0))


@dataclass(frozen=True)
class Sigmoid:
    """One sigmoid of features of the log-odds of a class.

    Attributes
    ----------
    features : tuple of tuples, functions x coefficients
        How functions of the log-odds make up what each coefficient multiplies.
    of_class : int
        The class; of two, the second.
    low, high : float
        Targets of rows of other classes and of this one.
    functions : OddsFunctions
        Functions of the log-odds, of which the last is 1.
    """

    features: Features
    of_class: int = 1
    low: float = 0.0
    high: float = 1.0
    functions: OddsFunctions = STANDARD

    @property
    def n_coefficients(self) -> int:
        """How many coefficients a key has."""
        return len(self.features[0])

    def stored(self, scores: "LabeledLogits", **common: Any) -> StoredRows:
        """Make rows in memory."""
        targets = scores.targets(self.of_class)
        if (self.low, self.high) != (0.0, 1.0):
            targets = np.where(targets > 0, self.high, self.low)
        return BinaryRows(self.design(scores), targets, **common)

    def design(self, scores: "LabeledLogits") -> Floats:
        """Return what each coefficient multiplies, of shape (coefficients, n)."""
        if self.features == ODDS and self.functions == STANDARD and scores.given.ndim == 1:
            return scores.given[None]
        odds = scores.odds[self.of_class]
        used = [k for k, row in enumerate(self.features) if any(row)]
        parts = self.functions.values(odds, used)
        form = tuple(self.features[k] for k in used)
        if form == ((1.0,),):
            return parts[0][None]
        if np.array_equal(form, np.eye(len(used))):
            return np.stack(parts)
        return np.asarray(np.array(form).T @ np.stack(parts))


@dataclass(frozen=True)
class ScaledSoftmax:
    """Softmax of the logits times one coefficient, and times ``scale``."""

    scale: float = 1.0

    @property
    def n_coefficients(self) -> int:
        """How many coefficients a key has."""
        return 1

    def stored(self, scores: "LabeledLogits", **common: Any) -> StoredRows:
        """Make rows in memory."""
        z = scores.given if self.scale == 1.0 else self.scale * scores.logits
        return SharedRows(z.T, scores.labels, **common)


@dataclass(frozen=True)
class Softmax:
    """Softmax of a weight, or a row of weights, and a bias for each class.

    Attributes
    ----------
    n_classes : int
        Number of classes.
    diagonal : bool
        Whether each class sees its own logit only.
    of_log_proba : bool
        Whether log-probabilities take the place of logits.
    centers : tuple of float
        What is subtracted from each of these; empty for nothing.
    scale : float
        What they are multiplied by then.
    """

    n_classes: int
    diagonal: bool
    of_log_proba: bool = False
    centers: tuple[float, ...] = ()
    scale: float = 1.0

    @property
    def n_coefficients(self) -> int:
        """How many coefficients a key has."""
        return self.n_classes * (2 if self.diagonal else self.n_classes + 1)

    def stored(self, scores: "LabeledLogits", **common: Any) -> StoredRows:
        """Make rows in memory."""
        x = log_features(scores.logits) if self.of_log_proba else scores.given
        if self.centers:
            x = self.scale * (x.astype(np.float64, copy=False) - np.array(self.centers))
        return PerClassRows(x.T, scores.labels, self.n_classes, diagonal=self.diagonal, **common)


LinearPredictor = Sigmoid | ScaledSoftmax | Softmax


class LabeledLogits:
    """Logits and labels of rows in memory, and their log-odds once they are asked for."""

    def __init__(self, given: Floats, labels: Codes, n_classes: int) -> None:
        self.given, self.labels = given, labels
        self._n_classes = n_classes
        self._odds: list[Array] | None = None

    @cached
    def logits(self) -> Array:
        """Logits as doubles."""
        return self.given.astype(np.float64, copy=False)

    def targets(self, of_class: int) -> NDArray[np.bool_] | Codes:
        """Whether rows are of a class: of two, the labels themselves say so."""
        if self._n_classes == 2 and of_class == 1:
            return self.labels
        return np.asarray(self.labels == of_class)

    @property
    def odds(self) -> list[Array]:
        """Log-odds of each class against the rest; of two classes, those of the second twice."""
        if self._odds is None:
            if self.given.ndim == 1:
                self._odds = [self.logits] * 2
            elif self._n_classes == 2:
                self._odds = [one_column(self.logits)] * 2
            else:
                self._odds = list(np.ascontiguousarray(log_odds(self.logits).T))
        return self._odds

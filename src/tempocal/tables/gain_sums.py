"""Gain in log likelihood of a fitted map over the identity, summed over a table in one pass."""

from dataclasses import dataclass

import narwhals as nw
import numpy as np

from tempocal.formula.links import Expressions, log
from tempocal.formula.nodes import Column, Expression, Number, clamp, total
from tempocal.links import Array
from tempocal.maps import FittedMap, Form, from_logits
from tempocal.tables.computed_columns import sum_by, with_formulas
from tempocal.tables.finest_keys import FinestKeys
from tempocal.tables.labeled_table import LabeledTable
from tempocal.tables.open_table import Frame
from tempocal.tables.row_loss import is_class
from tempocal.tables.transfer import Columns

# Probabilities are clipped here before the logarithm.
MIN_PROBABILITY = 1e-300


@dataclass(frozen=True)
class GainSums:
    """Sums over rows of losses and gains, and the sums that their variance needs.

    Attributes
    ----------
    before, gain : float
        Weighted sums of the negative log likelihood before the map, and of its decrease.
    squares, products, weights : float
        With g the gain and w the weight of a group: sums over groups of g**2, g * w and w**2.
        Without groups each row is its own group.
    """

    before: float
    gain: float
    squares: float
    products: float
    weights: float

    def squared_deviations(self, mean: float) -> float:
        """Sum over groups of (g - mean * w)**2."""
        return max(self.squares - 2.0 * mean * self.products + mean**2 * self.weights, 0.0)


def gains_of_map(labeled: LabeledTable, finest_keys: FinestKeys, fitted: FittedMap) -> GainSums:
    """Sum the gains of a map that is constant in time."""
    return _sum_gains(labeled, finest_keys.frame, fitted.probabilities(_logits(labeled)))


def gains_of_form(
    labeled: LabeledTable, finest_keys: FinestKeys, form: Form, parameters: list[Array]
) -> GainSums:
    """Sum the gains of a map whose parameters, (keys, p) for each model, vary by key."""
    mapped = mapped_probabilities(form, parameters, labeled)
    return _sum_gains(labeled, finest_keys.join_columns(parameter_columns(parameters)), mapped)


def parameter_columns(parameters: list[Array]) -> Columns:
    """Parameters of a map as columns, one value per key."""
    return {
        name: np.ascontiguousarray(column)
        for own, each in zip(_names(parameters), parameters, strict=True)
        for name, column in zip(own, each.T, strict=True)
    }


def mapped_probabilities(form: Form, parameters: list[Array], labeled: LabeledTable) -> Expressions:
    """Probability of each class, from the parameter columns of a row."""
    models = [[Column(name) for name in own] for own in _names(parameters)]
    return from_logits(form.logits(models, _logits(labeled)))


def raw_probabilities(labeled: LabeledTable) -> Expressions:
    """Probability of each class, as it was given."""
    return from_logits(_logits(labeled))


def _names(parameters: list[Array]) -> list[list[str]]:
    return [[f"theta{m}_{p}" for p in range(each.shape[1])] for m, each in enumerate(parameters)]


def _logits(labeled: LabeledTable) -> Expressions:
    return tuple(Column(f"z{k}") for k in range(labeled.n_columns))


def _sum_gains(labeled: LabeledTable, frame: Frame, mapped: Expressions) -> GainSums:
    before, after = loss_of(raw_probabilities(labeled)), loss_of(mapped)
    frame = with_formulas(frame, {"before": before, "gain": before - after})
    gain, unit_weight = Column("gain"), Column("unit_weight")
    if labeled.has_groups:
        units = {"before": Column("before"), "gain": gain, "unit_weight": Number(1.0)}
        frame = sum_by(frame, ["group"], units, weighted=labeled.has_weights)
    else:
        # A row of weight 2 counts as two rows, each its own group.
        frame = frame.with_columns(unit_weight=nw.lit(1.0))
    terms = {
        "before": Column("before"),
        "gain": gain,
        "squares": gain * gain,
        "products": gain * unit_weight,
        "weights": unit_weight * unit_weight,
    }
    weighted = labeled.has_weights and not labeled.has_groups
    found = labeled.passes.collect(sum_by(frame, [], terms, weighted=weighted), "scoring")
    return GainSums(**{name: float(found[name][0]) for name in terms})


def loss_of(proba: Expressions) -> Expression:
    """Negative log likelihood of a row, as a formula."""
    true = total(is_class(k) * p for k, p in enumerate(proba))
    return Number(0.0) - log(clamp(true, low=MIN_PROBABILITY))

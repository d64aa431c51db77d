"""What a fitted map gains over doing nothing, summed over the rows of a table in one pass."""

from dataclasses import dataclass

import narwhals as nw
import numpy as np

from tempocal.formula.links import Expressions, log
from tempocal.formula.maps import from_logits, of_form, probabilities
from tempocal.formula.nodes import Column, Expression, Number, clamp, total
from tempocal.links import Array
from tempocal.maps import FittedMap
from tempocal.tables.computed_columns import with_formulas
from tempocal.tables.finest_keys import FinestKeys
from tempocal.tables.labeled_table import LabeledTable
from tempocal.tables.open_table import Frame
from tempocal.tables.row_loss import is_class
from tempocal.tables.transfer import Columns

# A probability below which there is nothing to take the logarithm of.
SMALLEST = 1e-300


@dataclass(frozen=True)
class GainSums:
    """Sums over rows: of losses before, of gains, and of what their spread is made of.

    Attributes
    ----------
    before, gain : float
        Weighted sums of the negative log likelihood before, and of what it is less after.
    squares, products, weights : float
        Sums over groups of the square of a group's gain, of that gain times the group's weight, and
        of its squared weight; over rows, each a group of its own, where there are no groups.
    """

    before: float
    gain: float
    squares: float
    products: float
    weights: float

    def spread(self, mean: float) -> float:
        """Sum over groups of the squared deviation of a group's gain from that at the mean."""
        return max(self.squares - 2.0 * mean * self.products + mean**2 * self.weights, 0.0)


def gains_of_map(labeled: LabeledTable, finest_keys: FinestKeys, fitted: FittedMap) -> GainSums:
    """Compare the logits with those of a map that does not change along time."""
    return _sum_gains(labeled, finest_keys.frame, probabilities(fitted, _logits(labeled)))


def gains_of_form(
    labeled: LabeledTable, finest_keys: FinestKeys, form: str, numbers: list[Array]
) -> GainSums:
    """Compare the logits with those of a map; ``numbers`` of each model are (keys, numbers)."""
    mapped = mapped_by(form, numbers, labeled)
    return _sum_gains(labeled, finest_keys.join_columns(columns_of(numbers)), mapped)


def columns_of(numbers: list[Array]) -> Columns:
    """Numbers of a map, as columns to be put beside the rows."""
    return {
        name: np.ascontiguousarray(column)
        for own, each in zip(_names(numbers), numbers, strict=True)
        for name, column in zip(own, each.T, strict=True)
    }


def mapped_by(form: str, numbers: list[Array], labeled: LabeledTable) -> Expressions:
    """Probability of each class, by the numbers beside a row."""
    models = [[Column(name) for name in own] for own in _names(numbers)]
    return of_form(form, models, _logits(labeled))


def _names(numbers: list[Array]) -> list[list[str]]:
    return [[f"theta{m}_{p}" for p in range(each.shape[1])] for m, each in enumerate(numbers)]


def _logits(labeled: LabeledTable) -> Expressions:
    return tuple(Column(f"z{k}") for k in range(labeled.n_columns))


def _sum_gains(labeled: LabeledTable, frame: Frame, mapped: Expressions) -> GainSums:
    before, after = loss_of(from_logits(_logits(labeled))), loss_of(mapped)
    frame = with_formulas(frame, {"before": before, "gain": before - after})
    frame = frame.with_columns(mass=labeled.weight)
    if labeled.has_groups:
        frame = frame.with_columns(
            before=nw.col("before") * nw.col("mass"), gain=nw.col("gain") * nw.col("mass")
        )
        frame = frame.group_by("group").agg(
            nw.col("before").sum(), nw.col("gain").sum(), nw.col("mass").sum()
        )
        frame = frame.with_columns(share=nw.col("mass"))
    else:
        # A row of weight 2 is as two rows, each a group of its own.
        frame = frame.with_columns(share=nw.lit(1.0))
    squares = {
        "squares": nw.col("gain") * nw.col("gain"),
        "products": nw.col("gain") * nw.col("share"),
        "weights": nw.col("share") * nw.col("share"),
    }
    frame = frame.with_columns(**squares)
    named = ["before", "gain", "squares", "products", "weights"]
    if not labeled.has_groups:
        frame = frame.with_columns(**{name: nw.col(name) * nw.col("mass") for name in named})
    found = labeled.passes.collect(frame.select(*(nw.col(n).sum() for n in named)), "scoring")
    return GainSums(**{name: float(found[name][0]) for name in named})


def loss_of(proba: Expressions) -> Expression:
    """Negative log likelihood of a row."""
    true = total(is_class(k) * p for k, p in enumerate(proba))
    return Number(0.0) - log(clamp(true, low=SMALLEST))

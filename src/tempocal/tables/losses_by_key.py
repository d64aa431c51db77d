"""Losses and calibration errors of the rows of a table under maps that vary by key."""

from collections.abc import Sequence
from dataclasses import dataclass

import narwhals as nw
import numpy as np

from tempocal.formula.links import log, top_class
from tempocal.formula.nodes import (
    Column,
    Expression,
    Largest,
    Number,
    Same,
    Where,
    clamp,
    total,
)
from tempocal.inputs import Codes
from tempocal.links import Array
from tempocal.maps import Form
from tempocal.tables.computed_columns import sum_by, with_formulas
from tempocal.tables.discounted_sums import BACKWARD, PLACE, Windows
from tempocal.tables.exact_sums import MAX_PAIRS
from tempocal.tables.finest_keys import FinestKeys
from tempocal.tables.gain_sums import (
    MIN_PROBABILITY,
    loss_of,
    mapped_probabilities,
    parameter_columns,
    raw_probabilities,
)
from tempocal.tables.group_ids import GroupIds
from tempocal.tables.labeled_table import LabeledTable
from tempocal.tables.open_table import Frame
from tempocal.tables.row_loss import LABEL, is_class
from tempocal.tables.transfer import Columns

# Sums of each group: of losses, of weights, and of squared differences to raw losses.
GroupSums = tuple[Array, Array, Array]


@dataclass(frozen=True)
class MappedRows:
    """Rows and the map of each finest key: ``parameters`` has (keys, p) for each model."""

    labeled: LabeledTable
    finest_keys: FinestKeys
    clusters: GroupIds
    form: Form
    parameters: list[Array]

    def losses(self) -> GroupSums:
        """Sum of the losses of each group, in the order of ids, and its weight.

        And the squares of their differences to the losses of raw predictions, summed.
        """
        loss = loss_of(mapped_probabilities(self.form, self.parameters, self.labeled))
        return self._by_group(self._frame(), loss, loss - loss_of(raw_probabilities(self.labeled)))

    def losses_ahead(self, longest: int, decay: float) -> GroupSums:
        """Sum the same against the raw forecasts that follow each row, in place of outcomes.

        The formulas are those of `tempocal.rows.following_targets`.
        """
        raw, windows = (
            raw_probabilities(self.labeled),
            Windows(BACKWARD, longest, self.labeled.runs),
        )
        p = {f"p{k}": each for k, each in enumerate(raw)}
        frame = with_formulas(self._frame(), p)
        frame = frame.with_columns(**{BACKWARD: nw.col(self.labeled.order) * -1})
        frame = windows.look_back(frame, list(p))
        is_last = Same(Column(PLACE), Number(0.0))
        steps = {
            f"r{k}": Where(is_last, is_class(k), Column(f"{name}_before")) - Column(name)
            for k, name in enumerate(p)
        }
        frame = windows.discount(with_formulas(frame, steps), list(steps), decay)
        targets = [Column(name) + Column(step) for name, step in zip(p, steps, strict=True)]
        mapped = mapped_probabilities(self.form, self.parameters, self.labeled)
        loss = _cross_entropy(targets, mapped)
        before = _cross_entropy(targets, [Column(name) for name in p])
        return self._by_group(frame, loss, loss - before)

    def _frame(self) -> Frame:
        frame = self.finest_keys.join_columns(parameter_columns(self.parameters))
        if self.clusters.count > MAX_PAIRS:
            frame = self.clusters.replace_by_bucket(frame, MAX_PAIRS)
        return frame

    def _by_group(self, frame: Frame, loss: Expression, change: Expression) -> GroupSums:
        terms = {"loss": loss, "mass": Number(1.0), "square": change * change}
        summed = sum_by(frame, ["group"], terms, weighted=self.labeled.has_weights)
        found = self.labeled.passes.collect(summed, "scoring what was left out")
        order = np.argsort(found["group"], kind="stable")
        mass = found["mass"][order].astype(np.float64)
        return found["loss"][order], mass, found["square"][order]

    def gaps(self, time_bin_of: Codes, bins: int) -> Columns:
        """Sum of outcome minus confidence, and the weight, by time bin and confidence bin."""
        columns = parameter_columns(self.parameters)
        time_bins = {"time_bin": time_bin_of.astype(np.int64)}
        frame = self.finest_keys.join_columns({**columns, **time_bins})
        proba = mapped_probabilities(self.form, self.parameters, self.labeled)
        named = {f"p{k}": each for k, each in enumerate(proba)}
        p = [Column(name) for name in named]
        confidence = Largest(tuple(p))
        outcome = Where(Same(top_class(p, confidence), Column(LABEL)), Number(1.0), Number(0.0))
        frame = with_formulas(frame, named)
        frame = with_formulas(frame, {"confidence": confidence, "gap": outcome - confidence})
        bin_number = (nw.col("confidence") * float(bins)).ceil().clip(1.0, float(bins))
        frame = frame.with_columns(bin=bin_number.cast(nw.Int64))
        terms = {"gap": Column("gap"), "mass": Number(1.0)}
        weighted = self.labeled.has_weights
        summed = sum_by(frame, ["time_bin", "bin"], terms, weighted=weighted)
        return self.labeled.passes.collect(summed, "measuring calibration over time")


def _cross_entropy(targets: Sequence[Expression], proba: Sequence[Expression]) -> Expression:
    products = [
        target * log(clamp(p, low=MIN_PROBABILITY))
        for target, p in zip(targets, proba, strict=True)
    ]
    return Number(0.0) - total(products)

"""Losses and calibration errors of the rows of a table under maps that vary by key."""

from dataclasses import dataclass

import narwhals as nw
import numpy as np

from tempocal.inputs import Codes
from tempocal.links import Array
from tempocal.maps import Form
from tempocal.tables.computed_columns import with_formulas
from tempocal.tables.exact_sums import MAX_PAIRS
from tempocal.tables.finest_keys import FinestKeys
from tempocal.tables.gain_sums import loss_of, mapped_probabilities, parameter_columns
from tempocal.tables.group_ids import GroupIds
from tempocal.tables.labeled_table import LabeledTable
from tempocal.tables.transfer import Columns


@dataclass(frozen=True)
class MappedRows:
    """Rows and the map of each finest key: ``parameters`` has (keys, p) for each model."""

    labeled: LabeledTable
    finest_keys: FinestKeys
    clusters: GroupIds
    form: Form
    parameters: list[Array]

    def losses(self) -> tuple[Array, Array]:
        """Sum of the losses of each group, in the order of ids, and its weight."""
        frame = self.finest_keys.join_columns(parameter_columns(self.parameters))
        if self.clusters.count > MAX_PAIRS:
            frame = self.clusters.replace_by_bucket(frame, MAX_PAIRS)
        loss = loss_of(mapped_probabilities(self.form, self.parameters, self.labeled))
        frame = with_formulas(frame, {"loss": loss}).with_columns(mass=self.labeled.weight)
        frame = frame.with_columns(loss=nw.col("loss") * nw.col("mass"))
        summed = frame.group_by("group").agg(nw.col("loss").sum(), nw.col("mass").sum())
        found = self.labeled.passes.collect(summed, "scoring what was left out")
        order = np.argsort(found["group"], kind="stable")
        return found["loss"][order], found["mass"][order].astype(np.float64)

    def gaps(self, time_bin_of: Codes, bins: int) -> Columns:
        """Sum of outcome minus confidence, and the weight, by time bin and confidence bin."""
        columns = parameter_columns(self.parameters)
        time_bins = {"time_bin": time_bin_of.astype(np.int64)}
        frame = self.finest_keys.join_columns({**columns, **time_bins})
        proba = mapped_probabilities(self.form, self.parameters, self.labeled)
        named = {f"p{k}": each for k, each in enumerate(proba)}
        frame = with_formulas(frame, named).with_columns(
            confidence=nw.max_horizontal(*(nw.col(name) for name in named)),
            mass=self.labeled.weight,
        )
        # Ties: the first of the most probable classes is predicted.
        predicted: nw.Expr = nw.lit(len(named) - 1)
        for k in reversed(range(len(named) - 1)):
            is_first = nw.col(f"p{k}") >= nw.col("confidence")
            predicted = nw.when(is_first).then(nw.lit(k)).otherwise(predicted)
        frame = frame.with_columns(predicted=predicted)
        correct = (
            nw.when(nw.col("predicted") == nw.col("label")).then(nw.lit(1.0)).otherwise(nw.lit(0.0))
        )
        bin_number = (nw.col("confidence") * float(bins)).ceil().clip(1.0, float(bins))
        frame = frame.with_columns(correct=correct, bin=bin_number.cast(nw.Int64))
        frame = frame.with_columns(gap=(nw.col("correct") - nw.col("confidence")) * nw.col("mass"))
        summed = frame.group_by("time_bin", "bin").agg(nw.col("gap").sum(), nw.col("mass").sum())
        return self.labeled.passes.collect(summed, "measuring calibration over time")

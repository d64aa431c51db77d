"""Held-out rows of a table, evaluated under each method."""

from dataclasses import dataclass, field
from typing import Any

import narwhals as nw

from tempocal.assessment.examples import Example
from tempocal.assessment.in_tables.examples import pick_examples
from tempocal.assessment.method_scores import RELIABILITY_BINS, diagram_event, n_time_bins
from tempocal.assessment.methods import FittedMethods
from tempocal.assessment.row_source import SWAPPED
from tempocal.lazy import cached
from tempocal.metrics import IntervalEstimate, OverTime, ReliabilityTable
from tempocal.metrics.in_tables.estimate import estimate_gain, estimate_in_bins, estimate_overall
from tempocal.metrics.in_tables.reliability import reliability_tables
from tempocal.metrics.in_tables.scored_frame import ScoredFrame, make_scored_frame
from tempocal.metrics.in_tables.time_bins import TableTimeBins, cut_table, one_time_bin
from tempocal.metrics.jackknife import Metric
from tempocal.predictor import Predictor
from tempocal.tables.computed_columns import add_probabilities
from tempocal.tables.group_ids import GroupIds
from tempocal.tables.labeled_table import LabeledTable
from tempocal.tables.open_table import Frame

LEVEL = 0.95


@dataclass(frozen=True)
class TableHeldOutRows:
    """Held-out rows, and the model of each method."""

    rows: LabeledTable
    groups: GroupIds
    models: dict[str, Predictor]
    seed: int
    scored_frames: dict[str, ScoredFrame] = field(default_factory=dict)

    @classmethod
    def of(
        cls, rows: LabeledTable, groups: GroupIds, fitted: FittedMethods, seed: int
    ) -> "TableHeldOutRows":
        """Collect the models of the methods."""
        models = {name: one._predictor() for name, one in fitted.by_name().items()}
        return cls(rows, groups, models, seed)

    def overall(self, metric: Metric, name: str) -> IntervalEstimate:
        """Estimate a metric on all rows."""
        return estimate_overall(self._scored_frame(name), metric, level=LEVEL, seed=self.seed)

    def over_time(self, metric: Metric, name: str) -> OverTime:
        """Estimate a metric along time."""
        given: Any = {"level": LEVEL, "seed": self.seed}
        return estimate_in_bins(self._scored_frame(name), metric, self._time_bins, **given)

    def gain(self, metric: Metric, before: str, after: str) -> IntervalEstimate:
        """Estimate the gain of one method over another."""
        names = [f"after{k}" for k in range(len(self.rows.classes))]
        frame = self._with_probabilities(self.rows.frame, before, "p")
        if after == SWAPPED:
            frame = frame.with_columns(after0=nw.col("p1"), after1=nw.col("p0"))
        else:
            frame = self._with_probabilities(frame, after, "after")
        scored = make_scored_frame(self.rows, frame, self.groups, also=names)
        return estimate_gain(scored, metric, names, level=LEVEL)

    def reliability(self, name: str) -> ReliabilityTable:
        """Compute the reliability curve of all rows."""
        return self._reliability(name, one_time_bin())[0]

    def reliability_over_time(self, name: str) -> tuple[ReliabilityTable, ...]:
        """Compute the reliability curve of each time bin."""
        return self._reliability(name, self._time_bins)

    def examples(self) -> tuple[Example, ...]:
        """Pick example sequences."""
        if "sequence" not in self.rows.frame.collect_schema():
            return ()
        prefixes = {name: f"m{k}_" for k, name in enumerate(self.models)}
        frame = self.rows.frame
        for name, prefix in prefixes.items():
            frame = self._with_probabilities(frame, name, prefix)
        return pick_examples(self.rows, frame, prefixes, self.seed)

    def _reliability(self, name: str, time_bins: TableTimeBins) -> tuple[ReliabilityTable, ...]:
        of = diagram_event(len(self.rows.classes))
        return reliability_tables(self._scored_frame(name), time_bins, bins=RELIABILITY_BINS, of=of)

    def _scored_frame(self, name: str) -> ScoredFrame:
        if name not in self.scored_frames:
            frame = self._with_probabilities(self.rows.frame, name, "p")
            self.scored_frames[name] = make_scored_frame(self.rows, frame, self.groups)
        return self.scored_frames[name]

    def _with_probabilities(self, frame: Frame, name: str, prefix: str) -> Frame:
        model = self.models[name]
        predictions = [f"x{k}" for k in range(self.rows.n_columns)]
        return add_probabilities(
            frame, model, predictions, ["time"] * len(model.time_kinds), prefix
        )

    @cached
    def _time_bins(self) -> TableTimeBins:
        return cut_table(self._scored_frame("raw"), n_time_bins(self.groups.count))

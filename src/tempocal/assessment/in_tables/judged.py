"""Rows of a table that are judged, with what each method says of them."""

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
from tempocal.metrics.in_tables.time_bins import TableTimeBins, cut_table, whole
from tempocal.metrics.jackknife import Metric
from tempocal.predictor import Predictor
from tempocal.tables.computed_columns import add_probabilities
from tempocal.tables.group_ids import GroupIds
from tempocal.tables.labeled_table import LabeledTable
from tempocal.tables.open_table import Frame

LEVEL = 0.95


@dataclass(frozen=True)
class JudgedTable:
    """Rows, and the model of each method."""

    rows: LabeledTable
    groups: GroupIds
    models: dict[str, Predictor]
    seed: int
    known: dict[str, ScoredFrame] = field(default_factory=dict)

    @classmethod
    def of(
        cls, rows: LabeledTable, groups: GroupIds, fitted: FittedMethods, seed: int
    ) -> "JudgedTable":
        """Take the models of the methods."""
        models = {name: one._predictor() for name, one in fitted.by_name().items()}
        return cls(rows, groups, models, seed)

    def overall(self, metric: Metric, name: str) -> IntervalEstimate:
        """Take a metric of all rows."""
        return estimate_overall(self._scored(name), metric, level=LEVEL, seed=self.seed)

    def over_time(self, metric: Metric, name: str) -> OverTime:
        """Take a metric along time."""
        given: Any = {"level": LEVEL, "seed": self.seed}
        return estimate_in_bins(self._scored(name), metric, self._stretches, **given)

    def gain(self, metric: Metric, before: str, after: str) -> IntervalEstimate:
        """Take what one method gains over another."""
        names = [f"after{k}" for k in range(len(self.rows.classes))]
        frame = self._with(self.rows.frame, before, "p")
        if after == SWAPPED:
            frame = frame.with_columns(after0=nw.col("p1"), after1=nw.col("p0"))
        else:
            frame = self._with(frame, after, "after")
        scored = make_scored_frame(self.rows, frame, self.groups, also=names)
        return estimate_gain(scored, metric, names, level=LEVEL)

    def reliability(self, name: str) -> ReliabilityTable:
        """Take the reliability curve of all rows."""
        return self._reliability(name, whole())[0]

    def reliability_over_time(self, name: str) -> tuple[ReliabilityTable, ...]:
        """Take the reliability curve of each stretch."""
        return self._reliability(name, self._stretches)

    def examples(self) -> tuple[Example, ...]:
        """Pick some sequences."""
        if "sequence" not in self.rows.frame.collect_schema():
            return ()
        prefixes = {name: f"m{k}_" for k, name in enumerate(self.models)}
        frame = self.rows.frame
        for name, prefix in prefixes.items():
            frame = self._with(frame, name, prefix)
        return pick_examples(self.rows, frame, prefixes, self.seed)

    def _reliability(self, name: str, stretches: TableTimeBins) -> tuple[ReliabilityTable, ...]:
        of = diagram_event(len(self.rows.classes))
        return reliability_tables(self._scored(name), stretches, bins=RELIABILITY_BINS, of=of)

    def _scored(self, name: str) -> ScoredFrame:
        if name not in self.known:
            frame = self._with(self.rows.frame, name, "p")
            self.known[name] = make_scored_frame(self.rows, frame, self.groups)
        return self.known[name]

    def _with(self, frame: Frame, name: str, prefix: str) -> Frame:
        """Add the probabilities of a method."""
        model = self.models[name]
        scores = [f"x{k}" for k in range(self.rows.n_columns)]
        return add_probabilities(frame, model, scores, ["time"] * len(model.time_kinds), prefix)

    @cached
    def _stretches(self) -> TableTimeBins:
        return cut_table(self._scored("raw"), n_time_bins(self.groups.count))

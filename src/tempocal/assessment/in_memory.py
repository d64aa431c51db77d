"""Rows in memory as the source of an assessment; see `row_source`."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tempocal.assessment.examples import Example, pick_examples
from tempocal.assessment.facts import Facts, read_facts
from tempocal.assessment.method_scores import RELIABILITY_BINS, diagram_event, n_time_bins
from tempocal.assessment.methods import FittedMethods, is_along_time
from tempocal.assessment.row_source import SWAPPED
from tempocal.assessment.split_predictions import PastPredictions
from tempocal.inputs import Inputs, check_time
from tempocal.lazy import cached
from tempocal.links import Array
from tempocal.metrics import (
    IntervalEstimate,
    OverTime,
    ReliabilityTable,
    gain,
    over_time,
    reliability_curve,
    with_interval,
)
from tempocal.metrics.jackknife import Metric
from tempocal.metrics.time_bins import TimeBins, cut_times


@dataclass(frozen=True, eq=False)
class InMemoryTrainingRows:
    """Rows that calibrators are fitted to."""

    rows: PastPredictions
    inputs: Inputs
    classes: NDArray[Any]

    def fit(self, calibrator: Any) -> Any:
        """Fit a calibrator; the time is passed to temporal ones only."""
        rows = self.rows
        given = {"groups": rows.group, "sample_weight": rows.weight}
        if is_along_time(calibrator):
            given["time"] = rows.time
        return calibrator.fit(rows.predictions, rows.label, **given)

    def times(self) -> NDArray[Any]:
        """Return the distinct times."""
        return np.unique(self.rows.time)

    def mean_times(self, n_bins: int) -> NDArray[Any]:
        """Return the mean time of each time bin."""
        return _cut(self.rows, n_bins).middle


@dataclass(frozen=True, eq=False)
class InMemoryHeldOutRows:
    """Held-out rows with the probabilities of each method."""

    rows: PastPredictions
    proba: dict[str, Array]  # (n, K)
    classes: NDArray[Any]
    seed: int

    def overall(self, metric: Metric, name: str) -> IntervalEstimate:
        """Metric of all rows."""
        return with_interval(
            metric, self.rows.label, self.proba[name], seed=self.seed, **self._common
        )

    def over_time(self, metric: Metric, name: str) -> OverTime:
        """Metric in each time bin."""
        rows, settings = self.rows, {"bins": self._n_time_bins, "seed": self.seed}
        return over_time(
            metric, rows.label, self.proba[name], rows.time, **settings, **self._common
        )

    def gain(self, metric: Metric, before: str, after: str) -> IntervalEstimate:
        """Loss of one method minus the loss of another."""
        old, new = (
            self.proba["raw"][:, ::-1] if name == SWAPPED else self.proba[name]
            for name in (before, after)
        )
        return gain(metric, self.rows.label, old, new, **self._common)

    def reliability(self, name: str) -> ReliabilityTable:
        """Reliability curve of all rows."""
        return self._reliability(self.rows, self.proba[name])

    def reliability_over_time(self, name: str) -> tuple[ReliabilityTable, ...]:
        """Reliability curve of each time bin."""
        time_bins, proba = self._time_bins, self.proba[name]
        parts = [np.flatnonzero(time_bins.codes == k) for k in range(time_bins.count)]
        return tuple(self._reliability(self.rows.take(part), proba[part]) for part in parts)

    def examples(self) -> tuple[Example, ...]:
        """Pick some sequences to show."""
        return pick_examples(self.rows, self.proba, self.classes, self.seed)

    def _reliability(self, rows: PastPredictions, proba: Array) -> ReliabilityTable:
        return reliability_curve(
            rows.label,
            proba,
            bins=RELIABILITY_BINS,
            of=diagram_event(len(self.classes)),
            groups=rows.group,
            sample_weight=rows.weight,
            classes=self.classes,
        )

    @property
    def _common(self) -> dict[str, Any]:
        rows = self.rows
        return {"groups": rows.group, "sample_weight": rows.weight, "classes": self.classes}

    @cached
    def _n_time_bins(self) -> int:
        group = self.rows.group
        return n_time_bins(len(self.rows) if group is None else len(np.unique(group)))

    @cached
    def _time_bins(self) -> TimeBins:
        return _cut(self.rows, self._n_time_bins)


@dataclass(frozen=True, eq=False)
class InMemorySource:
    """Labeled predictions, split into training rows and held-out rows."""

    all_rows: PastPredictions
    training_rows: InMemoryTrainingRows
    held_out: PastPredictions
    seed: int

    def held_out_rows(self, fitted: FittedMethods) -> InMemoryHeldOutRows:
        """Predict the held-out rows with each method."""
        proba = fitted.predict(self.held_out)
        return InMemoryHeldOutRows(self.held_out, proba, self.training_rows.classes, self.seed)

    def facts(self) -> Facts:
        """Count rows, groups and times."""
        training = self.training_rows
        return read_facts(self.all_rows, training.rows, self.held_out, training.classes)


def _cut(rows: PastPredictions, n_bins: int) -> TimeBins:
    return cut_times(check_time(rows.time, len(rows)), rows.weight, n_bins)

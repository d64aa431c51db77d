"""The evidence of rows in memory."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tempocal.assessment.examples import Example, pick_examples
from tempocal.assessment.facts import Facts, read_facts
from tempocal.assessment.method_scores import RELIABILITY_BINS, diagram_of, n_stretches
from tempocal.assessment.methods import Fitted, is_along_time
from tempocal.assessment.row_source import EXCHANGED
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
from tempocal.metrics.time_bins import Stretches, cut


@dataclass(frozen=True, eq=False)
class RowsToFit:
    """Rows that calibrators are fitted to."""

    rows: PastPredictions
    inputs: Inputs
    classes: NDArray[Any]

    def fit(self, calibrator: Any) -> Any:
        """Fit a calibrator, along time if it is one of those."""
        rows = self.rows
        given = {"groups": rows.group, "sample_weight": rows.weight}
        if is_along_time(calibrator):
            given["time"] = rows.time
        return calibrator.fit(rows.scores, rows.label, **given)

    def times(self) -> NDArray[Any]:
        """Return the distinct times."""
        return np.unique(self.rows.time)

    def middles(self, stretches: int) -> NDArray[Any]:
        """Return the mean time of each stretch."""
        return _cut(self.rows, stretches).middle


@dataclass(frozen=True, eq=False)
class JudgedRows:
    """Rows with the probabilities of each method."""

    rows: PastPredictions
    proba: dict[str, Array]  # (n, K)
    classes: NDArray[Any]
    seed: int

    def whole(self, metric: Metric, name: str) -> IntervalEstimate:
        """Take a metric of all rows."""
        return with_interval(
            metric, self.rows.label, self.proba[name], seed=self.seed, **self._common
        )

    def along(self, metric: Metric, name: str) -> OverTime:
        """Take a metric along time."""
        rows, settings = self.rows, {"bins": self._n_stretches, "seed": self.seed}
        return over_time(
            metric, rows.label, self.proba[name], rows.time, **settings, **self._common
        )

    def gain(self, metric: Metric, before: str, after: str) -> IntervalEstimate:
        """Take what one method gains over another."""
        old, new = (
            self.proba["raw"][:, ::-1] if name == EXCHANGED else self.proba[name]
            for name in (before, after)
        )
        return gain(metric, self.rows.label, old, new, **self._common)

    def reliability(self, name: str) -> ReliabilityTable:
        """Take the reliability curve of all rows."""
        return self._reliability(self.rows, self.proba[name])

    def reliability_over_time(self, name: str) -> tuple[ReliabilityTable, ...]:
        """Take the reliability curve of each stretch."""
        stretches, proba = self._stretches, self.proba[name]
        parts = [np.flatnonzero(stretches.codes == k) for k in range(stretches.count)]
        return tuple(self._reliability(self.rows.take(part), proba[part]) for part in parts)

    def examples(self) -> tuple[Example, ...]:
        """Pick some sequences."""
        return pick_examples(self.rows, self.proba, self.classes, self.seed)

    def _reliability(self, rows: PastPredictions, proba: Array) -> ReliabilityTable:
        return reliability_curve(
            rows.label,
            proba,
            bins=RELIABILITY_BINS,
            of=diagram_of(len(self.classes)),
            groups=rows.group,
            sample_weight=rows.weight,
            classes=self.classes,
        )

    @property
    def _common(self) -> dict[str, Any]:
        rows = self.rows
        return {"groups": rows.group, "sample_weight": rows.weight, "classes": self.classes}

    @cached
    def _n_stretches(self) -> int:
        group = self.rows.group
        return n_stretches(len(self.rows) if group is None else len(np.unique(group)))

    @cached
    def _stretches(self) -> Stretches:
        return _cut(self.rows, self._n_stretches)


@dataclass(frozen=True, eq=False)
class RowsInMemory:
    """Past predictions in two parts."""

    past: PastPredictions
    to_fit: RowsToFit
    to_judge: PastPredictions
    seed: int

    def judged(self, fitted: Fitted) -> JudgedRows:
        """Let the methods predict the other part."""
        proba = fitted.predict(self.to_judge)
        return JudgedRows(self.to_judge, proba, self.to_fit.classes, self.seed)

    def facts(self) -> Facts:
        """Count rows, groups and times."""
        return read_facts(self.past, self.to_fit.rows, self.to_judge, self.to_fit.classes)


def _cut(rows: PastPredictions, stretches: int) -> Stretches:
    return cut(check_time(rows.time, len(rows)), rows.weight, stretches)

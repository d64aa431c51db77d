"""The rows behind an assessment, which are in memory (`in_memory`) or in a table (`in_table`).

A `RowSource` splits labeled predictions into `TrainingRows`, which calibrators are fitted to, and
`HeldOutRows`, on which they are evaluated.
"""

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, Protocol

from numpy.typing import NDArray

from tempocal.inputs import Inputs
from tempocal.metrics import GainOverTime, IntervalEstimate, OverTime, ReliabilityTable
from tempocal.metrics.events import EventKind
from tempocal.metrics.gain import estimate_gain
from tempocal.metrics.gain_over_time import estimate_gain_over_time
from tempocal.metrics.gap_metric import GapMetric
from tempocal.metrics.jackknife import Metric
from tempocal.metrics.over_time import estimate_over_time, estimate_overall
from tempocal.metrics.reliability import reliability_tables
from tempocal.metrics.scored_rows import ScoredRows
from tempocal.metrics.time_bins import TimeBins
from tempocal.temporal.horizon import Horizon

if TYPE_CHECKING:
    from tempocal.assessment.examples import Example
    from tempocal.assessment.facts import Facts
    from tempocal.assessment.methods import FittedMethods

# Name of the raw predictions with the two classes swapped.
SWAPPED = "swapped"
# Number of time bins with at least MANY_GROUPS groups, and with fewer.
MANY_TIME_BINS, FEW_TIME_BINS, MANY_GROUPS = 20, 10, 1000
RELIABILITY_BINS = 10
LEVEL = 0.95


class TrainingRows(Protocol):
    """Rows that calibrators are fitted to."""

    @property
    def inputs(self) -> Inputs:
        """Whether the predictions are logits or probabilities."""

    @property
    def classes(self) -> NDArray[Any]:
        """The class of each column."""

    @property
    def td_horizon(self) -> Horizon:
        """How far ahead fits along time learn from forecasts."""

    def fit(self, calibrator: Any) -> Any:
        """Fit a calibrator; the time is passed to temporal ones only."""

    def times(self) -> NDArray[Any]:
        """Return the distinct times in ascending order; a subset if there are very many."""

    def mean_times(self, n_bins: int) -> NDArray[Any]:
        """Cut time into bins of equal mass and return the mean time of each."""


class HeldOutRows(ABC):
    """Held-out rows with the predictions of each method.

    ``name`` is one of `tempocal.assessment.METHODS`, or `SWAPPED` for ``after``.
    """

    seed: int

    @abstractmethod
    def scored(self, name: str) -> ScoredRows:
        """Return the rows with the probabilities of a method."""

    @abstractmethod
    def paired(self, before: str, after: str) -> ScoredRows:
        """Return the rows with those of two methods, the second as ``after0``, ..."""

    @property
    @abstractmethod
    def time_bins(self) -> TimeBins:
        """Time bins, the same for all methods."""

    @abstractmethod
    def examples(self) -> "tuple[Example, ...]":
        """Pick some sequences to show."""

    def overall(self, metric: Metric, name: str) -> IntervalEstimate:
        """Metric of all rows."""
        return estimate_overall(self.scored(name), metric, LEVEL, self.seed)

    def over_time(self, metric: Metric, name: str) -> OverTime:
        """Metric in each time bin."""
        return estimate_over_time(self._in_time_bins(name), metric, LEVEL, self.seed)

    def gain(self, metric: Metric, before: str, after: str) -> IntervalEstimate:
        """Loss of one method minus the loss of another."""
        return estimate_gain(self.paired(before, after), metric, LEVEL)

    def gain_over_time(self, metric: Metric, before: str, after: str) -> GainOverTime:
        """Loss of one method minus the loss of another, in each time bin of `over_time`."""
        rows = self.paired(before, after).in_time_bins(self.time_bins)
        return estimate_gain_over_time(rows, metric, LEVEL, self.seed)

    def reliability(self, name: str) -> ReliabilityTable:
        """Reliability curve of all rows."""
        return _reliability(self.scored(name))[0]

    def reliability_over_time(self, name: str) -> tuple[ReliabilityTable, ...]:
        """Reliability curve of each time bin of `over_time`."""
        return _reliability(self._in_time_bins(name))

    def _in_time_bins(self, name: str) -> ScoredRows:
        return self.scored(name).in_time_bins(self.time_bins)


class RowSource(Protocol):
    """Labeled predictions, split into training rows and held-out rows."""

    @property
    def training_rows(self) -> TrainingRows:
        """The rows to fit to."""

    def held_out_rows(self, fitted: "FittedMethods") -> HeldOutRows:
        """Predict the held-out rows with each method."""

    def facts(self) -> "Facts":
        """Count rows, groups and times; to be called after `held_out_rows`."""


def n_time_bins(units: int) -> int:
    """Return the number of time bins for a number of independent groups or rows."""
    return MANY_TIME_BINS if units >= MANY_GROUPS else FEW_TIME_BINS


def _reliability(rows: ScoredRows) -> tuple[ReliabilityTable, ...]:
    """Diagrams show the second of two classes, else the top label."""
    of: EventKind = "positive_class" if rows.n_classes == 2 else "top_label"
    return reliability_tables(rows, GapMetric(of, RELIABILITY_BINS, "equal_mass"), LEVEL)

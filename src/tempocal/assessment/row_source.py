"""Protocols of the rows behind an assessment: rows in memory, or rows in a table.

`RowSource` splits labeled predictions into `TrainingRows`, which calibrators are fitted to, and
`HeldOutRows`, on which they are evaluated. `in_memory` implements them for arrays and `in_tables`
for tables.
"""

from typing import TYPE_CHECKING, Any, Protocol

from numpy.typing import NDArray

from tempocal.inputs import Inputs
from tempocal.metrics import IntervalEstimate, OverTime, ReliabilityTable
from tempocal.metrics.jackknife import Metric

if TYPE_CHECKING:
    from tempocal.assessment.examples import Example
    from tempocal.assessment.facts import Facts
    from tempocal.assessment.methods import FittedMethods

# Name of the raw predictions with the two classes swapped.
SWAPPED = "swapped"


class TrainingRows(Protocol):
    """Rows that calibrators are fitted to."""

    @property
    def inputs(self) -> Inputs:
        """Whether the predictions are logits or probabilities."""

    @property
    def classes(self) -> NDArray[Any]:
        """The class of each column."""

    def fit(self, calibrator: Any) -> Any:
        """Fit a calibrator; the time is passed to temporal ones only."""

    def times(self) -> NDArray[Any]:
        """Return the distinct times in ascending order; a subset if there are very many."""

    def mean_times(self, n_bins: int) -> NDArray[Any]:
        """Cut time into bins of equal mass and return the mean time of each."""


class HeldOutRows(Protocol):
    """Held-out rows with the predictions of each method.

    ``name`` is one of `tempocal.assessment.METHODS`, or `SWAPPED`.
    """

    def overall(self, metric: Metric, name: str) -> IntervalEstimate:
        """Metric of all rows."""

    def over_time(self, metric: Metric, name: str) -> OverTime:
        """Metric in each time bin."""

    def gain(self, metric: Metric, before: str, after: str) -> IntervalEstimate:
        """Loss of one method minus the loss of another."""

    def reliability(self, name: str) -> ReliabilityTable:
        """Reliability curve of all rows."""

    def reliability_over_time(self, name: str) -> tuple[ReliabilityTable, ...]:
        """Reliability curve of each time bin of `over_time`."""

    def examples(self) -> "tuple[Example, ...]":
        """Pick some sequences to show."""


class RowSource(Protocol):
    """Labeled predictions, split into training rows and held-out rows."""

    @property
    def training_rows(self) -> TrainingRows:
        """The rows to fit to."""

    def held_out_rows(self, fitted: "FittedMethods") -> HeldOutRows:
        """Predict the held-out rows with each method."""

    def facts(self) -> "Facts":
        """Count rows, groups and times; to be called after `held_out_rows`."""

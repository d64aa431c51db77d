"""Where the numbers of an assessment come from: rows in memory, or rows in a table."""

from typing import TYPE_CHECKING, Any, Protocol

from numpy.typing import NDArray

from tempocal.inputs import Inputs
from tempocal.metrics import IntervalEstimate, OverTime, ReliabilityTable
from tempocal.metrics.jackknife import Metric

if TYPE_CHECKING:
    from tempocal.assessment.examples import Example
    from tempocal.assessment.facts import Facts
    from tempocal.assessment.methods import Fitted

# Raw predictions of two classes, read as if each were the other's.
EXCHANGED = "exchanged"


class ToFit(Protocol):
    """Rows that calibrators are fitted to."""

    @property
    def inputs(self) -> Inputs:
        """What the predictions are."""

    @property
    def classes(self) -> NDArray[Any]:
        """The class of each column."""

    def fit(self, calibrator: Any) -> Any:
        """Fit a calibrator, along time if it is one of those."""

    def times(self) -> NDArray[Any]:
        """Return the distinct times, in order; of very many, some of them."""

    def middles(self, stretches: int) -> NDArray[Any]:
        """Cut time into stretches, and return the mean time of each."""


class Judged(Protocol):
    """Rows that nothing was fitted to, and what each method says of them.

    Methods go by their names, those of `tempocal.assessment.METHODS` and `EXCHANGED`.
    """

    def whole(self, metric: Metric, name: str) -> IntervalEstimate:
        """Take a metric of all rows."""

    def along(self, metric: Metric, name: str) -> OverTime:
        """Take a metric along time."""

    def gain(self, metric: Metric, before: str, after: str) -> IntervalEstimate:
        """Take what one method gains over another."""

    def reliability(self, name: str) -> ReliabilityTable:
        """Take the reliability curve of all rows."""

    def reliability_over_time(self, name: str) -> tuple[ReliabilityTable, ...]:
        """Take the reliability curve of each stretch of `along`."""

    def examples(self) -> "tuple[Example, ...]":
        """Pick some sequences."""


class Evidence(Protocol):
    """Past predictions in two parts."""

    @property
    def to_fit(self) -> ToFit:
        """The part to fit to."""

    def judged(self, fitted: "Fitted") -> Judged:
        """Let the methods predict the other part."""

    def facts(self) -> "Facts":
        """Count rows, groups and times, after the other part was judged."""

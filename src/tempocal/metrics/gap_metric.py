"""Settings of the calibration errors that are sums of gaps, over time and in tables."""

from dataclasses import dataclass

from tempocal.inputs import check_choice
from tempocal.metrics.edges import BINNINGS, Binning
from tempocal.metrics.events import EVENT_NAMES, EventKind
from tempocal.metrics.predictions import check_two_classes


@dataclass(frozen=True)
class GapMetric:
    """Settings of a calibration error: its events and bins."""

    of: EventKind | None  # None for every class
    bins: int
    binning: Binning

    def n_events(self, n_classes: int) -> int:
        """Check the settings, and return the number of events of each row."""
        check_choice(self.binning, "binning", BINNINGS)
        if self.of is None:
            return n_classes
        check_choice(self.of, "of", tuple(EVENT_NAMES))
        check_two_classes(self.of, n_classes, 'of="top_label", or classwise_ece for every class')
        return 1

"""Times of a report as numbers of one unit, or as dates."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tempocal.assessment import Assessment
from tempocal.plots.time_axis import TimeScale, time_scale

# The clock is skewed if the first half of the rows lies in this share of it.
SKEWED = 0.2


@dataclass(frozen=True)
class TimeColumn:
    """How times are written and drawn."""

    name: str
    scale: TimeScale
    can_be_log: bool
    starts_log: bool

    def values(self, time: NDArray[Any]) -> list[Any]:
        """Return times as numbers of the unit, or as ISO dates."""
        if self.scale.kind == "datetime":
            return [str(one) for one in time.astype("M8[s]")]
        return [float(one) for one in self.scale.numbers(time)]

    def axis(self) -> dict[str, Any]:
        """Return the settings of an axis of time."""
        return {
            "title": self.scale.label(self.name),
            "name": self.name,
            "unit": self.scale.unit,
            "date": self.scale.kind == "datetime",
            "canBeLog": self.can_be_log,
            "log": self.starts_log,
        }


def time_column(assessment: Assessment, name: str) -> TimeColumn:
    """Return how the times of an assessment are written.

    The axis begins logarithmic if rows crowd at its start, or the curve is one of log time.
    """
    facts, table = assessment.facts, assessment.scores[assessment.subject].ece_over_time
    first, last = np.asarray([facts.time_from]), np.asarray([facts.time_to])
    scale = time_scale(first, last)
    if scale.kind == "datetime":
        return TimeColumn(name, scale, can_be_log=False, starts_log=False)
    low, high = float(scale.numbers(first)[0]), float(scale.numbers(last)[0])
    middle = float(scale.numbers(table.time_middle)[len(table) // 2])
    curve = assessment.curve
    log = middle - low < SKEWED * (high - low) or (curve is not None and curve.log_clock)
    can_be_log = low >= 0.0 and high > 0.0
    return TimeColumn(name, scale, can_be_log, can_be_log and log)

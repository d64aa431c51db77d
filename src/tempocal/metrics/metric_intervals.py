"""Metric values with confidence intervals, one for each time bin, whatever the metric."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tempocal.links import Array


@dataclass(frozen=True, eq=False)
class MetricInterval:
    """The value of a metric, its confidence interval and its sampling floor.

    The interval is for the metric without noise, and noise adds to a calibration error. In about
    one of a thousand time bins the interval therefore ends below the value; it is then widened to
    include the value, which can only raise its coverage.
    """

    value: float
    lower: float
    upper: float
    floor: float
    only_upper: bool = False

    def __post_init__(self) -> None:
        # In this order a NaN value leaves the limits unchanged.
        object.__setattr__(self, "lower", min(self.lower, self.value))
        object.__setattr__(self, "upper", max(self.upper, self.value))


@dataclass(frozen=True, eq=False)
class MetricByTimeBin:
    """A metric in each time bin, and its mean over the time bins."""

    by_time_bin: tuple[MetricInterval, ...]
    mean: MetricInterval
    estimator: str
    units: Array  # (S,) number of independent units
    # 98 % quantile, under perfect calibration, of the largest ratio of value to floor.
    chance_ratio: float = np.inf

    def column(self, name: str) -> NDArray[Any]:
        """Return one field of all time bins."""
        return np.array([getattr(one, name) for one in self.by_time_bin])


def student_quantile(share: float, degrees: Array | float) -> Array:
    """Quantile of Student's t distribution."""
    from scipy.special import stdtrit  # noqa: PLC0415 - keeps the import of the metrics fast

    return np.asarray(stdtrit(degrees, share), dtype=np.float64)


def half_width(level: float, units: float) -> float:
    """Half-width of a t interval in standard errors; infinite for a single unit.

    It includes the small-sample correction ``sqrt(units / (units - 1))`` of a robust error.
    """
    if units <= 1.0:
        return np.inf
    quantile = student_quantile(0.5 + level / 2, units - 1.0)
    return float(quantile * np.sqrt(units / (units - 1.0)))

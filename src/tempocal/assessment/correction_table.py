"""Parameters of the leading candidate along time, as a table of numbers."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tempocal.assessment.row_source import TrainingRows
from tempocal.curves.logarithmic import Logarithmic
from tempocal.links import Array

# With more distinct times than this, the curve is evaluated on an evenly spaced grid instead.
MAX_TIMES = 200


@dataclass(frozen=True, eq=False)
class CurveTable:
    """Parameters along time with their band, and separate estimates for each time bin."""

    time: NDArray[Any]
    values: dict[str, Array]
    lower: dict[str, Array]
    upper: dict[str, Array]
    level: float
    point_time: NDArray[Any]
    points: dict[str, Array]
    log_clock: bool  # whether the curve turns faster at the start


def read_curve(best: Any, per_bin: Any, rows: TrainingRows, n_bins: int) -> CurveTable:
    """Evaluate the fitted calibrators: one along time, the other in each time bin."""
    grid, mean_times = _time_grid(rows.times()), rows.mean_times(n_bins)
    bands = best.interval_at(grid)
    return CurveTable(
        grid,
        best.parameters_at(grid),
        {name: band.lower for name, band in bands.items()},
        {name: band.upper for name, band in bands.items()},
        next(iter(bands.values())).level,
        mean_times,
        per_bin.parameters_at(mean_times),
        getattr(best.curve, "clock", None) == "log" or isinstance(best.curve, Logarithmic),
    )


def _time_grid(times: NDArray[Any]) -> NDArray[Any]:
    if len(times) <= MAX_TIMES:
        return times
    return np.asarray(times[0] + (times[-1] - times[0]) * np.linspace(0.0, 1.0, MAX_TIMES))

"""The correction that was chosen, along time, as a table of numbers."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tempocal.assessment.row_source import ToFit
from tempocal.links import Array

# More distinct times than this are shown at so many evenly spaced ones.
MOST_TIMES = 200


@dataclass(frozen=True, eq=False)
class CurveTable:
    """Parameters along time with their band, and those of each stretch on its own."""

    time: NDArray[Any]
    values: dict[str, Array]
    lower: dict[str, Array]
    upper: dict[str, Array]
    level: float
    point_time: NDArray[Any]
    points: dict[str, Array]


def read_curve(auto: Any, by_stretch: Any, rows: ToFit, stretches: int) -> CurveTable:
    """Read the parameters off calibrators that were fitted to these rows."""
    moments, middles = _moments(rows.times()), rows.middles(stretches)
    bands = auto.interval_at(moments)
    return CurveTable(
        moments,
        auto.parameters_at(moments),
        {name: band.lower for name, band in bands.items()},
        {name: band.upper for name, band in bands.items()},
        next(iter(bands.values())).level,
        middles,
        by_stretch.parameters_at(middles),
    )


def _moments(found: NDArray[Any]) -> NDArray[Any]:
    if len(found) <= MOST_TIMES:
        return found
    return np.asarray(found[0] + (found[-1] - found[0]) * np.linspace(0.0, 1.0, MOST_TIMES))

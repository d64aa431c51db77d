"""A smooth curve of any shape."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from tempocal.curves.curve import RangeCurve, Shape, Track, check_strength, constant_track
from tempocal.curves.grid import Grid
from tempocal.inputs import check_choice, check_positive_int
from tempocal.links import Array
from tempocal.maps import SplineBasis

# The unit of the logarithmic clock: the median time since the first, divided by this.
UNITS_TO_MEDIAN = 8.0


@dataclass(frozen=True)
class Spline(RangeCurve):
    """A penalized cubic spline, as smooth as the data want it.

    Parameters
    ----------
    intervals : int, default=8
        Stretches between knots. It limits how fast the curve can turn; how fast it does is for the
        penalty, so that the number hardly matters once it is large enough.
    clock : {"log", "time"}, default="log"
        Whether knots are equally far apart in time, or in ``log(1 + (time - first) / unit)``: there
        the curve can turn faster at the start, where most curves do. The unit is an eighth of the
        median time since the first.
    smoothness : "auto" or float, default="auto"
        Strength of the penalty towards a straight line in the clock; "auto" takes it from the data.

    Examples
    --------
    >>> import tempocal as tc
    >>> matches = tc.datasets.simulate_match(500)
    >>> cal = tc.TemporalCalibrator(tc.TemperatureScaling(), tc.Spline())
    >>> cal = cal.fit(matches.logits, matches.label, time=matches.time, groups=matches.sequence)
    >>> cal.parameters_at([0, 24])["inverse_temperature"].round(1)
    array([0.3, 1.1])
    """

    intervals: int = 8
    clock: Literal["log", "time"] = "log"
    smoothness: Literal["auto"] | float = "auto"

    def _lay(self, grid: Grid) -> Track:
        """Put knots on the clock."""
        intervals = check_positive_int(self.intervals, "intervals")
        check_choice(self.clock, "clock", ("log", "time"))
        wanted = check_strength(self.smoothness, "smoothness")
        first, last = float(grid.times[0]), float(grid.times[-1])
        if first == last:
            return constant_track(grid)
        unit = _unit(grid) if self.clock == "log" else 0.0
        basis = SplineBasis(first, last, unit, float(intervals))
        shape = Shape(basis, np.ones(basis.n_functions), (_roughness(basis.n_functions),))
        return Track(grid, lambda rates: shape, smoothness=(wanted,))


def _unit(grid: Grid) -> float:
    """Take an eighth of the median time since the first, or a thousandth of the range at least."""
    half = np.searchsorted(np.cumsum(grid.weights), 0.5 * grid.weights.sum())
    median = grid.times[min(int(half), grid.n_keys - 1)] - grid.times[0]
    return float(max(median / UNITS_TO_MEDIAN, (grid.times[-1] - grid.times[0]) / 1000.0))


def _roughness(n_functions: int) -> Array:
    """Sum of squared second differences, scaled so that a curve with one turn costs about 1."""
    differences = np.diff(np.eye(n_functions), n=2, axis=0)
    # Of a parabola that rises by 1 and falls again over the range.
    turn = 8.0 / (n_functions - 3) ** 2
    return np.asarray(differences.T @ differences / ((n_functions - 2) * turn**2))

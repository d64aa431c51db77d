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
# With a unit of this many ranges of time the clock is that of time itself.
LONGEST_UNIT = 100.0


@dataclass(frozen=True)
class Spline(RangeCurve):
    """A penalized cubic spline, as smooth as the data want it.

    Parameters
    ----------
    intervals : int, default=8
        Stretches between knots. It limits how fast the curve can turn; how fast it does is for the
        penalty. With the default clock 16 did no better in simulations, even for two full waves.
    clock : {"auto", "log", "time"}, default="auto"
        Knots are equally far apart in time, or in ``log(1 + (time - first) / unit)``: there the
        curve can turn faster at the start. The unit of "log" is an eighth of the median time since
        the first. That of "auto" is such that half of the rows lie in each half of the clock, but
        no shorter; it is time itself where the median lies in the later half of the range.
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
    clock: Literal["auto", "log", "time"] = "auto"
    smoothness: Literal["auto"] | float = "auto"

    def _lay(self, grid: Grid) -> Track:
        """Put knots on the clock."""
        intervals = check_positive_int(self.intervals, "intervals")
        check_choice(self.clock, "clock", ("auto", "log", "time"))
        wanted = check_strength(self.smoothness, "smoothness")
        first, last = float(grid.times[0]), float(grid.times[-1])
        if first == last:
            return constant_track(grid)
        basis = SplineBasis(first, last, self._unit(grid), float(intervals))
        count = basis.n_functions
        trend = np.stack([np.ones(count), np.linspace(-1.0, 1.0, count)], axis=1)
        shape = Shape(basis, np.ones(count), (_roughness(count),), trend=trend)
        return Track(grid, lambda rates: shape, smoothness=(wanted,))

    def _unit(self, grid: Grid) -> float:
        """Return the unit of the logarithmic clock; 0 for time itself."""
        length = float(grid.times[-1] - grid.times[0])
        median = _median(grid)
        shortest = max(median / UNITS_TO_MEDIAN, length / 1000.0)
        if self.clock == "log":
            return shortest
        unit = _halving_unit(median, length) if self.clock == "auto" else np.inf
        return max(unit, shortest) if unit <= LONGEST_UNIT * length else 0.0


def _median(grid: Grid) -> float:
    """Median time since the first."""
    half = np.searchsorted(np.cumsum(grid.weights), 0.5 * grid.weights.sum())
    return float(grid.times[min(int(half), grid.n_keys - 1)] - grid.times[0])


def _halving_unit(median: float, length: float) -> float:
    """Return the unit of the clock that is half way at the median; infinite where none is.

    From ``2 log(1 + median / unit) = log(1 + length / unit)``.
    """
    later = length - 2.0 * median
    return median * (median / later) if later > 0.0 else np.inf


def _roughness(n_functions: int) -> Array:
    """Sum of squared second differences, scaled so that a curve with one turn costs about 1."""
    differences = np.diff(np.eye(n_functions), n=2, axis=0)
    # Of a parabola that rises by 1 and falls again over the range.
    turn = 8.0 / (n_functions - 3) ** 2
    return np.asarray(differences.T @ differences / ((n_functions - 2) * turn**2))

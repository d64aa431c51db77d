"""One value for each step, tied to its neighbors."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from tempocal.curves.curve import RangeCurve, Shape, Track, check_strength
from tempocal.curves.grid import Grid
from tempocal.maps import StepBasis

# With more distinct times than this they are put into as many cells.
MOST_STEPS = 128


@dataclass(frozen=True)
class RandomWalk(RangeCurve):
    """A value for each step; penalties tie neighbors together, and all to doing nothing.

    Parameters
    ----------
    smoothness : "auto" or float, default="auto"
        How strongly neighbors are tied together: at strength s, the values of two steps differ by
        a standard deviation of ``sqrt(share / s)`` a priori, ``share`` being the share of the range
        of time that lies between them. "auto" takes it from the data.

    Notes
    -----
    Between two steps the curve is a line, and beyond the first and the last it is held. More than
    128 distinct times are put into as many cells first, narrow at the start.

    Examples
    --------
    >>> import tempocal as tc
    >>> matches = tc.datasets.simulate_match(500)
    >>> cal = tc.TemporalCalibrator(tc.TemperatureScaling(), tc.RandomWalk())
    >>> cal = cal.fit(matches.logits, matches.label, time=matches.time, groups=matches.sequence)
    >>> cal.parameters_at([0, 24])["inverse_temperature"].round(1)
    array([0.3, 1.1])
    """

    smoothness: Literal["auto"] | float = "auto"

    most_cells: ClassVar[int] = MOST_STEPS

    def _lay(self, grid: Grid) -> Track:
        """Tie each step, or cell, to the next."""
        wanted = check_strength(self.smoothness, "smoothness")
        basis, level = StepBasis(grid.times, "interpolate"), np.ones(grid.n_keys)
        if grid.n_keys == 1:
            return Track(grid, lambda rates: Shape(basis, level))
        gaps = np.diff(grid.times) / (grid.times[-1] - grid.times[0])
        steps = np.diff(np.eye(grid.n_keys), axis=0)
        shape = Shape(basis, level, (steps.T @ (steps / gaps[:, None]),))
        return Track(grid, lambda rates: shape, smoothness=(wanted,))

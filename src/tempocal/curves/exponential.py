"""Decay towards a limit (section 3.2 of the paper)."""

from dataclasses import dataclass

import numpy as np

from tempocal.curves.curve import RangeCurve, Rates, Shape, Track, constant_track
from tempocal.curves.grid import Grid
from tempocal.links import Array
from tempocal.maps import Basis, ExponentialBases, ExponentialBasis


@dataclass(frozen=True)
class ExponentialDecay(RangeCurve):
    """``gamma - alpha * exp(-beta * (time - origin))``: from a first value towards a limit.

    The rate beta is the best there is from 0.01 to 1,000 over the range of time. It is searched for
    over the whole of that range, with the best alpha and gamma at each rate, so that no other
    optimum can be mistaken for it. Slopes that must be positive are so at the first time and in
    the limit, and thus always. Before the first time of the fit the curve is held; after the last
    it goes on towards gamma.

    Examples
    --------
    >>> import tempocal as tc
    >>> matches = tc.datasets.simulate_match(2000)  # truly 1 - 0.7 * exp(-time / 6)
    >>> cal = tc.TemporalCalibrator(tc.TemperatureScaling(), tc.ExponentialDecay())
    >>> cal = cal.fit(matches.logits, matches.label, time=matches.time, groups=matches.sequence)
    >>> [round(number, 1) for number in (cal.alpha_, cal.beta_, cal.gamma_)]
    [0.7, 0.2, 1.0]
    """

    def _lay(self, grid: Grid) -> Track:
        """Measure the rate by the range of time."""
        first, last = float(grid.times[0]), float(grid.times[-1])
        if first == last:
            return constant_track(grid)
        both = np.array([first, last])

        def shape(rates: Rates) -> Shape:
            basis = _basis(rates[0] / (last - first), first)
            at_both = basis(both)
            # The penalty is on the curve at both ends of the range; its limit may lie far beyond.
            return Shape(basis, level=0.5 * at_both.swapaxes(-1, -2) @ at_both)

        return Track(grid, shape, n_rates=1)


def _basis(rate: float | Array, first: float) -> Basis:
    if isinstance(rate, np.ndarray):
        return ExponentialBases(rate, first)
    return ExponentialBasis(float(rate), first)

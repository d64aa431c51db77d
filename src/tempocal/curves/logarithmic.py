"""Change by the logarithm of time."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from tempocal.curves.functions import FunctionCurve, TimeRange
from tempocal.errors import InputError
from tempocal.formula.links import log
from tempocal.formula.nodes import Expression

# The unit of "auto": the median time since the first, divided by this; a thousandth of the range at
# least.
UNITS_TO_MEDIAN = 8.0
UNITS_TO_RANGE = 1000.0
# With a longer unit the curve is a straight line, and loses digits.
RANGES_TO_UNIT = 1e6


@dataclass(frozen=True)
class Logarithmic(FunctionCurve):
    """``a + b * log(1 + (time - first) / unit)``: quick at first, ever slower later.

    Two parameters, for an error that goes on to change at every scale of time, as with the length
    of a text. `ExponentialDecay` comes to an end instead. Beyond the times of the fit the curve is
    held.

    Parameters
    ----------
    unit : "auto" or float, default="auto"
        How long the quick start takes, in units of time; "auto" is an eighth of the median time
        since the first.

    Examples
    --------
    >>> import tempocal as tc
    >>> matches = tc.datasets.simulate_match(500)
    >>> cal = tc.TemporalCalibrator(tc.TemperatureScaling(), tc.Logarithmic())
    >>> cal = cal.fit(matches.logits, matches.label, time=matches.time, groups=matches.sequence)
    >>> cal.parameters_at([0, 24])["inverse_temperature"].round(1)
    array([0.3, 1. ])
    """

    unit: Literal["auto"] | float = "auto"

    def functions(self, time: Expression, times: TimeRange) -> Sequence[Expression]:
        """Return the share of the logarithm that is still to come, and that which has passed."""
        unit = self._unit(times)
        longest = math.log1p((times.last - times.first) / unit)
        passed = log((time - times.first) / unit + 1.0) / longest
        return 1.0 - passed, passed

    def _unit(self, times: TimeRange) -> float:
        length = times.last - times.first
        if self.unit == "auto":
            return max((times.median - times.first) / UNITS_TO_MEDIAN, length / UNITS_TO_RANGE)
        unit = float(self.unit) if type(self.unit) in (int, float) else math.nan
        if not 0.0 < unit <= RANGES_TO_UNIT * length:
            raise InputError(
                f'unit must be "auto" or a number above 0, not many times as long as the range of '
                f"time, which is {length:g}; but it is {self.unit!r}"
            )
        return unit

"""Time axes for numbers, datetimes and timedeltas, with units."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tempocal.errors import InputError
from tempocal.inputs import TimeKind
from tempocal.links import Array
from tempocal.plots.drawing import matplotlib

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_UNITS = {"days": 86_400.0, "hours": 3600.0, "minutes": 60.0, "seconds": 1.0}
# A unit is used from this many on: 90 minutes, not 1.5 hours nor 5400 seconds.
MIN_UNITS = 3.0
# Largest ratio of the last time to the first on a logarithmic axis to base 2.
LARGEST_RATIO = 2.0**12


@dataclass(frozen=True)
class TimeScale:
    """Conversion and labels of times of one kind."""

    kind: TimeKind
    unit: str  # of timedeltas, else empty
    span: float  # of datetimes, in seconds

    def numbers(self, time: NDArray[Any]) -> NDArray[Any]:
        """Return values that matplotlib can draw; timedeltas as numbers of their unit."""
        if self.kind != "timedelta":
            return time
        return np.asarray(_seconds(time) / _UNITS[self.unit])

    def label(self, name: str) -> str:
        """Return the label of the axis."""
        return f"{name} ({self.unit})" if self.unit else name

    def words(self, first: Any, last: Any, name: str) -> str:
        """Return a time range in words, such as "round 3 to 5"."""
        start, stop = self._word(first), self._word(last)
        time_range = start if start == stop else f"{start} to {stop}"
        return " ".join(part for part in (name, time_range, self.unit) if part)

    def _word(self, moment: Any) -> str:
        if self.kind == "datetime":
            precision = "M8[D]" if self.span > 3 * _UNITS["days"] else "M8[m]"
            return str(np.asarray(moment).astype(precision)).replace("T", " ")
        return f"{float(self.numbers(np.asarray(moment))):.4g}"

    def format(self, ax: "Axes", *times: NDArray[Any], log: bool) -> None:
        """Set readable ticks on the horizontal axis."""
        if log and self.kind == "datetime":
            raise InputError("log_time=True needs numbers or timedeltas, but time is datetimes")
        if log:
            _logarithmic(ax, np.concatenate([self.numbers(time) for time in times]))
        elif self.kind == "datetime":
            dates = matplotlib("dates")
            locator = dates.AutoDateLocator(minticks=3, maxticks=6)
            ax.xaxis.set_major_locator(locator)
            ax.xaxis.set_major_formatter(dates.ConciseDateFormatter(locator))
        elif self.kind == "number" and all((time == np.floor(time)).all() for time in times):
            ax.xaxis.set_major_locator(matplotlib("ticker").MaxNLocator("auto", integer=True))


def time_scale(*times: NDArray[Any]) -> TimeScale:
    """Find the kind of some times, and a suitable unit."""
    kinds = {time.dtype.kind for time in times}
    if len({kind if kind in "mM" else "number" for kind in kinds}) > 1:
        raise InputError("all times of a plot must be numbers, or all datetimes, or all timedeltas")
    if "M" in kinds:
        seconds = np.concatenate([_seconds(time) for time in times])
        return TimeScale("datetime", "", float(np.ptp(seconds)))
    if "m" not in kinds:
        return TimeScale("number", "", 0.0)
    largest = max(float(np.abs(_seconds(time)).max()) for time in times)
    fitting = [unit for unit, seconds in _UNITS.items() if largest >= MIN_UNITS * seconds]
    return TimeScale("timedelta", fitting[0] if fitting else "seconds", 0.0)


def _seconds(time: NDArray[Any]) -> Array:
    ticks = "M8[us]" if time.dtype.kind == "M" else "m8[us]"
    return np.asarray(time.astype(ticks).astype(np.int64) / 1e6, dtype=np.float64)


def _logarithmic(ax: "Axes", times: Array) -> None:
    """Make the axis logarithmic, to base 2 as in the paper, or 10; linear near zero."""
    low, positive = times.min(), times[times > 0]
    if low < 0 or not len(positive):
        raise InputError(f"log_time=True needs times above 0, but they begin at {low:g}")
    first = float(positive.min())
    base = 2 if times.max() / first <= LARGEST_RATIO else 10
    if low > 0:
        ax.set_xscale("log", base=base)
    else:
        ax.set_xscale("symlog", base=base, linthresh=first, linscale=0.5)
        ax.set_xlim(left=-0.15 * first)
    ticker = matplotlib("ticker")
    ax.xaxis.set_major_formatter(ticker.FuncFormatter(lambda number, _: f"{number:g}"))
    ax.xaxis.set_minor_locator(ticker.NullLocator())

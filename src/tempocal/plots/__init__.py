"""Pictures of calibration along time, in the manner of scikit-learn's display objects.

A display keeps the numbers it draws. ``from_predictions`` computes them with `tempocal.metrics`,
the constructor takes them ready made, and ``plot(ax=None)`` draws them into axes of yours or new
ones. Displays read tables of numbers, never estimators, and change no setting of matplotlib.
"""

from tempocal.plots.critical_difference import CriticalDifferenceDisplay
from tempocal.plots.curve_display import CurveDisplay
from tempocal.plots.error_display import ErrorOverTimeDisplay
from tempocal.plots.reliability_display import ReliabilityDisplay
from tempocal.plots.reliability_over_time import ReliabilityOverTimeDisplay

__all__ = [
    "CriticalDifferenceDisplay",
    "CurveDisplay",
    "ErrorOverTimeDisplay",
    "ReliabilityDisplay",
    "ReliabilityOverTimeDisplay",
]

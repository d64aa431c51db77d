"""Plots of calibration along time, as display objects in the style of scikit-learn.

A display stores the numbers it draws. ``from_predictions`` computes them with `tempocal.metrics`,
the constructor takes precomputed ones, and ``plot(ax=None)`` draws them into given or new axes.
Displays read tables of numbers, never estimators, and change no setting of matplotlib.
"""

from tempocal.plots.critical_difference import CriticalDifferenceDisplay
from tempocal.plots.curve_display import CurveDisplay
from tempocal.plots.error_display import ErrorOverTimeDisplay
from tempocal.plots.gain_display import GainOverTimeDisplay
from tempocal.plots.reliability_display import ReliabilityDisplay
from tempocal.plots.reliability_over_time import ReliabilityOverTimeDisplay

__all__ = [
    "CriticalDifferenceDisplay",
    "CurveDisplay",
    "ErrorOverTimeDisplay",
    "GainOverTimeDisplay",
    "ReliabilityDisplay",
    "ReliabilityOverTimeDisplay",
]

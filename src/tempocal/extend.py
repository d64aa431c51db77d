"""Curves and calibrators of your own.

A curve derives from `FunctionCurve` and gives its functions of time; one that needs another basis
or penalties derives from `Curve`. A calibrator derives from `FeatureCalibrator` and gives its
features of the log-odds. Either is written once, as formulas of an `Expression`: it is then fitted,
saved, loaded and exported like tempocal's own.
"""

from tempocal.calibrators.base import Calibrator
from tempocal.calibrators.features import Feature, FeatureCalibrator
from tempocal.calibrators.parametric import ParametricCalibrator
from tempocal.curves.curve import Curve, Shape, Track
from tempocal.curves.functions import FunctionCurve, TimeRange
from tempocal.formula.links import exp, log, log_sigmoid, sigmoid, sqrt
from tempocal.formula.nodes import Expression, absolute, clamp, largest, piecewise, smallest
from tempocal.maps import Basis

__all__ = [
    "Basis",
    "Calibrator",
    "Curve",
    "Expression",
    "Feature",
    "FeatureCalibrator",
    "FunctionCurve",
    "ParametricCalibrator",
    "Shape",
    "TimeRange",
    "Track",
    "absolute",
    "clamp",
    "exp",
    "largest",
    "log",
    "log_sigmoid",
    "piecewise",
    "sigmoid",
    "smallest",
    "sqrt",
]

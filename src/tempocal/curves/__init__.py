"""Curves: how the coefficients of a calibrator may change along time."""

from tempocal.curves.constant import Constant
from tempocal.curves.curve import Curve, Rates, Shape, Track
from tempocal.curves.exponential import ExponentialDecay
from tempocal.curves.per_step import PerStep
from tempocal.curves.random_walk import RandomWalk
from tempocal.curves.spline import Spline
from tempocal.curves.surface import Surface

__all__ = [
    "Constant",
    "Curve",
    "ExponentialDecay",
    "PerStep",
    "RandomWalk",
    "Rates",
    "Shape",
    "Spline",
    "Surface",
    "Track",
]

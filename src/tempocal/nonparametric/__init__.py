"""Fits of the nonparametric calibrators: arrays of one class in, a fitted map out.

Every fit first collapses the rows to the distinct values of their log-odds, so that ties stay
together, the order of the rows does not matter and a weight of 2 is the row twice.
"""

from tempocal.nonparametric.bayesian import fit_bayesian
from tempocal.nonparametric.histogram import Binning, fit_histogram
from tempocal.nonparametric.isotonic import fit_isotonic
from tempocal.nonparametric.near_isotonic import fit_near_isotonic
from tempocal.nonparametric.solution_path import NearIsotonicPath, near_isotonic_path

__all__ = [
    "Binning",
    "NearIsotonicPath",
    "fit_bayesian",
    "fit_histogram",
    "fit_isotonic",
    "fit_near_isotonic",
    "near_isotonic_path",
]

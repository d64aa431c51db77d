"""Nonparametric fits of one class against the rest: sorted rows in, a fitted map out.

Rows with the same log-odds are first collapsed into one, so that ties stay together, the order of
the rows does not matter and a weight of 2 is the row twice.
"""

from tempocal.nonparametric.bayesian import fit_bayesian
from tempocal.nonparametric.histogram import Binning, fit_histogram
from tempocal.nonparametric.isotonic import fit_isotonic
from tempocal.nonparametric.near_isotonic import fit_near_isotonic
from tempocal.nonparametric.ordered import OrderedRows, losses_before_and_after, sort_rows
from tempocal.nonparametric.solution_path import NearIsotonicPath, near_isotonic_path

__all__ = [
    "Binning",
    "NearIsotonicPath",
    "OrderedRows",
    "fit_bayesian",
    "fit_histogram",
    "fit_isotonic",
    "fit_near_isotonic",
    "losses_before_and_after",
    "near_isotonic_path",
    "sort_rows",
]

"""Histogram binning (Zadrozny and Elkan, 2001): the frequency of the class in each bin."""

from typing import Literal

import numpy as np

from tempocal.links import Array
from tempocal.maps import Steps
from tempocal.nonparametric.bins import edges_at, equal_mass_cuts, mass_ranks, midpoints
from tempocal.nonparametric.distinct import Distinct
from tempocal.nonparametric.ordered import OrderedRows

Binning = Literal["equal_mass", "equal_width"]


def fit_histogram(
    rows: OrderedRows,
    *,
    bins: int,
    binning: Binning = "equal_mass",
    shrinkage: float,
) -> Steps:
    """Fit histogram binning.

    Parameters
    ----------
    rows : OrderedRows
        Log-odds, targets and weights, from `sort_rows`.
    bins : int
        Number of bins. Equal mass gives fewer where a tie fills more than one.
    binning : {"equal_mass", "equal_width"}
        The same weight in each bin, or the same width of each bin in probability.
    shrinkage : float
        Number of pseudo-rows in each bin whose targets are the predicted probabilities; 0 is the
        classical method.

    Returns
    -------
    Steps
        In each bin (sum of w * y + shrinkage * p) / (sum of w + shrinkage), where p is the mean
        predicted probability. A bin without rows gets its midpoint, the identity, at any shrinkage.

    Examples
    --------
    >>> from tempocal.nonparametric import sort_rows
    >>> odds, targets = np.array([-3.0, -1.0, 1.0, 2.0]), np.array([False, True, True, True])
    >>> fit_histogram(sort_rows(odds, targets, None), bins=2, shrinkage=0.0)
    Steps(edges=array([0.]), probabilities=array([0.5, 1. ]))
    """
    edges = _equal_mass_edges(rows, bins) if binning == "equal_mass" else _equal_width_edges(bins)
    return Steps(edges, _bin_probabilities(rows, edges, shrinkage))


def _equal_mass_edges(rows: OrderedRows, bins: int) -> Array:
    data = rows.distinct()
    return edges_at(data.odds, equal_mass_cuts(mass_ranks(data.weights), bins))


def _equal_width_edges(bins: int) -> Array:
    inner = np.arange(1.0, bins)
    edges: Array = np.log(inner) - np.log(bins - inner)
    return edges


def _bin_probabilities(rows: OrderedRows, edges: Array, shrinkage: float) -> Array:
    def sums(data: Distinct) -> Array:
        # As in Steps, a value equal to an edge belongs to the bin on its left.
        bin_of = np.searchsorted(edges, data.odds, side="left")
        columns = (data.weights, data.positives, data.weights * data.proba)
        return np.stack([np.bincount(bin_of, column, len(edges) + 1) for column in columns])

    mass, positives, predicted = np.sum(rows.map(sums), axis=0)
    filled = mass > 0
    prior, _ = midpoints(edges)
    prior[filled] = predicted[filled] / mass[filled]
    # Any positive strength leaves an empty bin at its prior; zero would divide by zero.
    strength = np.where(filled, shrinkage, 1.0)
    probabilities: Array = (positives + strength * prior) / (mass + strength)
    return probabilities

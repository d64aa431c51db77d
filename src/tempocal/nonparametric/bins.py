"""Bins on the log-odds axis: edges and midpoints."""

import numpy as np

from tempocal.links import Array, sigmoid
from tempocal.nonparametric.distinct import Positions


def mass_ranks(weights: Array) -> Array:
    """Rank of the middle of each value's weight in the total weight, from 0 to 1.

    Examples
    --------
    >>> mass_ranks(np.array([1.0, 2.0, 1.0]))
    array([0.125, 0.5 , 0.875])
    """
    ranks = np.cumsum(weights)
    total = ranks[-1]
    ranks -= weights / 2
    ranks /= total
    return ranks


def equal_mass_cuts(ranks: Array, bins: int) -> Positions:
    """Index of the last distinct value of each bin but the last.

    A value belongs to the bin that the middle of its weight falls in, to the left one if on an
    edge. Empty bins are left out, so there may be fewer than requested.

    Examples
    --------
    >>> equal_mass_cuts(mass_ranks(np.ones(6)), bins=3)
    array([1, 3])
    >>> equal_mass_cuts(mass_ranks(np.array([1.0, 8.0, 1.0])), bins=5)
    array([0, 1])
    """
    edges = np.arange(1, bins) / bins
    # Rounding may put a rank that is on an edge on either side of it.
    cuts = np.searchsorted(ranks, edges + 1e-12, side="right") - 1
    cuts = cuts[np.diff(cuts, prepend=-1) > 0]
    return cuts[cuts < len(ranks) - 1]


def edges_at(odds: Array, cuts: Positions) -> Array:
    """Edges halfway between the last value of a bin and the next value.

    Examples
    --------
    >>> edges_at(np.array([-2.0, 0.0, 3.0]), np.array([1]))
    array([1.5])
    """
    left, right = odds[cuts], odds[cuts + 1]
    middle = left / 2 + right / 2
    # Between adjacent floats the middle may round to the right one, which is in the next bin.
    return np.where(middle < right, middle, left)


def midpoints(edges: Array) -> tuple[Array, Array]:
    """Midpoints of the bins in probability of the class, and of its complement.

    The first bin begins at probability 0 and the last ends at 1. The complement is computed
    separately, since one minus the midpoint would lose all digits near 1.

    Examples
    --------
    >>> midpoints(np.array([0.0]))
    (array([0.25, 0.75]), array([0.75, 0.25]))
    """
    return midpoints_between(np.append(-np.inf, edges), np.append(edges, np.inf))


def midpoints_between(lower: Array, upper: Array) -> tuple[Array, Array]:
    """Midpoints of bins, given the two edges of each."""
    proba, complement = sigmoid(lower) + sigmoid(upper), sigmoid(-lower) + sigmoid(-upper)
    return proba / 2, complement / 2

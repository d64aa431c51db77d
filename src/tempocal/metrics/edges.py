"""Edges of confidence bins, which cover [0, 1].

A bin holds ``lower < confidence <= upper``; the first one holds 0 as well.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from tempocal.inputs import Codes, check_bins, check_choice
from tempocal.links import Array
from tempocal.metrics.events import Events

Binning = Literal["equal_width", "equal_mass"]
BINNINGS = ("equal_width", "equal_mass")

# Relative rounding error of cumulative weights.
ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class Edges:
    """Edges 0 = e_0 <= e_1 < ... < e_B = 1 of B bins."""

    values: Array
    evenly_spaced: bool

    @property
    def n_bins(self) -> int:
        """Number of bins."""
        return len(self.values) - 1

    def locate(self, confidence: Array) -> Codes:
        """Bin of each confidence."""
        if not self.evenly_spaced:
            return np.searchsorted(self.values[1:-1], confidence, side="left")
        found = np.ceil(confidence * self.n_bins).astype(np.intp)
        np.maximum(found, 1, out=found)
        found -= 1
        # The product is rounded: a correction by one bin makes the edges exact, and is 3 times as
        # fast as a binary search. Zeros belong to the first bin, although they equal its edge.
        found -= (confidence <= self.values[found]) & (found > 0)
        found += confidence > self.values[found + 1]
        return found


def equal_width(bins: int) -> Edges:
    """Bins of equal width."""
    return Edges(np.arange(bins + 1) / bins, evenly_spaced=True)


def equal_mass(confidence: Array, weight: Array | None, bins: int) -> Edges:
    """Bins of about equal weight: inner edges are the quantiles b / bins of the confidences.

    A quantile is the smallest confidence at which the cumulative weight reaches its share. Equal
    confidences share a bin, so there may be fewer bins than requested.
    """
    inner = np.unique(_quantiles(confidence, weight, bins))
    inner = inner[inner < confidence.max()]
    return Edges(np.concatenate([[0.0], inner, [1.0]]), evenly_spaced=False)


def make_edges(events: Events, bins: int, binning: Binning) -> Edges:
    """Check the settings of a user and return the edges."""
    check_choice(binning, "binning", BINNINGS)
    bins = check_bins(bins)
    if binning == "equal_width":
        return equal_width(bins)
    return equal_mass(events.confidence, events.weight, bins)


def describe(bins: int, binning: Binning) -> str:
    """Return the binning in words, such as "15 equal-width bins"."""
    return f"{bins} {binning.replace('_', '-')} bin{'s' if bins != 1 else ''}"


def _quantiles(confidence: Array, weight: Array | None, bins: int) -> Array:
    shares = np.arange(1, bins)
    if weight is None:
        ranks = -(-shares * len(confidence) // bins) - 1
        return np.sort(confidence)[ranks]
    order = np.argsort(confidence)
    cumulative = np.cumsum(weight[order])
    targets = shares * (cumulative[-1] / bins * (1.0 - ROUNDING))
    quantiles: Array = confidence[order[np.searchsorted(cumulative, targets, side="left")]]
    return quantiles

"""Counts of (time, label, bin of the log-odds): a few points that stand for all rows of a table.

The rows of a cell are replaced by two points that have its weight, mean, variance and skewness, so
that sums over points differ from those over rows by the fourth power of a cell's width. Bins are of
equal width within eight times the mean size of the log-odds; the outer ones hold what lies beyond.
"""

from dataclasses import dataclass

import narwhals as nw
import numpy as np

from tempocal.inputs import Codes
from tempocal.links import Array
from tempocal.tables.labeled_table import LabeledTable
from tempocal.tables.open_table import Frame
from tempocal.tables.transfer import Columns

# Cells in all, and bins of a key.
MAX_CELLS = 2**19
MIN_BINS, MAX_BINS = 16, 1024
# Bins of what is told apart by its log-odds alone.
FINE_BINS, MAX_FINE_CELLS = 2**16, 2**21
# Bins end at this many times the mean size; of fine ones not before these log-odds.
REACH, FINE_REACH = 8.0, 50.0
# Standard deviations below this share of a bin are rounding errors.
NARROW = 1e-7


@dataclass(frozen=True)
class Bins:
    """Bins of equal width from minus ``reach`` to ``reach``."""

    reach: float
    count: int

    @property
    def scale(self) -> float:
        """Bins in a unit of the log-odds."""
        return self.count / (2.0 * self.reach)

    def add(self, frame: Frame) -> Frame:
        """Add the ``bin`` of the column ``odds``, and the ``place`` in it from -1/2 to 1/2."""
        position = (nw.col("odds") + self.reach) * self.scale
        frame = frame.with_columns(position=position)
        # The floor is an integer in some engines, which rows far out would be too large for.
        inside = nw.col("position").clip(0.0, self.count - 1.0).floor()
        frame = frame.with_columns(left=inside)
        return frame.with_columns(
            bin=nw.col("left").cast(nw.Int64), place=nw.col("position") - nw.col("left") - 0.5
        )

    def odds(self, bins: Codes, places: Array) -> Array:
        """Return log-odds."""
        return (bins + 0.5 + places) / self.scale - self.reach


@dataclass(frozen=True)
class CellCounts:
    """Sums over the rows of each non-empty cell."""

    found: Columns
    bins: Bins

    @property
    def weights(self) -> Array:
        """Weight of each cell."""
        return self.found["m0"].astype(np.float64)

    @property
    def labels(self) -> Codes:
        """Label of each cell."""
        return self.found["label"].astype(np.intp)

    def means(self) -> Array:
        """Mean log-odds of each cell."""
        if "odds" in self.found:
            return self.found["odds"]
        return self.bins.odds(self.found["bin"], self.found["m1"] / self.weights)

    def pairs(self) -> tuple[Array, Array]:
        """Log-odds and weights of two points for each cell, of shape (cells, 2)."""
        w = self.weights
        mean, square, cube = (self.found[name] / w for name in ("m1", "m2", "m3"))
        variance = np.maximum(square - mean**2, 0.0)
        deviation = np.sqrt(variance)
        safe = np.maximum(deviation, NARROW)
        third = cube - 3.0 * mean * square + 2.0 * mean**3
        half = np.where(deviation > NARROW, 0.5 * third / safe**3, 0.0)
        root = np.sqrt(1.0 + half**2)
        off = np.stack([half - root, half + root], axis=1) * deviation[:, None]
        share = 0.5 * np.stack([1.0 + half / root, 1.0 - half / root], axis=1)
        odds = self.bins.odds(self.found["bin"][:, None], mean[:, None] + off)
        return odds, share * w[:, None]


def bins_for(labeled: LabeledTable, n_keys: int) -> Bins:
    """Choose bins for models of the log-odds, as many as the number of keys allows."""
    count = int(np.clip(MAX_CELLS // (2 * max(n_keys, 1)), MIN_BINS, MAX_BINS))
    return Bins(_reach(labeled, REACH * labeled.mean_abs_log_odds), count)


def fine_bins_for(labeled: LabeledTable, n_keys: int) -> Bins:
    """Choose bins for what is told apart by its log-odds alone."""
    count = int(np.clip(MAX_FINE_CELLS // max(n_keys, 1), MAX_BINS, FINE_BINS))
    return Bins(_reach(labeled, max(FINE_REACH, REACH * labeled.mean_abs_log_odds)), count)


def count_values(
    labeled: LabeledTable, frame: Frame, on: tuple[str, ...], bins: Bins
) -> CellCounts:
    """Count the column ``odds`` value by value, for each label and key."""
    weighed = frame.with_columns(m0=labeled.weight)
    counted = weighed.group_by(*on, "label", "odds").agg(nw.col("m0").sum())
    return CellCounts(labeled.passes.collect(counted, "counting values"), bins)


def count_cells(
    labeled: LabeledTable, frame: Frame, on: tuple[str, ...], bins: Bins, moments: int
) -> CellCounts:
    """Count the column ``odds`` in bins, for each label and key."""
    binned = bins.add(frame).with_columns(m0=labeled.weight)
    for k in range(1, moments):
        binned = binned.with_columns(**{f"m{k}": nw.col(f"m{k - 1}") * nw.col("place")})
    sums = [nw.col(f"m{k}").sum() for k in range(moments)]
    if labeled.has_weights:
        binned = binned.with_columns(one=nw.lit(1.0))
        sums.append(nw.col("one").sum())
    if "since" in binned.columns:
        binned = binned.with_columns(late=nw.col("since") * nw.col("m0"))
        sums.append(nw.col("late").sum())
    counted = binned.group_by(*on, "label", "bin").agg(*sums)
    return CellCounts(labeled.passes.collect(counted, "counting in bins"), bins)


def _reach(labeled: LabeledTable, wanted: float) -> float:
    low, high = labeled.min_logits, labeled.max_logits
    if labeled.n_columns == 1:
        largest = labeled.largest_logit
    else:
        largest = float(high.max() - low.min() + np.log(labeled.n_columns))
    reach = min(wanted, largest)
    return reach if reach > 0.0 else 1.0

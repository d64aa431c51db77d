"""Moments of the log-odds in cells of (key, label, log-odds bin), and two points for each cell.

The rows of a cell are replaced by two weighted points with the same weight, mean, variance and
skewness. A sum of a smooth function over the points then differs from the sum over the rows by the
fourth power of the width of the cell. With mean m, standard deviation s and skewness g the points
and their shares of the weight are

    m + s (h - r),  (1 + h / r) / 2    and    m + s (h + r),  (1 - h / r) / 2

where h = g / 2 and r = sqrt(1 + h**2). Bins have equal width up to eight times the mean absolute
log-odds; the outermost bins hold everything beyond.
"""

from dataclasses import dataclass

import narwhals as nw
import numpy as np

from tempocal.inputs import Codes
from tempocal.links import Array
from tempocal.tables.labeled_table import LabeledTable
from tempocal.tables.open_table import Frame
from tempocal.tables.transfer import Columns

# Largest number of cells, and range of the number of bins per key.
MAX_CELLS = 2**19
MIN_BINS, MAX_BINS = 16, 1024
# Fine bins, for calibrators without coefficients: isotonic regression and binning.
FINE_BINS, MAX_FINE_CELLS = 2**16, 2**21
# Bins reach this many times the mean absolute log-odds; fine bins at least these log-odds.
RANGE_FACTOR, MIN_FINE_RANGE = 8.0, 50.0
# Standard deviations below this fraction of a bin width are rounding errors.
MIN_DEVIATION = 1e-7


@dataclass(frozen=True)
class Bins:
    """Bins of equal width between minus and plus ``half_range``."""

    half_range: float
    count: int

    @property
    def scale(self) -> float:
        """Number of bins per unit of log-odds."""
        return self.count / (2.0 * self.half_range)

    def add_bin(self, frame: Frame) -> Frame:
        """Add ``bin`` and ``bin_offset``: the position from -1/2 to 1/2 within the bin."""
        position = (nw.col("log_odds") + self.half_range) * self.scale
        frame = frame.with_columns(position=position)
        # Some engines return the floor as an integer, which would overflow: clip first.
        inside = nw.col("position").clip(0.0, self.count - 1.0).floor()
        frame = frame.with_columns(bin_index=inside)
        return frame.with_columns(
            bin=nw.col("bin_index").cast(nw.Int64),
            bin_offset=nw.col("position") - nw.col("bin_index") - 0.5,
        )

    def log_odds(self, bins: Codes, offsets: Array) -> Array:
        """Return the log-odds at offsets within bins."""
        return (bins + 0.5 + offsets) / self.scale - self.half_range


@dataclass(frozen=True)
class CellCounts:
    """Sums over the rows of each non-empty cell."""

    sums: Columns
    bins: Bins

    @property
    def weights(self) -> Array:
        """Total weight of each cell."""
        return self.sums["m0"].astype(np.float64)

    @property
    def labels(self) -> Codes:
        """Label of each cell."""
        return self.sums["label"].astype(np.intp)

    def mean_log_odds(self) -> Array:
        """Mean log-odds of each cell."""
        if "log_odds" in self.sums:
            return self.sums["log_odds"]
        return self.bins.log_odds(self.sums["bin"], self.sums["m1"] / self.weights)

    def two_points(self) -> tuple[Array, Array]:
        """Log-odds and weights of the two points of each cell, of shape (cells, 2)."""
        w = self.weights
        mean, square, cube = (self.sums[name] / w for name in ("m1", "m2", "m3"))
        variance = np.maximum(square - mean**2, 0.0)
        deviation = np.sqrt(variance)
        safe = np.maximum(deviation, MIN_DEVIATION)
        third = cube - 3.0 * mean * square + 2.0 * mean**3
        half = np.where(deviation > MIN_DEVIATION, 0.5 * third / safe**3, 0.0)
        root = np.sqrt(1.0 + half**2)
        offsets = np.stack([half - root, half + root], axis=1) * deviation[:, None]
        share = 0.5 * np.stack([1.0 + half / root, 1.0 - half / root], axis=1)
        log_odds = self.bins.log_odds(self.sums["bin"][:, None], mean[:, None] + offsets)
        return log_odds, share * w[:, None]


def bins_for(labeled: LabeledTable, n_keys: int) -> Bins:
    """Choose bins for models with coefficients, as many as the number of keys allows."""
    count = int(np.clip(MAX_CELLS // (2 * max(n_keys, 1)), MIN_BINS, MAX_BINS))
    return Bins(_half_range(labeled, RANGE_FACTOR * labeled.mean_abs_log_odds), count)


def fine_bins_for(labeled: LabeledTable, n_keys: int) -> Bins:
    """Choose fine bins, for calibrators without coefficients."""
    count = int(np.clip(MAX_FINE_CELLS // max(n_keys, 1), MAX_BINS, FINE_BINS))
    return Bins(
        _half_range(labeled, max(MIN_FINE_RANGE, RANGE_FACTOR * labeled.mean_abs_log_odds)), count
    )


def count_values(
    labeled: LabeledTable, frame: Frame, on: tuple[str, ...], bins: Bins
) -> CellCounts:
    """Count the distinct values of ``log_odds`` for each label and key."""
    weighted = frame.with_columns(m0=labeled.weight)
    counted = weighted.group_by(*on, "label", "log_odds").agg(nw.col("m0").sum())
    return CellCounts(labeled.passes.collect(counted, "counting values"), bins)


def count_cells(
    labeled: LabeledTable, frame: Frame, on: tuple[str, ...], bins: Bins, moments: int
) -> CellCounts:
    """Sum the moments of ``log_odds`` in bins, for each label and key."""
    binned = bins.add_bin(frame).with_columns(m0=labeled.weight)
    for k in range(1, moments):
        binned = binned.with_columns(**{f"m{k}": nw.col(f"m{k - 1}") * nw.col("bin_offset")})
    sums = [nw.col(f"m{k}").sum() for k in range(moments)]
    if labeled.has_weights:
        binned = binned.with_columns(n_rows=labeled.row_count)
        sums.append(nw.col("n_rows").sum())
    if "elapsed" in binned.collect_schema().names():
        binned = binned.with_columns(elapsed_sum=nw.col("elapsed") * nw.col("m0"))
        sums.append(nw.col("elapsed_sum").sum())
    counted = binned.group_by(*on, "label", "bin").agg(*sums)
    return CellCounts(labeled.passes.collect(counted, "counting in bins"), bins)


def _half_range(labeled: LabeledTable, desired: float) -> float:
    if labeled.n_columns == 1:
        largest = labeled.largest_logit
    else:
        logit_range = labeled.max_logits.max() - labeled.min_logits.min()
        largest = float(logit_range + np.log(labeled.n_columns))
    half_range = min(desired, largest)
    return half_range if half_range > 0.0 else 1.0

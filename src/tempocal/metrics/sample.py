"""Rows in order of time with the clusters they come in: what intervals over time start from."""

from dataclasses import dataclass, replace

import numpy as np

from tempocal.inputs import Codes, Groups
from tempocal.links import Array
from tempocal.metrics.predictions import CheckedPredictions
from tempocal.metrics.time_bins import TimeBins

# Groups are summed in at most this many buckets. Groups are independent, so that the variance of
# the bucket sums is that of the groups; it is known to 1 / sqrt(2 * 1000), 2 %.
BUCKETS = 1000


@dataclass(frozen=True, eq=False)
class Sample:
    """Rows sorted by time bin, and their independent units."""

    rows: CheckedPredictions
    time_bins: TimeBins
    groups: Codes  # (n,) the index of the row if no groups were given
    units: Array  # (S,) number of independent units in each time bin
    grouped: bool

    @property
    def parts(self) -> list[slice]:
        """Slice of rows of each time bin."""
        counts = np.bincount(self.time_bins.codes, minlength=self.time_bins.count)
        stops = np.cumsum(counts).tolist()
        return [slice(a, b) for a, b in zip([0, *stops[:-1]], stops, strict=True)]

    @property
    def weight(self) -> Array:
        """Weight of each row."""
        given = self.rows.weight
        return np.ones(len(self.rows.codes)) if given is None else given

    @property
    def totals(self) -> Array:
        """Weight of each time bin."""
        codes, count = self.time_bins.codes, self.time_bins.count
        return np.asarray(np.bincount(codes, self.weight, minlength=count), dtype=np.float64)

    def buckets(self, max_buckets: int = BUCKETS) -> tuple[Codes, int]:
        """Bucket of each row, by its group, and the number of buckets."""
        n_groups = int(self.groups.max()) + 1
        bucket_of_group, count = assign_buckets(n_groups, max_buckets)
        return self.groups if count == n_groups else bucket_of_group[self.groups], count

    @property
    def deviation_weight(self) -> Array:
        """Weight of a row in a sum whose square estimates a variance.

        Rows of a group are summed before squaring. Without groups, a row of weight w stands for w
        independent rows, whose variance is w times that of one.
        """
        return self.weight if self.grouped else np.sqrt(self.weight)


def assign_buckets(n_groups: int, max_buckets: int) -> tuple[Codes, int]:
    """Bucket of each group, and the number of buckets; one for each group if they suffice."""
    count = min(max_buckets, n_groups)
    if count == n_groups:
        return np.arange(n_groups), count
    # At random, since ids may follow a periodic pattern.
    return np.random.default_rng(0).permutation(n_groups) % count, count


def make_sample(rows: CheckedPredictions, time_bins: TimeBins, groups: Groups | None) -> Sample:
    """Sort rows by time bin and count the independent units in each."""
    codes = np.arange(len(rows.codes)) if groups is None else groups.codes
    if (np.diff(time_bins.codes) < 0).any():
        small = time_bins.codes.astype(np.min_scalar_type(time_bins.count))
        order = np.argsort(small, kind="stable")
        rows, codes = rows.take(order), codes[order]
        time_bins = replace(time_bins, codes=time_bins.codes[order])
    sample = Sample(rows, time_bins, codes, np.zeros(0), groups is not None)
    if groups is None:
        return replace(sample, units=sample.totals)
    present = [np.count_nonzero(np.bincount(codes[part])) for part in sample.parts]
    return replace(sample, units=np.array(present, dtype=np.float64))


def total_units(sample: Sample) -> float:
    """Count the independent units over all time bins."""
    if sample.grouped:
        return float(np.count_nonzero(np.bincount(sample.groups)))
    return float(sample.totals.sum())

"""Draws for each group of a table: the bucket it is summed in, and uniform random numbers."""

from dataclasses import dataclass

import narwhals as nw
import numpy as np

from tempocal.links import Array
from tempocal.metrics.gap_sums import floor_rng
from tempocal.metrics.in_tables.scored_frame import ScoredFrame
from tempocal.metrics.in_tables.time_bins import TableTimeBins
from tempocal.metrics.sample import assign_buckets
from tempocal.tables.group_ids import PRIME, GroupIds
from tempocal.tables.open_table import Frame

# One 31-bit number is drawn per group; multiplied by integers in this range it gives further ones.
# A double holds all digits of the product.
FACTORS = (2**10, 2**21)


@dataclass(frozen=True)
class GroupDraws:
    """Rows with the draws of their group.

    Attributes
    ----------
    frame : Frame
        With columns ``bucket`` and ``u0``, ``u1``, ...
    buckets : int
        Number of buckets.
    """

    frame: Frame
    buckets: int


def draw_by_group(
    frame: Frame, groups: GroupIds, max_buckets: int, draws: range, seed: int
) -> GroupDraws:
    """Give each group a bucket and some uniform numbers in [0, 1).

    Few groups get the same draws as in arrays. Many groups are hashed by a cubic polynomial with
    random coefficients modulo a prime. Such hashes are 4-wise independent, so that means and
    variances of sums over groups are right.
    """
    rng = floor_rng(seed)
    if groups.are_few:
        bucket_of, count = assign_buckets(groups.count, max_buckets)
        numbers = rng.random((draws.stop, groups.count))
        columns = {f"u{d}": numbers[d] for d in draws}
        return GroupDraws(groups.join_columns(frame, {"bucket": bucket_of, **columns}), count)
    count = min(max_buckets, groups.count)
    hashed = _mix_hash(groups.add_hash(frame)).with_columns(
        bucket=nw.col("hash") % count, u=nw.col("hash").cast(nw.Float64) * 2.0**-31
    )
    factors = rng.integers(*FACTORS, size=draws.stop).tolist()
    hashed = hashed.with_columns("u", **{f"u{d}": nw.col("u") * float(factors[d]) for d in draws})
    return GroupDraws(
        hashed.with_columns("u", **{f"u{d}": _fraction(f"u{d}") for d in draws}), count
    )


def groups_per_time_bin(table: ScoredFrame, groups: GroupIds, time_bins: TableTimeBins) -> Array:
    """Count the groups with rows in each time bin."""
    if time_bins.count == 1:
        return np.array([float(groups.count)])
    frame = time_bins.add_time_bin(table.frame).group_by("time_bin").agg(nw.col("group").n_unique())
    found = table.passes.collect(frame, "counting groups along time")
    counts = np.zeros(time_bins.count)
    counts[found["time_bin"].astype(np.intp)] = found["group"]
    return counts


def _mix_hash(frame: Frame) -> Frame:
    """Hash the numbers of groups, which may be consecutive, to pseudo-random ones."""
    first, *others = _coefficients(np.random.default_rng(0), 4)
    frame = frame.with_columns(mixed=nw.lit(first))
    for other in others:
        frame = frame.with_columns(mixed=(nw.col("mixed") * nw.col("hash") + other) % PRIME)
    return frame.with_columns(hash=nw.col("mixed"))


def _fraction(name: str) -> nw.Expr:
    """Return the fractional part: a uniform number times an integer, modulo 1, is uniform."""
    return nw.col(name) - nw.col(name).floor()


def _coefficients(rng: np.random.Generator, count: int) -> list[int]:
    return [int(one) for one in rng.integers(1, PRIME, count)]

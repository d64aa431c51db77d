"""What is drawn for each group of a table: the bucket it is summed in, and numbers from 0 to 1."""

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

# A number of 31 bits is drawn for each group, and multiplied by factors between these for others:
# a double holds all digits of the product.
FACTORS = (2**10, 2**21)


@dataclass(frozen=True)
class GroupDraws:
    """What goes with each row by its group.

    Attributes
    ----------
    frame : Frame
        With columns ``bucket`` and ``u0``, ``u1``, ...
    buckets : int
        How many there are.
    """

    frame: Frame
    buckets: int


def draw_by_group(frame: Frame, groups: GroupIds, most: int, draws: range, seed: int) -> GroupDraws:
    """Give each group a bucket out of ``most``, and some of its numbers, from 0 to 1.

    Few groups get those that they have in arrays. Many get pseudo-random ones by modular
    arithmetic: a polynomial of third degree with random coefficients, which makes any four of them
    independent, so that means and variances of sums over groups are right.
    """
    random = floor_rng(seed)
    if groups.are_few:
        places, count = assign_buckets(groups.count, most)
        numbers = random.random((draws.stop, groups.count))
        columns = {f"u{d}": numbers[d] for d in draws}
        return GroupDraws(groups.join_columns(frame, {"bucket": places, **columns}), count)
    count = min(most, groups.count)
    mixed = _mixed(groups.add_hash(frame)).with_columns(
        bucket=nw.col("number") % count, u=nw.col("number").cast(nw.Float64) * 2.0**-31
    )
    factors = random.integers(*FACTORS, size=draws.stop).tolist()
    mixed = mixed.with_columns("u", **{f"u{d}": nw.col("u") * float(factors[d]) for d in draws})
    return GroupDraws(mixed.with_columns("u", **{f"u{d}": _part(f"u{d}") for d in draws}), count)


def groups_of_stretches(table: ScoredFrame, groups: GroupIds, stretches: TableTimeBins) -> Array:
    """Count the groups that have rows in each stretch."""
    if stretches.count == 1:
        return np.array([float(groups.count)])
    frame = stretches.locate(table.frame).group_by("stretch").agg(nw.col("group").n_unique())
    found = table.passes.collect(frame, "counting groups along time")
    counts = np.zeros(stretches.count)
    counts[found["stretch"].astype(np.intp)] = found["group"]
    return counts


def _mixed(frame: Frame) -> Frame:
    """Turn the numbers of groups, which may follow each other, into pseudo-random ones."""
    first, *others = _coefficients(np.random.default_rng(0), 4)
    frame = frame.with_columns(mixed=nw.lit(first))
    for other in others:
        frame = frame.with_columns(mixed=(nw.col("mixed") * nw.col("number") + other) % PRIME)
    return frame.with_columns(number=nw.col("mixed"))


def _part(name: str) -> nw.Expr:
    """Return what is behind the point: of a uniform number times a whole one, a uniform number."""
    return nw.col(name) - nw.col(name).floor()


def _coefficients(random: np.random.Generator, count: int) -> list[int]:
    return [int(one) for one in random.integers(1, PRIME, count)]

"""Gaps between confidence and outcome, summed by group in a table: their noise and their floor."""

from dataclasses import dataclass, replace

import narwhals as nw
import numpy as np

from tempocal.errors import InputError
from tempocal.inputs import Codes
from tempocal.links import Array
from tempocal.metrics.cells import GapMetric
from tempocal.metrics.gap_sums import (
    DRAWS,
    MIN_DRAWS,
    GapSums,
    noise_rng,
    number_of_draws,
)
from tempocal.metrics.in_tables.bins import add_bin
from tempocal.metrics.in_tables.events import add_event, number_of_events
from tempocal.metrics.in_tables.group_draws import draw_by_group, groups_of_stretches
from tempocal.metrics.in_tables.scored_frame import MAX_SUMS, ScoredFrame, added
from tempocal.metrics.in_tables.time_bins import TableTimeBins
from tempocal.metrics.sample import BUCKETS
from tempocal.tables.open_table import Frame

# Fewer buckets than this do not tell the spread of their sums.
MIN_BUCKETS = 20
# Labels are drawn so many times in one pass: pandas dislikes tables of a hundred columns.
DRAWS_AT_ONCE = 50


@dataclass(frozen=True, eq=False)
class EventSums:
    """Sums of one event."""

    moved: Array  # (buckets, S, bins) confidence minus outcome, times the weight
    shares: Array  # (buckets, S) weight
    drawn: Array  # (draws, S, bins) as `moved`, of labels that were drawn


def gap_sums_by_group(
    table: ScoredFrame, metric: GapMetric, stretches: TableTimeBins, seed: int
) -> GapSums:
    """Sum the gaps of each event by bucket of groups, stretch and bin; a pass for each event."""
    assert table.groups is not None
    n_events = number_of_events(metric, table.n_classes)
    adding = _Adding(table, metric, stretches, n_events, seed)
    sums = [adding.sums(event) for event in range(n_events)]
    shares = sums[0].shares
    totals = shares.sum(axis=0)
    moved = np.concatenate([one.moved for one in sums], axis=2) / n_events
    drawn = np.concatenate([one.drawn for one in sums], axis=2) / n_events
    gaps = moved.sum(axis=0) / totals[:, None]
    deviates = noise_rng(seed).standard_normal((DRAWS, len(moved)))
    noise = np.stack(
        [
            deviates @ (moved[:, s] - shares[:, s, None] * gaps[s]) / totals[s]
            for s in range(stretches.count)
        ]
    )
    errors = np.abs(drawn).sum(axis=2) / totals
    if table.groups.are_few and len(shares) == table.groups.count:  # each bucket is a group
        units = np.count_nonzero(shares, axis=0).astype(np.float64)
    else:
        units = groups_of_stretches(table, table.groups, stretches)
    return GapSums(gaps, noise, errors, units, float(table.groups.count))


@dataclass(frozen=True)
class _Adding:
    """What is added up, for each event in the same way."""

    table: ScoredFrame
    metric: GapMetric
    stretches: TableTimeBins
    n_events: int
    seed: int

    def sums(self, event: int) -> EventSums:
        """Sum one event, in as many passes as its draws take."""
        frame = add_event(self.table.frame, self.metric, event, self.table.n_classes)
        frame = self.stretches.locate(frame)
        frame = add_bin(self.table, frame, self.metric, self.stretches, event)
        draws = self._number_of_draws()
        parts = [range(k, min(k + DRAWS_AT_ONCE, draws)) for k in range(0, draws, DRAWS_AT_ONCE)]
        found = [self._pass(frame, event, part) for part in parts]
        return replace(found[0], drawn=np.concatenate([one.drawn for one in found]))

    def _pass(self, frame: Frame, event: int, draws: range) -> EventSums:
        """Go over the rows once, with some of the draws."""
        assert self.table.groups is not None
        inner = (self.stretches.count, self.metric.bins)
        units = draw_by_group(frame, self.table.groups, _buckets(*inner), draws, self.seed)
        keys = ["bucket", "stretch", f"bin{event}"]
        summed = _columns(units.frame, keys, event, self.table.n_classes, draws)
        names = [name for name in summed.collect_schema() if name not in keys]
        counted = summed.group_by(*keys).agg(*(nw.col(name).sum() for name in names))
        found = self.table.passes.collect(counted, "adding up")
        bucket, stretch, cell = (found[key].astype(np.intp) for key in keys)
        return EventSums(
            _spread((bucket, stretch, cell), found["said"] - found["hit"], (units.buckets, *inner)),
            _spread((bucket, stretch), found["weight"], (units.buckets, inner[0])),
            np.stack(
                [_spread((stretch, cell), found["said"] - found[f"drawn{d}"], inner) for d in draws]
            ),
        )

    def _number_of_draws(self) -> int:
        assert self.table.groups is not None
        if not self.table.groups.are_few:
            return MIN_DRAWS
        return number_of_draws(self.table.rows.n_rows * self.n_events)


def _spread(codes: tuple[Codes, ...], values: Array, shape: tuple[int, ...]) -> Array:
    """Add values up at their places in an array."""
    where = np.ravel_multi_index(codes, shape)
    sums = np.bincount(where, values, minlength=int(np.prod(shape))).reshape(shape)
    return np.asarray(sums, dtype=np.float64)


def _columns(frame: Frame, keys: list[str], event: int, n_classes: int, draws: range) -> Frame:
    """Return what is summed: weights, confidences, outcomes, and outcomes that were drawn."""
    weight, sure, below = nw.col("weight"), nw.col(f"sure{event}"), nw.col(f"below{event}")
    total = added(nw.col(f"p{k}") for k in range(n_classes))
    ends = {"low": below / total, "high": (below + sure) / total}
    frame = frame.with_columns(**ends)
    columns = {"said": weight * sure, "hit": weight * nw.col(f"came{event}")}
    for d in draws:
        u = nw.col(f"u{d}")
        inside = (u >= nw.col("low")) & (u < nw.col("high"))
        columns[f"drawn{d}"] = nw.when(inside).then(weight).otherwise(nw.lit(0.0))
    return frame.select(*keys, "weight", **columns)


def _buckets(n_stretches: int, bins: int) -> int:
    """How many buckets groups are summed in, so that no more than can be held comes here."""
    most = MAX_SUMS // (bins * n_stretches)
    if most < MIN_BUCKETS:
        raise InputError(
            f"metric has {bins} bins in each of {n_stretches} stretches of time, which is too many "
            f"to sum a table by: at most {MAX_SUMS // MIN_BUCKETS:,} together"
        )
    return min(BUCKETS, most)

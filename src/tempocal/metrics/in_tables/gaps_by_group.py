"""Calibration gaps, confidence minus outcome, summed by group; their noise and floor."""

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
from tempocal.metrics.in_tables.confidence_bins import add_bin
from tempocal.metrics.in_tables.events import add_event, number_of_events
from tempocal.metrics.in_tables.group_draws import draw_by_group, groups_per_time_bin
from tempocal.metrics.in_tables.scored_frame import MAX_SUMS, ScoredFrame, sum_of
from tempocal.metrics.in_tables.time_bins import TableTimeBins
from tempocal.metrics.sample import BUCKETS
from tempocal.tables.open_table import Frame

# With fewer buckets the variance between them is too uncertain.
MIN_BUCKETS = 20
# Draws of labels per pass: pandas is slow on tables of a hundred columns.
DRAWS_PER_PASS = 50


@dataclass(frozen=True, eq=False)
class EventSums:
    """Sums of one event."""

    weighted_gaps: Array  # (buckets, S, bins) confidence minus outcome, times weight
    weights: Array  # (buckets, S)
    drawn: Array  # (draws, S, bins) weighted gaps of drawn labels, summed over buckets


def gap_sums_by_group(
    table: ScoredFrame, metric: GapMetric, time_bins: TableTimeBins, seed: int
) -> GapSums:
    """Sum the gaps of each event by bucket of groups, time bin and bin; a pass per event."""
    assert table.groups is not None
    n_events = number_of_events(metric, table.n_classes)
    summation = _EventSummation(table, metric, time_bins, n_events, seed)
    sums = [summation.sums(event) for event in range(n_events)]
    weights = sums[0].weights
    totals = weights.sum(axis=0)
    weighted_gaps = np.concatenate([one.weighted_gaps for one in sums], axis=2) / n_events
    drawn = np.concatenate([one.drawn for one in sums], axis=2) / n_events
    gaps = weighted_gaps.sum(axis=0) / totals[:, None]
    deviates = noise_rng(seed).standard_normal((DRAWS, len(weighted_gaps)))
    noise = np.stack(
        [
            deviates @ (weighted_gaps[:, s] - weights[:, s, None] * gaps[s]) / totals[s]
            for s in range(time_bins.count)
        ]
    )
    errors = np.abs(drawn).sum(axis=2) / totals
    if table.groups.are_few and len(weights) == table.groups.count:  # each bucket is a group
        units = np.count_nonzero(weights, axis=0).astype(np.float64)
    else:
        units = groups_per_time_bin(table, table.groups, time_bins)
    return GapSums(gaps, noise, errors, units, float(table.groups.count))


@dataclass(frozen=True)
class _EventSummation:
    """Sums of one event after another."""

    table: ScoredFrame
    metric: GapMetric
    time_bins: TableTimeBins
    n_events: int
    seed: int

    def sums(self, event: int) -> EventSums:
        """Sum one event, in as many passes as its draws need."""
        frame = add_event(self.table.frame, self.metric, event, self.table.n_classes)
        frame = self.time_bins.add_time_bin(frame)
        frame = add_bin(self.table, frame, self.metric, self.time_bins, event)
        draws = self._number_of_draws()
        parts = [range(k, min(k + DRAWS_PER_PASS, draws)) for k in range(0, draws, DRAWS_PER_PASS)]
        found = [self._one_pass(frame, event, part) for part in parts]
        return replace(found[0], drawn=np.concatenate([one.drawn for one in found]))

    def _one_pass(self, frame: Frame, event: int, draws: range) -> EventSums:
        """Sum over the rows once, with some of the draws."""
        assert self.table.groups is not None
        inner = (self.time_bins.count, self.metric.bins)
        units = draw_by_group(frame, self.table.groups, _buckets(*inner), draws, self.seed)
        keys = ["bucket", "time_bin", f"bin{event}"]
        summed = _summands(units.frame, keys, event, self.table.n_classes, draws)
        names = [name for name in summed.collect_schema() if name not in keys]
        counted = summed.group_by(*keys).agg(*(nw.col(name).sum() for name in names))
        found = self.table.passes.collect(counted, "adding up")
        bucket, time_bin, bin_of = (found[key].astype(np.intp) for key in keys)
        return EventSums(
            _scatter(
                (bucket, time_bin, bin_of),
                found["confidence_sum"] - found["outcome_sum"],
                (units.buckets, *inner),
            ),
            _scatter((bucket, time_bin), found["weight"], (units.buckets, inner[0])),
            np.stack(
                [
                    _scatter(
                        (time_bin, bin_of), found["confidence_sum"] - found[f"drawn{d}"], inner
                    )
                    for d in draws
                ]
            ),
        )

    def _number_of_draws(self) -> int:
        assert self.table.groups is not None
        if not self.table.groups.are_few:
            return MIN_DRAWS
        return number_of_draws(self.table.rows.n_rows * self.n_events)


def _scatter(codes: tuple[Codes, ...], values: Array, shape: tuple[int, ...]) -> Array:
    """Add values at their indices in an array."""
    where = np.ravel_multi_index(codes, shape)
    sums = np.bincount(where, values, minlength=int(np.prod(shape))).reshape(shape)
    return np.asarray(sums, dtype=np.float64)


def _summands(frame: Frame, keys: list[str], event: int, n_classes: int, draws: range) -> Frame:
    """Return the columns to sum: weights, confidences, outcomes and drawn outcomes."""
    weight, confidence = nw.col("weight"), nw.col(f"confidence{event}")
    cumulative = nw.col(f"cumulative{event}")
    total = sum_of(nw.col(f"p{k}") for k in range(n_classes))
    # Inverse transform sampling: the event is drawn where u lies in this interval.
    interval = {"low": cumulative / total, "high": (cumulative + confidence) / total}
    frame = frame.with_columns(**interval)
    columns = {
        "confidence_sum": weight * confidence,
        "outcome_sum": weight * nw.col(f"outcome{event}"),
    }
    for d in draws:
        u = nw.col(f"u{d}")
        inside = (u >= nw.col("low")) & (u < nw.col("high"))
        columns[f"drawn{d}"] = nw.when(inside).then(weight).otherwise(nw.lit(0.0))
    return frame.select(*keys, "weight", **columns)


def _buckets(n_time_bins: int, bins: int) -> int:
    """Return the number of buckets, limited by the size of the result."""
    max_buckets = MAX_SUMS // (bins * n_time_bins)
    if max_buckets < MIN_BUCKETS:
        raise InputError(
            f"metric has {bins} bins in each of {n_time_bins} stretches of time, which is too many "
            f"to sum a table by: at most {MAX_SUMS // MIN_BUCKETS:,} together"
        )
    return min(BUCKETS, max_buckets)

"""Calibration gaps, confidence minus outcome, summed by group; their noise and floor.

Without groups the rows of arrays are drawn for one by one; for those of tables see `gaps_by_row`.
"""

from dataclasses import dataclass

import numpy as np

from tempocal.errors import InputError
from tempocal.formula.nodes import AtMost, Below, Column, Every, Expression, Number, Where, total
from tempocal.inputs import Codes
from tempocal.links import Array
from tempocal.metrics.gap_metric import GapMetric
from tempocal.metrics.gap_sums import (
    DRAWN_ROWS,
    DRAWS,
    MAX_DRAWS,
    MIN_DRAWS,
    GapSums,
    floor_rng,
    noise_rng,
)
from tempocal.metrics.scored_rows import ScoredRows, SumBy, Sums, add_up, independent_units

# Limit of the memory for draws of the noise, in doubles: 4 GiB.
MAX_NOISE_NUMBERS = 2**29


@dataclass(frozen=True, eq=False)
class _EventSums:
    """Sums of one event by bucket, time bin and bin, and errors (draws, S) of drawn labels."""

    by_bucket: Sums
    drawn_errors: Array


def gap_sums_by_unit(rows: ScoredRows, metric: GapMetric, n_events: int, seed: int) -> GapSums:
    """Sum the gaps of each event by bucket of groups, time bin and bin."""
    n_bins = rows.time_bins.count
    assert rows.n_units is not None
    n_buckets = min(rows.max_buckets(metric.bins * n_bins), rows.n_units)
    events = [_sum_event(rows, metric, event, n_events, seed) for event in range(n_events)]
    first = events[0].by_bucket
    sizes = {"bucket": n_buckets, "time_bin": n_bins}
    weights = add_up(first, "weight", sizes)
    unit = "unit_" * ("unit_weight" in first)
    shares, totals = add_up(first, f"{unit}weight", sizes), weights.sum(axis=0)
    cells = [_Cells.of(events, s, n_buckets) for s in range(n_bins)]
    _require_memory(cells, n_buckets, metric.bins)
    deviates = noise_rng(seed).standard_normal((DRAWS, n_buckets))
    gaps, noise = [], []
    for s, each in enumerate(cells):
        gaps.append(each.add_up("gap").sum(axis=0) / (totals[s] * n_events))
        by_bucket = each.add_up(f"{unit}gap") / n_events
        noise.append(deviates @ (by_bucket - shares[:, s, None] * gaps[s]) / totals[s])
    drawn = np.sum([each.drawn_errors for each in events], axis=0) / (totals * n_events)
    return GapSums(gaps, noise, drawn, *independent_units(rows, weights))


@dataclass(frozen=True, eq=False)
class _Cells:
    """The filled bins of all events in one time bin."""

    sums: list[Sums]  # of each event
    columns: list[Codes]  # cell of each sum
    n_cells: int
    n_buckets: int

    @classmethod
    def of(cls, events: list[_EventSums], time_bin: int, n_buckets: int) -> "_Cells":
        """Give each bin that occurs a number."""
        sums, columns, n_cells = [], [], 0
        for event, each in enumerate(events):
            inside = each.by_bucket["time_bin"] == time_bin
            sums.append({name: column[inside] for name, column in each.by_bucket.items()})
            bins, codes = np.unique(sums[-1][f"bin{event}"], return_inverse=True)
            columns.append(codes + n_cells)
            n_cells += len(bins)
        return cls(sums, columns, n_cells, n_buckets)

    def add_up(self, name: str) -> Array:
        """Add up one sum: (buckets, cells)."""
        sums = np.zeros(self.n_buckets * self.n_cells)
        for found, column in zip(self.sums, self.columns, strict=True):
            codes = found["bucket"].astype(np.intp) * self.n_cells + column
            sums += np.bincount(codes, found[name], minlength=len(sums))
        return sums.reshape(self.n_buckets, self.n_cells)


def _sum_event(
    rows: ScoredRows, metric: GapMetric, event: int, n_events: int, seed: int
) -> _EventSums:
    """Sum one event, in as many passes as its draws need."""
    bin_name, n_draws = f"bin{event}", _number_of_draws(rows, n_events)
    rows = (
        rows.with_event(metric, event).with_bins(metric, event).with_columns(_limits(rows, event))
    )
    max_buckets = rows.max_buckets(metric.bins * rows.time_bins.count)
    rng, step, errors = floor_rng(seed), rows.draws_per_pass(), []
    by_bucket: Sums = {}
    for start in range(0, n_draws, step):
        count = min(step, n_draws - start)
        drawn, _ = rows.with_draws(max_buckets, rng, count)
        wanted = [SumBy(("time_bin", bin_name), _drawn_outcomes(rows, event, count))]
        if not by_bucket:
            wanted.append(SumBy(("bucket", "time_bin", bin_name), _gaps(rows, event)))
        by_cell, *others = drawn.sum_by("adding up", *wanted)
        by_bucket = others[0] if others else by_bucket
        errors.append(_errors(by_cell, bin_name, count, rows.time_bins.count))
    return _EventSums(by_bucket, np.concatenate(errors))


def _gaps(rows: ScoredRows, event: int) -> dict[str, Expression]:
    gap = Column(f"confidence{event}") - Column(f"outcome{event}")
    terms = {"gap": gap * rows.weight, "weight": rows.weight}
    if rows.unit_weight is not None:
        terms |= {"unit_gap": gap * rows.unit_weight, "unit_weight": rows.unit_weight}
    return terms


def _limits(rows: ScoredRows, event: int) -> dict[str, Expression]:
    """Inverse transform sampling: the event is drawn where u lies between these limits."""
    below, certain = Column(f"below{event}"), total(rows.proba())
    return {"low": below / certain, "high": (below + Column(f"confidence{event}")) / certain}


def _drawn_outcomes(rows: ScoredRows, event: int, count: int) -> dict[str, Expression]:
    terms = {"confidence_sum": Column(f"confidence{event}") * rows.weight}
    for d in range(count):
        u = Column(f"u{d}")
        inside = Every((AtMost(Column("low"), u), Below(u, Column("high"))))
        terms[f"drawn{d}"] = Where(inside, rows.weight, Number(0.0))
    return terms


def _errors(found: Sums, bin_name: str, count: int, n_time_bins: int) -> Array:
    """Sum of the absolute gaps of drawn labels: (draws, S)."""
    n_bins = int(found[bin_name].max()) + 1
    codes = found["time_bin"].astype(np.intp) * n_bins + found[bin_name].astype(np.intp)
    cells, cell_of = np.unique(codes, return_inverse=True)
    errors = np.empty((count, n_time_bins))
    for d in range(count):
        gaps = np.bincount(cell_of, found["confidence_sum"] - found[f"drawn{d}"])
        errors[d] = np.bincount(cells // n_bins, np.abs(gaps), minlength=n_time_bins)
    return errors


def _number_of_draws(rows: ScoredRows, n_events: int) -> int:
    """Return how often labels are drawn."""
    if not rows.draws_are_own:
        return MIN_DRAWS
    return int(np.clip(DRAWN_ROWS / (rows.n_rows * n_events), MIN_DRAWS, MAX_DRAWS))


def _require_memory(cells: list[_Cells], n_buckets: int, bins: int) -> None:
    """Refuse bins whose noise draws would not fit into memory."""
    filled = max(each.n_cells for each in cells)
    drawn = max(len(cells) * DRAWS, n_buckets) * filled
    if drawn > MAX_NOISE_NUMBERS:
        raise InputError(
            f"metric has {bins} bins, of which rows fill {filled} in one of {len(cells)} stretches "
            f"of time: the noise in so many takes {drawn * 8 / 2**30:.0f} GiB. Take fewer bins of "
            "confidence, such as 15, or fewer stretches"
        )

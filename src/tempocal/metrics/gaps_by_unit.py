"""Calibration gaps, confidence minus outcome, summed by group; their noise and floor.

Without groups the rows of arrays are drawn for one by one; for those of tables see `gaps_by_row`.
"""

import numpy as np

from tempocal.errors import InputError
from tempocal.formula.nodes import AtMost, Below, Column, Every, Expression, Number, Where, total
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


def gap_sums_by_unit(rows: ScoredRows, metric: GapMetric, n_events: int, seed: int) -> GapSums:
    """Sum the gaps of each event by bucket of groups, time bin and bin."""
    assert rows.n_units is not None
    n_bins = rows.time_bins.count
    n_buckets = min(rows.max_buckets(metric.bins * n_bins), rows.n_units)
    by_bucket, drawn = _sum_events(rows, metric, n_events, seed)
    sizes = {"bucket": n_buckets, "time_bin": n_bins}
    weights = add_up(by_bucket[0], "weight", sizes)
    unit = "unit_" * ("unit_weight" in by_bucket[0])
    shares, totals = add_up(by_bucket[0], f"{unit}weight", sizes), weights.sum(axis=0)
    cells = [_cells_of(by_bucket, s) for s in range(n_bins)]
    _require_memory(max(n_cells for _, n_cells in cells), n_bins, n_buckets, metric.bins)
    deviates = noise_rng(seed).standard_normal((DRAWS, n_buckets))
    gaps, noise = [], []
    for s, (found, n_cells) in enumerate(cells):
        sizes = {"bucket": n_buckets, "cell": n_cells}
        gaps.append(add_up(found, "gap", sizes).sum(axis=0) / (totals[s] * n_events))
        bucket_gaps = add_up(found, f"{unit}gap", sizes) / n_events
        noise.append(deviates @ (bucket_gaps - shares[:, s, None] * gaps[s]) / totals[s])
    return GapSums(gaps, noise, drawn / (totals * n_events), *independent_units(rows, weights))


def _cells_of(by_bucket: list[Sums], time_bin: int) -> tuple[Sums, int]:
    """Return the sums of a time bin and the number of its cells: the bins that occur."""
    parts: list[Sums] = []
    n_cells = 0
    for event, each in enumerate(by_bucket):
        inside = each["time_bin"] == time_bin
        bins, codes = np.unique(each[f"bin{event}"][inside], return_inverse=True)
        names = {"bucket", "gap", "unit_gap"} & set(each)
        parts.append({"cell": codes + n_cells, **{name: each[name][inside] for name in names}})
        n_cells += len(bins)
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}, n_cells


def _sum_events(
    rows: ScoredRows, metric: GapMetric, n_events: int, seed: int
) -> tuple[list[Sums], Array]:
    """Sum each event by bucket, time bin and bin; and the errors (draws, S) of drawn labels."""
    n_bins, n_draws = rows.time_bins.count, _number_of_draws(rows, n_events)
    by_bucket: list[Sums] = []
    errors, step = np.zeros((n_draws, n_bins)), rows.events_per_pass
    for events in (range(k, min(k + step, n_events)) for k in range(0, n_events, step)):
        rng, some = floor_rng(seed), rows
        for event in events:
            some = some.with_event(metric, event).with_bins(metric, event)
            some = some.with_columns(_limits(rows, event))
        for start in range(0, n_draws, rows.draws_per_pass):
            draws = range(min(rows.draws_per_pass, n_draws - start))
            drawn, _ = some.with_draws(rows.max_buckets(metric.bins * n_bins), rng, len(draws))
            wanted = [SumBy(("time_bin", f"bin{k}"), _drawn(rows, k, draws)) for k in events]
            if start == 0:
                keys = ("bucket", "time_bin")
                wanted += [SumBy((*keys, f"bin{k}"), _gaps(rows, k)) for k in events]
            found = drawn.sum_by("adding up", *wanted)
            by_bucket += found[len(events) :]
            for event, by_cell in zip(events, found, strict=False):
                part = _errors(by_cell, f"bin{event}", draws, n_bins)
                errors[start : start + len(draws)] += part
    return by_bucket, errors


def _gaps(rows: ScoredRows, event: int) -> dict[str, Expression]:
    gap = Column(f"confidence{event}") - Column(f"outcome{event}")
    terms = {"gap": gap * rows.weight, "weight": rows.weight}
    if rows.unit_weight is not None:
        terms |= {"unit_gap": gap * rows.unit_weight, "unit_weight": rows.unit_weight}
    return terms


def _limits(rows: ScoredRows, event: int) -> dict[str, Expression]:
    """Inverse transform sampling: the event is drawn where u lies between these limits."""
    below, certain = Column(f"below{event}"), total(rows.proba())
    above = below + Column(f"confidence{event}")
    return {f"low{event}": below / certain, f"high{event}": above / certain}


def _drawn(rows: ScoredRows, event: int, draws: range) -> dict[str, Expression]:
    terms = {"confidence_sum": Column(f"confidence{event}") * rows.weight}
    for d in draws:
        u = Column(f"u{d}")
        inside = Every((AtMost(Column(f"low{event}"), u), Below(u, Column(f"high{event}"))))
        terms[f"drawn{d}"] = Where(inside, rows.weight, Number(0.0))
    return terms


def _errors(found: Sums, bin_name: str, draws: range, n_time_bins: int) -> Array:
    """Sum of the absolute gaps of drawn labels: (draws, S)."""
    n_bins = int(found[bin_name].max()) + 1
    codes = found["time_bin"].astype(np.intp) * n_bins + found[bin_name].astype(np.intp)
    cells, cell_of = np.unique(codes, return_inverse=True)
    errors = np.empty((len(draws), n_time_bins))
    for d in draws:
        gaps = np.bincount(cell_of, found["confidence_sum"] - found[f"drawn{d}"])
        errors[d] = np.bincount(cells // n_bins, np.abs(gaps), minlength=n_time_bins)
    return errors


def _number_of_draws(rows: ScoredRows, n_events: int) -> int:
    """Return how often labels are drawn."""
    if not rows.draws_are_own:
        return MIN_DRAWS
    return int(np.clip(DRAWN_ROWS / (rows.n_rows * n_events), MIN_DRAWS, MAX_DRAWS))


def _require_memory(filled: int, n_time_bins: int, n_buckets: int, bins: int) -> None:
    """Refuse bins whose noise draws would not fit into memory."""
    drawn = max(n_time_bins * DRAWS, n_buckets) * filled
    if drawn > MAX_NOISE_NUMBERS:
        raise InputError(
            f"metric has {bins} bins, of which rows fill {filled} in one of {n_time_bins} "
            f"stretches of time: the noise in so many takes {drawn * 8 / 2**30:.0f} GiB. Take "
            "fewer bins of confidence, such as 15, or fewer stretches"
        )

"""Discrimination in a table: the same sums as in memory, by window functions of its engine."""

import narwhals as nw
import numpy as np

from tempocal.assessment.discrimination import (
    NEXT_TO_CERTAIN,
    Discrimination,
    PlacementSums,
    discrimination,
)
from tempocal.metrics.scored_frame import ScoredFrame
from tempocal.metrics.scored_rows import BUCKETS
from tempocal.metrics.time_bins import TimeBins
from tempocal.tables.open_table import Frame

MAX = float(np.finfo(np.float64).max)
NAMES = ("events", "others", "above", "below")


def discriminate_frame(rows: ScoredFrame, time_bins: TimeBins, level: float) -> Discrimination:
    """AUC of the second of two classes, of rows in a table.

    More than 10,000 groups are summed in 1,000 buckets.
    """
    by_time_bin = _sums(rows.in_time_bins(time_bins))
    (overall,) = _sums(rows)
    return discrimination(
        time_bins,
        [one.interval(level) for one in by_time_bin],
        overall.interval(level),
        level,
    )


def _sums(rows: ScoredFrame) -> list[PlacementSums]:
    """Return the sums of each time bin, by group or bucket of groups."""
    assert rows.n_groups is not None
    max_buckets = rows.n_groups if rows.draws_are_own else BUCKETS
    dealt, n_buckets = rows.with_draws(max_buckets, np.random.default_rng(0), 0)
    is_event = nw.when(nw.col("label") == 1).then(nw.lit(1.0)).otherwise(nw.lit(0.0))
    weight = nw.col("weight") if rows.has_weights else nw.lit(1.0)
    frame = dealt.frame.select(
        "time_bin",
        "bucket",
        place=_odds_rank(nw.col("p1"), nw.col("p0")),
        events=is_event * weight,
        others=(1.0 - is_event) * weight,
    )
    placed = frame.join(
        _below(frame),  # type: ignore[arg-type]
        on=["time_bin", "place"],
        how="inner",
    )
    events, others = nw.col("events"), nw.col("others")
    sums = placed.select(
        "time_bin",
        "bucket",
        "events",
        "others",
        above=events * nw.col("others_below"),
        below=others * nw.col("events_below"),
    )
    summed = sums.group_by("time_bin", "bucket").agg(*(nw.col(name).sum() for name in NAMES))
    found = rows.passes.collect(summed, "ranking the rows")
    tables = []
    for k in range(rows.time_bins.count):
        inside = found["time_bin"] == k
        code = found["bucket"][inside].astype(np.intp)
        totals = [
            np.bincount(code, found[name][inside], minlength=n_buckets).astype(np.float64)
            for name in NAMES
        ]
        tables.append(PlacementSums(*totals))
    return tables


def _odds_rank(proba: nw.Expr, rest: nw.Expr) -> nw.Expr:
    """Return numbers in the order of the log-odds, as `discrimination.odds_rank`."""
    # Engines do not agree on what divided by zero is.
    certain = nw.when(rest > 0.0).then(1.0 / rest).otherwise(nw.lit(MAX))
    return nw.when(rest < NEXT_TO_CERTAIN).then(certain).otherwise(proba)


def _below(frame: Frame) -> Frame:
    """Weight of the events and of the others below each place, of equal ones half."""
    counted = frame.group_by("time_bin", "place").agg(
        nw.col("events").sum().alias("event_sum"), nw.col("others").sum().alias("other_sum")
    )
    below = {
        name: nw.col(column).cum_sum().over("time_bin", order_by="place") - 0.5 * nw.col(column)
        for name, column in (("events_below", "event_sum"), ("others_below", "other_sum"))
    }
    return counted.with_columns(**below).select("time_bin", "place", *below)

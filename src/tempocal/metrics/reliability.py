"""Reliability curve: the numbers of a reliability diagram."""

import numpy as np
from numpy.typing import ArrayLike

from tempocal.formula.nodes import Column, Number
from tempocal.inputs import Inputs
from tempocal.links import Array
from tempocal.metrics.binned import BinTable, bin_events
from tempocal.metrics.binsums import BinSums
from tempocal.metrics.edges import Binning, Edges
from tempocal.metrics.estimates import ReliabilityTable, reliability_table
from tempocal.metrics.events import EventKind, events_of
from tempocal.metrics.frequency import interval_from_group_sums, interval_over_rows
from tempocal.metrics.gap_metric import GapMetric
from tempocal.metrics.predictions import check_groups_of, check_level, check_predictions
from tempocal.metrics.scored_arrays import ScoredArrays
from tempocal.metrics.scored_rows import BUCKETS, ScoredRows, SumBy, Sums


def reliability_curve(
    y: ArrayLike,
    proba: ArrayLike,
    *,
    bins: int = 10,
    binning: Binning = "equal_mass",
    of: EventKind = "top_label",
    sequence: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    level: float = 0.95,
    sample_weight: ArrayLike | None = None,
    classes: ArrayLike | None = None,
    inputs: Inputs = "proba",
) -> ReliabilityTable:
    """Mean confidence and observed frequency in each bin: the numbers of a reliability diagram.

    Parameters
    ----------
    y, proba, of, sample_weight, classes, inputs
        As in `ece`.
    bins : int, default=10
        Number of bins.
    binning : {"equal_mass", "equal_width"}, default="equal_mass"
        Bins of about equal weight, as in the paper's diagrams, or of equal width.
    sequence : array-like of shape (n,), optional
        Id of the sequence of each row.
    groups : array-like of shape (n,), optional
        What is independent: clusters that hold whole sequences. By default the sequences. Without
        either, rows are taken as independent, which makes the intervals far too narrow if they are
        not.
    level : float, default=0.95
        Confidence level of the intervals.

    Returns
    -------
    ReliabilityTable
        Columns ``lower, upper, count, weight, confidence, frequency, groups, lower_frequency,
        upper_frequency``, one entry for each bin.

    Notes
    -----
    The paper's diagrams pool the probabilities of both classes, so they are point-symmetric. With
    ``Y`` the one-hot labels, ``reliability_curve(Y.ravel(), proba.ravel(), of="positive_class")``
    computes them, for any number of classes.

    Examples
    --------
    >>> from tempocal.metrics import reliability_curve
    >>> curve = reliability_curve([0, 1, 1, 1], [0.2, 0.4, 0.6, 0.9], bins=2)
    >>> curve.upper, curve.confidence, curve.frequency
    (array([0.6, 1. ]), array([0.6 , 0.85]), array([0.5, 1. ]))
    """
    rows = check_predictions(y, proba, sample_weight, classes, inputs=inputs)
    clusters = check_groups_of(rows, groups, sequence)
    check_level(level)
    # The very sums of `ece`.
    found = bin_events(events_of(rows, of), bins, binning)
    if clusters is None:
        interval = interval_over_rows(found.sums, level)
        return reliability_table(found.sums, found.edges, interval)
    metric = GapMetric(of, bins, binning)
    return reliability_tables(ScoredArrays.of(rows, clusters), metric, level, found)[0]


def reliability_tables(
    rows: ScoredRows, metric: GapMetric, level: float = 0.95, known: BinTable | None = None
) -> tuple[ReliabilityTable, ...]:
    """Compute the reliability curve of each time bin; the bins and their sums may be known.

    More than 10,000 groups of a table are summed in 1,000 buckets, so that the widths of intervals
    and numbers of groups are known to a few percent.
    """
    metric.n_events(rows.n_classes)
    rows = rows.with_event(metric, 0)
    edges = [known.edges] if known else rows.edges_of(metric, 0)
    rows, n_buckets = rows.with_edges(edges, 0), 0
    if rows.n_groups is not None:
        max_buckets = rows.n_groups if rows.draws_are_own else BUCKETS
        rows, n_buckets = rows.with_draws(max_buckets, np.random.default_rng(0), 0)
    terms = {
        "count": Number(1.0),
        "weight": rows.weight,
        "confidence": Column("confidence0") * rows.weight,
        "outcome": Column("outcome0") * rows.weight,
    }
    keys = ("bucket",) * (n_buckets > 0) + ("time_bin", "bin0")
    (found,) = rows.sum_by("summing for diagrams", SumBy(keys, terms))
    n_buckets = 0 if n_buckets == rows.n_groups else n_buckets
    tables = []
    for k in range(rows.time_bins.count):
        inside = found["time_bin"] == k
        sums = {name: column[inside] for name, column in found.items()}
        tables.append(_table(sums, edges[k % len(edges)], n_buckets, level, known))
    return tuple(tables)


def _table(
    found: Sums, edges: Edges, n_buckets: int, level: float, known: BinTable | None
) -> ReliabilityTable:
    bins = found["bin0"].astype(np.intp)

    def by_bin(values: Array) -> Array:
        return np.bincount(bins, values, minlength=edges.n_bins).astype(np.float64)

    count, weight, confidence, outcome = (
        by_bin(found[name]) for name in ("count", "weight", "confidence", "outcome")
    )
    sums = known.sums if known else BinSums(count.astype(np.intp), weight, confidence, outcome)
    if "bucket" not in found:
        return reliability_table(sums, edges, interval_over_rows(sums, level))
    frequency = outcome / np.where(weight > 0.0, weight, 1.0)
    weights = by_bin(found["weight"] ** 2)
    deviations = by_bin((found["outcome"] - frequency[bins] * found["weight"]) ** 2)
    if n_buckets:
        # Groups are in random buckets: E[sum over buckets of S**2] has cross terms between groups.
        share = 1.0 - 1.0 / n_buckets
        weights = np.maximum(weights - weight**2 / n_buckets, 0.0) / share
        deviations = deviations / share
    return reliability_table(
        sums, edges, interval_from_group_sums(sums, weights, deviations, level)
    )

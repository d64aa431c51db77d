"""Reliability curve: the numbers of a reliability diagram."""

from numpy.typing import ArrayLike

from tempocal.metrics.binned import bin_events
from tempocal.metrics.edges import Binning
from tempocal.metrics.estimates import ReliabilityTable, reliability_table
from tempocal.metrics.events import EventKind, events_of
from tempocal.metrics.frequency import interval_over_groups, interval_over_rows
from tempocal.metrics.predictions import check_groups_of, check_level, check_predictions


def reliability_curve(
    y: ArrayLike,
    proba: ArrayLike,
    *,
    bins: int = 10,
    binning: Binning = "equal_mass",
    of: EventKind = "top_label",
    groups: ArrayLike | None = None,
    level: float = 0.95,
    sample_weight: ArrayLike | None = None,
    classes: ArrayLike | None = None,
) -> ReliabilityTable:
    """Mean confidence and observed frequency in each bin: the numbers of a reliability diagram.

    Parameters
    ----------
    y, proba, of, sample_weight, classes
        As in `ece`.
    bins : int, default=10
        Number of bins.
    binning : {"equal_mass", "equal_width"}, default="equal_mass"
        Bins of about equal weight, as in the paper's diagrams, or of equal width.
    groups : array-like of shape (n,), optional
        The sequence, or coarser cluster, of each row. Without groups rows are taken as independent,
        which makes the intervals far too narrow if they are not.
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
    rows = check_predictions(y, proba, sample_weight, classes)
    clusters = check_groups_of(rows, groups)
    check_level(level)
    events = events_of(rows, of)
    found = bin_events(events, bins, binning)
    sums, edges = found.sums, found.edges
    if clusters is None:
        interval = interval_over_rows(sums, level)
    else:
        interval = interval_over_groups(events, edges, sums, clusters, level)
    return reliability_table(sums, edges, interval)

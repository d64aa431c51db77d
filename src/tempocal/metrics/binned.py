"""Binned calibration errors: functions of the gap between confidence and frequency in each bin."""

from dataclasses import dataclass, replace

from numpy.typing import ArrayLike

from tempocal.inputs import Inputs, check_bins, check_choice
from tempocal.metrics.binsums import BinSums, bin_sums
from tempocal.metrics.edges import BINNINGS, Binning, Edges, describe, equal_width, make_edges
from tempocal.metrics.estimates import BinnedEstimate, reliability_table
from tempocal.metrics.events import EVENT_NAMES, EventKind, Events, events_of
from tempocal.metrics.predictions import check_predictions
from tempocal.metrics.single_pass import bin_sums_single_pass


def ece(
    y: ArrayLike,
    proba: ArrayLike,
    *,
    bins: int = 15,
    binning: Binning = "equal_width",
    of: EventKind = "top_label",
    sample_weight: ArrayLike | None = None,
    classes: ArrayLike | None = None,
    soft_label: bool = False,
    inputs: Inputs = "proba",
) -> BinnedEstimate:
    """Compute the expected calibration error: the mean gap between confidence and accuracy.

    ``sum_b w_b / w * |accuracy_b - confidence_b|``, as in the paper, for the most probable class.

    Parameters
    ----------
    y : array-like of shape (n,)
        True labels, of any kind.
    proba : array-like of shape (n,), (n, 1) or (n, K)
        Probabilities; one column is that of the second class.
    bins : int, default=15
        Number of bins.
    binning : {"equal_width", "equal_mass"}, default="equal_width"
        Bins of equal width, or of about equal weight. Equal confidences always share a bin, so
        there may be fewer equal-mass bins than requested.
    of : {"top_label", "positive_class"}, default="top_label"
        The event: the most probable class is the true one (the first of them in a tie), or, with
        two classes, the second class is.
    sample_weight : array-like of shape (n,), optional
        Weight of each row: a weight of 2 is the row twice.
    classes : array-like of shape (K,), optional
        The class of each column; by default the sorted labels of ``y``.
    soft_label : bool, default=False
        Whether ``y`` holds probabilities in place of labels: floats of shape (n,), for the second
        of two classes, or (n, K), in the order of ``classes``, by default 0, 1, ..., K - 1.
        The accuracy of a bin is the mean soft label of the class that is predicted.
    inputs : {"proba", "logits"}, default="proba"
        What ``proba`` holds; never guessed. Logits of one column are read by a sigmoid, of several
        by a softmax.

    Returns
    -------
    BinnedEstimate
        A float from 0 to 1, with its ``bins`` and the name of the ``estimator``.

    Notes
    -----
    A bin holds ``lower < confidence <= upper``, and the first one 0 as well.

    The ECE of perfect probabilities is not 0, because the noise in each bin adds to it.
    `sampling_floor` estimates by how much.

    Examples
    --------
    >>> from tempocal.metrics import ece
    >>> error = ece([0, 1, 1, 1], [0.2, 0.4, 0.6, 0.9], bins=5)
    >>> error
    BinnedEstimate(0.125, 'top-label ECE, 5 equal-width bins')
    >>> error.bins.frequency
    array([nan, nan, 0.5, 1. , 1. ])
    """
    return ece_from_bins(
        bin_predictions(
            y,
            proba,
            bins,
            binning,
            of=of,
            sample_weight=sample_weight,
            classes=classes,
            soft_label=soft_label,
            inputs=inputs,
        )
    )


def max_calibration_error(
    y: ArrayLike,
    proba: ArrayLike,
    *,
    bins: int = 15,
    binning: Binning = "equal_width",
    of: EventKind = "top_label",
    sample_weight: ArrayLike | None = None,
    classes: ArrayLike | None = None,
    inputs: Inputs = "proba",
) -> BinnedEstimate:
    """Maximum calibration error: largest gap between confidence and accuracy over bins.

    Bins count regardless of their size, and a bin with one row has a large gap by chance. Look at
    the ``bins`` too, or use ``binning="equal_mass"``.

    Parameters
    ----------
    y, proba, bins, binning, of, sample_weight, classes, inputs
        As in `ece`.

    Returns
    -------
    BinnedEstimate
        A float from 0 to 1, with its ``bins`` and the name of the ``estimator``.

    Examples
    --------
    >>> from tempocal.metrics import max_calibration_error
    >>> max_calibration_error([0, 1, 1, 1], [0.2, 0.4, 0.6, 0.9], bins=5)
    BinnedEstimate(0.2, 'maximum top-label calibration error, 5 equal-width bins')
    """
    found = bin_predictions(
        y, proba, bins, binning, of=of, sample_weight=sample_weight, classes=classes, inputs=inputs
    )
    sums, filled = found.sums, found.sums.weight > 0
    value = float((abs(sums.gap[filled]) / sums.weight[filled]).max())
    name = f"maximum {found.name} calibration error, {found.binning}"
    return BinnedEstimate(value, name, reliability_table(sums, found.edges))


@dataclass(frozen=True, eq=False)
class BinTable:
    """Bins and the sums over their rows."""

    sums: BinSums
    edges: Edges
    name: str  # of the events
    binning: str  # in words, such as "15 equal-width bins"


def bin_predictions(
    y: ArrayLike,
    proba: ArrayLike,
    bins: int,
    binning: Binning,
    *,
    of: EventKind,
    sample_weight: ArrayLike | None,
    classes: ArrayLike | None,
    soft_label: bool = False,
    inputs: Inputs = "proba",
) -> BinTable:
    """Check the input of a metric and sum it by bin."""
    check_choice(of, "of", tuple(EVENT_NAMES))
    check_choice(binning, "binning", BINNINGS)
    is_plain = soft_label is False and inputs == "proba" and sample_weight is None
    if binning == "equal_width" and is_plain:
        edges = equal_width(check_bins(bins))
        sums = bin_sums_single_pass(y, proba, edges, of_top=of == "top_label", classes=classes)
        if sums is not None:
            return BinTable(sums, edges, EVENT_NAMES[of], describe(bins, binning))
    rows = check_predictions(y, proba, sample_weight, classes, soft_label=soft_label, inputs=inputs)
    return bin_events(events_of(rows, of), bins, binning)


def bin_events(events: Events, bins: int, binning: Binning) -> BinTable:
    """Sum events by bin."""
    edges = make_edges(events, bins, binning)
    sums = _event_sums(events, edges)
    return BinTable(sums, edges, events.name, describe(bins, binning))


def _event_sums(events: Events, edges: Edges) -> BinSums:
    """Sum events by bin; one that is not certain counts with the share that it happened."""
    sums = bin_sums(events.confidence, events.outcome, events.weight, edges)
    if events.soft is None:
        return sums
    share = events.soft if events.weight is None else events.soft * events.weight
    happened = bin_sums(events.confidence, events.outcome, share, edges)
    return replace(sums, outcome=happened.weight)


def ece_from_bins(found: BinTable) -> BinnedEstimate:
    """ECE of any event, with its name."""
    value = float(abs(found.sums.gap).sum() / found.sums.weight.sum())
    name = f"{found.name} ECE, {found.binning}"
    return BinnedEstimate(value, name, reliability_table(found.sums, found.edges))

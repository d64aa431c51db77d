"""Events of the rows of a table: the confidence in each event, and whether it occurred."""

from typing import Any

import narwhals as nw

from tempocal.errors import InputError
from tempocal.inputs import check_choice
from tempocal.metrics.cells import GapMetric
from tempocal.metrics.in_tables.scored_frame import indicator, sum_of
from tempocal.metrics.predictions import check_two_classes
from tempocal.tables.open_table import Frame

# Engines compare a confidence with every bin edge.
MAX_BINS = 1000


def number_of_events(metric: GapMetric, n_classes: int) -> int:
    """Check the metric, and return the number of events per row."""
    check_choice(metric.binning, "binning", ("equal_width", "equal_mass"))
    if metric.bins > MAX_BINS:
        raise InputError(
            f"metric has {metric.bins} bins, but from a table at most {MAX_BINS} can be had"
        )
    if metric.of is None:
        return n_classes
    check_choice(metric.of, "of", ("top_label", "positive_class"))
    check_two_classes(metric.of, n_classes, 'of="top_label", or classwise_ece for every class')
    return 1


def add_event(frame: Frame, metric: GapMetric, event: int, n_classes: int) -> Frame:
    """Add ``confidence``, ``outcome`` and ``cumulative`` of one event, followed by its number.

    ``cumulative`` is the total probability of the classes before that of the event.
    """
    if metric.of == "top_label":
        return _top_label(frame, n_classes)
    column = 1 if metric.of == "positive_class" else event
    before: Any = [nw.lit(0.0), *(nw.col(f"p{k}") for k in range(column))]
    columns = {
        f"confidence{event}": nw.col(f"p{column}"),
        f"outcome{event}": indicator(nw.col("label") == column),
        f"cumulative{event}": sum_of(before),
    }
    return frame.with_columns(**columns)


def _top_label(frame: Frame, n_classes: int) -> Frame:
    frame = frame.with_columns(confidence0=top_confidence(n_classes))
    frame = frame.with_columns(top=top_class(n_classes, nw.col("confidence0")))
    before = sum_of(nw.col(f"p{k}") * indicator(nw.col("top") > k) for k in range(n_classes))
    return frame.with_columns(
        outcome0=indicator(nw.col("top") == nw.col("label")), cumulative0=before
    )


def top_confidence(n_classes: int) -> nw.Expr:
    """Probability of the most probable class."""
    return nw.max_horizontal(*(nw.col(f"p{k}") for k in range(n_classes)))


def top_class(n_classes: int, confidence: nw.Expr) -> Any:
    """Return the most probable class, the first one in a tie."""
    chosen: Any = nw.lit(n_classes - 1)
    for k in reversed(range(n_classes - 1)):
        chosen = nw.when(nw.col(f"p{k}") == confidence).then(nw.lit(k)).otherwise(chosen)
    return chosen

"""What is judged in each row of a table: an event, how sure the model was, whether it came."""

from typing import Any

import narwhals as nw

from tempocal.errors import InputError
from tempocal.inputs import check_choice
from tempocal.metrics.cells import GapMetric
from tempocal.metrics.in_tables.scored_frame import added, flag
from tempocal.metrics.predictions import check_two_classes
from tempocal.tables.open_table import Frame

# Engines compare a confidence with the edges of bins one by one.
MAX_BINS = 1000


def number_of_events(metric: GapMetric, n_classes: int) -> int:
    """Check what is to be judged, and return how many events each row has."""
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
    """Add ``sure``, ``came`` and ``below`` of one event, each followed by its number.

    ``below`` is the probability of the classes before the event's, as in `cells.GapCells`.
    """
    if metric.of == "top_label":
        return _top_label(frame, n_classes)
    column = 1 if metric.of == "positive_class" else event
    before: Any = [nw.lit(0.0), *(nw.col(f"p{k}") for k in range(column))]
    columns = {
        f"sure{event}": nw.col(f"p{column}"),
        f"came{event}": flag(nw.col("label") == column),
        f"below{event}": added(before),
    }
    return frame.with_columns(**columns)


def _top_label(frame: Frame, n_classes: int) -> Frame:
    frame = frame.with_columns(sure0=confidence(n_classes))
    frame = frame.with_columns(top=top_class(n_classes, nw.col("sure0")))
    before = added(nw.col(f"p{k}") * flag(nw.col("top") > k) for k in range(n_classes))
    return frame.with_columns(came0=flag(nw.col("top") == nw.col("label")), below0=before)


def confidence(n_classes: int) -> nw.Expr:
    """Probability of the most probable class."""
    return nw.max_horizontal(*(nw.col(f"p{k}") for k in range(n_classes)))


def top_class(n_classes: int, sure: nw.Expr) -> Any:
    """Return the most probable class, the first of them in a tie."""
    found: Any = nw.lit(n_classes - 1)
    for k in reversed(range(n_classes - 1)):
        found = nw.when(nw.col(f"p{k}") == sure).then(nw.lit(k)).otherwise(found)
    return found

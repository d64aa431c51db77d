"""Draw reliability curves, in single diagrams and in small multiples."""

from typing import TYPE_CHECKING, Any

import numpy as np

from tempocal.metrics import ReliabilityTable
from tempocal.metrics.events import EventKind
from tempocal.plots.drawing import REFERENCE, draw_band
from tempocal.plots.legends import new_label

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PERFECT = "perfect calibration"


def axis_names(of: EventKind, positive_label: Any) -> tuple[str, str]:
    """Return the labels of both axes."""
    if of == "top_label":
        return (
            "confidence\n(probability of the predicted class)",
            "accuracy\n(share that was right)",
        )
    which = "the event" if positive_label is None else f"class {positive_label}"
    return f"predicted probability of {which}", "share of rows\nwhere it happened"


def drawn_names(ax: "Axes") -> list[str]:
    """Return the names of the reliability curves in the axes."""
    return [str(line.get_label()) for line in ax.lines if line.get_label() != PERFECT]


def draw_diagonal(ax: "Axes") -> None:
    """Draw the diagonal of perfect calibration, once."""
    label = new_label(ax, PERFECT)
    if label is not None:
        ax.plot([0.0, 1.0], [0.0, 1.0], label=label, **REFERENCE)


def draw_table(
    ax: "Axes",
    table: ReliabilityTable,
    style: dict[str, Any],
    name: str | None,
    band: str | None,
) -> Any:
    """Draw a line through the bins that are not empty; ``band`` is the label of the band."""
    filled = np.isfinite(table.confidence)
    confidence, frequency = table.confidence[filled], table.frequency[filled]
    if band is not None:
        label = new_label(ax, band)
        lower, upper = table.lower_frequency[filled], table.upper_frequency[filled]
        draw_band(ax, confidence, lower, upper, color=style["color"], label=label)
    (line,) = ax.plot(confidence, frequency, label=name or "predictions", **style)
    return line


def set_limits(*axes: "Axes") -> None:
    """Set equal limits on all axes, from the lowest point to 1, and the diagonal at 45 degrees.

    With two classes the confidence of the top label is at least 0.5, so that limits of 0 and 1
    would leave half of the axes empty.
    """
    points = [line.get_xydata() for ax in axes for line in ax.lines if line.get_label() != PERFECT]
    bands = [path.vertices for ax in axes for band in ax.collections for path in band.get_paths()]
    lowest = np.min([np.min(np.asarray(each), axis=0) for each in points + bands], axis=0)
    starts = np.maximum(np.floor(10.0 * (lowest - 0.01)) / 10.0, 0.0)
    start = float(starts.min())
    limits = (start - 0.02 * (1 - start), 1 + 0.02 * (1 - start))
    for ax in axes:
        ax.set(xlim=limits, ylim=limits)
        # At the bottom of its place, next to the histogram and the label below.
        ax.set_aspect("equal", adjustable="box", anchor="S")

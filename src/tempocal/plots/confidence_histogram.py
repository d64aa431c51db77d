"""Histogram of the predictions below a reliability diagram."""

from typing import TYPE_CHECKING, Any

import numpy as np

from tempocal.metrics import ReliabilityTable
from tempocal.plots.drawing import matplotlib

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# For axes outside a grid: height of the histogram and bottom of the diagram, as shares.
HISTOGRAM_HEIGHT, DIAGRAM_BOTTOM = 0.22, 0.27


def axes_below(ax: "Axes") -> "Axes":
    """Return the axes of the histogram; created from a part of the diagram's on the first call."""
    label = f"histogram below {id(ax)}"
    for other in ax.figure.axes:
        if other.get_label() == label:
            return other
    spec = ax.get_subplotspec()
    if spec is not None:
        parts = spec.subgridspec(2, 1, height_ratios=[3.2, 1.0], hspace=0.06)
        ax.set_subplotspec(parts[0])
        made = ax.figure.add_subplot(parts[1], sharex=ax, label=label)
        made.set_axes_locator(_UnderDiagram(ax))
    else:
        left, bottom, width, height = ax.get_position().bounds
        top = (left, bottom + DIAGRAM_BOTTOM * height, width, (1 - DIAGRAM_BOTTOM) * height)
        ax.set_position(top)
        below = (left, bottom, width, HISTOGRAM_HEIGHT * height)
        made = ax.figure.add_axes(below, sharex=ax, label=label)
        made.set_axes_locator(_UnderDiagram(ax))
    ax.tick_params(labelbottom=False)
    made.set_ylabel("share of\nall rows")
    return made


class _UnderDiagram:
    """Axes locator: as wide as the diagram above, which is narrower than its place if square."""

    def __init__(self, diagram: "Axes") -> None:
        self._diagram = diagram

    def __call__(self, ax: Any, renderer: Any) -> Any:
        above, own = self._diagram.get_position(), ax.get_position(original=True)
        return matplotlib("transforms").Bbox.from_bounds(above.x0, own.y0, above.width, own.height)


def draw_histogram(ax: "Axes", table: ReliabilityTable, style: dict[str, Any]) -> None:
    """Draw the share of all rows in each bin."""
    share = table.weight / table.weight.sum()
    edges = np.append(table.lower, table.upper[-1])
    color, dashes = style["color"], style["linestyle"]
    ax.stairs(share, edges, color=color, alpha=0.15, fill=True)
    ax.stairs(share, edges, color=color, linestyle=dashes, linewidth=1.2)
    # Over all methods that are drawn: limits that were set for the first would cut off the second.
    patches: list[Any] = list(ax.patches)
    highest = max(float(np.max(each.get_data().values)) for each in patches)
    ax.set_ylim(0.0, 1.05 * highest)

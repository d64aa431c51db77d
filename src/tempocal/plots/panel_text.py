"""Titles, axis labels and numbers in the corners of small multiples."""

from typing import TYPE_CHECKING, Any

import numpy as np

from tempocal.links import Array
from tempocal.plots.drawing import Panels, matplotlib

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# The corners off the diagonal.
CORNERS = ((0.96, 0.04, "right", "bottom"), (0.04, 0.96, "left", "top"))
# Pixels between the text in a corner and the lines.
MARGIN = 3.0


def write_title(ax: "Axes", text: str) -> None:
    """Write the title of a panel, on two lines if it is narrow."""
    title = ax.set_title(text, fontsize="medium")
    if title.get_window_extent().width > 1.1 * ax.get_window_extent().width:
        title.set_text(text.replace(" to ", "\nto "))


def name_axes(made: Panels, horizontal: str, vertical: str) -> None:
    """Label the axes: once for all panels in a figure of ours, else on each panel."""
    if made.figure is None:
        for panel in made.axes:
            panel.set(xlabel=horizontal, ylabel=vertical)
        return
    size = matplotlib("pyplot").rcParams["axes.labelsize"]
    made.figure.supxlabel(horizontal, fontsize=size)
    made.figure.supylabel(vertical, fontsize=size)


def write_in_corner(ax: "Axes", text: str) -> None:
    """Write into a corner without lines; if there is none, below the title."""
    lines = [ax.transData.transform(_dense(np.asarray(line.get_xydata()))) for line in ax.lines]
    points = np.concatenate(lines)
    for x, y, horizontal, vertical in CORNERS:
        align: Any = {"horizontalalignment": horizontal, "verticalalignment": vertical}
        written = ax.text(x, y, text, transform=ax.transAxes, **align)
        if not written.get_window_extent().padded(MARGIN).count_contains(points):
            return
        written.remove()
    ax.set_title(f"{ax.get_title()}\n{text}", fontsize="medium")


def _dense(path: Array) -> Array:
    """Interpolate points between the vertices of a line."""
    positions = np.linspace(0.0, len(path) - 1.0, 20 * len(path))
    vertices = np.arange(len(path))
    return np.column_stack([np.interp(positions, vertices, path[:, k]) for k in range(2)])

"""Legends outside the axes, so that they never cover the data."""

from textwrap import fill
from typing import TYPE_CHECKING, Any, Literal

from tempocal.inputs import check_choice
from tempocal.plots.drawing import NEUTRAL, REFERENCE, Panels, matplotlib, update_layout

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LegendPosition = Literal["above", "right", "none"]

INTERVAL = "interval"
# Below this width in inches a legend has a smaller font.
NARROW = 3.2
# Fewest characters in a line.
MIN_LINE_LENGTH = 11


def interval_label(level: float, *, grouped: bool) -> str:
    """Return the label of a band, with its assumption about the rows."""
    return f"{100 * level:g} % {INTERVAL}" + ("" if grouped else " (rows as independent)")


def new_label(ax: "Axes", label: str) -> str | None:
    """Return the label, or None if something in the axes has it already."""
    return None if label in ax.get_legend_handles_labels()[1] else label


def add_legend(ax: "Axes", where: LegendPosition) -> None:
    """Put the legend of the axes above or to the right of them."""
    check_choice(where, "legend", ("above", "right", "none"))
    handles, labels = legend_entries(ax)
    if where == "none" or len(labels) < 2:
        return
    if where == "right":
        if isinstance(ax.get_axes_locator(), _BelowLegend):
            ax.set_axes_locator(None)  # type: ignore[arg-type]
        ax.legend(handles, labels, loc="upper left", bbox_to_anchor=(1.02, 1.0), frameon=False)
        return
    position = {"loc": "lower left", "bbox_to_anchor": (0.0, 1.01), "borderaxespad": 0.0}
    update_layout(ax)
    _fitting_legend(ax, handles, labels, ax.get_window_extent().width, position)
    if ax.get_axes_locator() is None:
        ax.set_axes_locator(_BelowLegend())


def add_shared_legend(made: Panels) -> None:
    """Add one legend for all panels: above them in a figure of ours, else above the first."""
    if made.figure is None:
        add_legend(made.axes[0], "above")
        return
    position = {"loc": "outside upper center"}
    width = 0.97 * made.figure.bbox.width
    _fitting_legend(made.figure, *legend_entries(made.axes[0]), width, position)


def _fitting_legend(
    parent: Any, handles: list[Any], labels: list[str], width: float, position: dict[str, Any]
) -> None:
    """Add a legend no wider than ``width``: with fewer columns first, then with wrapped labels."""
    style: dict[str, Any] = {
        "frameon": False,
        "columnspacing": 1.0,
        "handlelength": 2.4,
        "borderpad": 0.2,
    }
    style["fontsize"] = "medium" if width > NARROW * parent.get_figure().dpi else "small"
    longest = max(map(len, labels))
    for columns, length in [
        *((count, longest) for count in range(len(labels), 0, -1)),
        *((1, length) for length in range(longest - 1, MIN_LINE_LENGTH, -1)),
    ]:
        wrapped = [fill(label, length) for label in labels]
        made = parent.legend(handles, wrapped, ncols=columns, **position, **style)
        if made.get_window_extent().width <= width:
            return
        made.remove()
    wrapped = [fill(label, MIN_LINE_LENGTH) for label in labels]
    parent.legend(handles, wrapped, **position, **style)


class _BelowLegend:
    """Axes locator that leaves room for a legend above the axes.

    A layout engine leaves this room by itself.
    """

    def __call__(self, ax: Any, renderer: Any) -> Any:
        box = ax.get_position(original=True)
        legend = ax.get_legend()
        if legend is None or ax.figure.figure.get_layout_engine() is not None:
            return box
        taken = legend.get_window_extent(renderer).height / ax.figure.bbox.height + 0.01
        height = max(box.height - taken, 0.3 * box.height)
        return matplotlib("transforms").Bbox.from_bounds(box.x0, box.y0, box.width, height)


def legend_entries(ax: "Axes") -> tuple[list[Any], list[str]]:
    """Return handles and labels of a legend: methods first, then bands and reference lines."""
    patch, collections = matplotlib("patches").Patch, matplotlib("collections")
    handles, labels = ax.get_legend_handles_labels()
    lines: list[tuple[Any, str]] = []
    shades: list[tuple[Any, str]] = []
    for handle, label in zip(handles, labels, strict=True):
        shade = isinstance(handle, collections.Collection)
        # One entry stands for the bands of all lines, so it has a neutral color.
        neutral = patch(facecolor="0.5", alpha=0.35)
        kept = neutral if shade and INTERVAL in label else handle
        last = shade or getattr(handle, "get_color", str)() in (REFERENCE["color"], NEUTRAL)
        (shades if last else lines).append((kept, label))
    pairs = lines + shades
    return [handle for handle, _ in pairs], [label for _, label in pairs]

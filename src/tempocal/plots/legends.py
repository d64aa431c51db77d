"""Legends that stand beside the data, never over them."""

from textwrap import fill
from typing import TYPE_CHECKING, Any, Literal

from tempocal.inputs import check_choice
from tempocal.plots.drawing import NEUTRAL, REFERENCE, Panels, matplotlib, update_layout

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Where = Literal["above", "right", "none"]

INTERVAL = "interval"
# Inches below which the letters of a legend are small.
NARROW = 3.2
# Letters in a line, at least.
SHORTEST = 11


def interval_label(level: float, *, grouped: bool) -> str:
    """Say what a band is, and what it takes for granted."""
    return f"{100 * level:g} % {INTERVAL}" + ("" if grouped else " (rows as independent)")


def new_label(ax: "Axes", label: str) -> str | None:
    """Return a label for the legend, unless something in the axes has it already."""
    return None if label in ax.get_legend_handles_labels()[1] else label


def add_legend(ax: "Axes", where: Where) -> None:
    """Put the legend of the axes beside them, never over the data."""
    check_choice(where, "legend", ("above", "right", "none"))
    handles, labels = legend_entries(ax)
    if where == "none" or len(labels) < 2:
        return
    if where == "right":
        if isinstance(ax.get_axes_locator(), _BelowLegend):
            ax.set_axes_locator(None)  # type: ignore[arg-type]
        ax.legend(handles, labels, loc="upper left", bbox_to_anchor=(1.02, 1.0), frameon=False)
        return
    place = {"loc": "lower left", "bbox_to_anchor": (0.0, 1.01), "borderaxespad": 0.0}
    update_layout(ax)
    _fitting_legend(ax, handles, labels, ax.get_window_extent().width, place)
    if ax.get_axes_locator() is None:
        ax.set_axes_locator(_BelowLegend())


def add_shared_legend(made: Panels) -> None:
    """One legend for all panels: above them, where the figure is ours, else above the first."""
    if made.whole is None:
        add_legend(made.axes[0], "above")
        return
    place = {"loc": "outside upper center"}
    _fitting_legend(made.whole, *legend_entries(made.axes[0]), 0.97 * made.whole.bbox.width, place)


def _fitting_legend(
    of: Any, handles: list[Any], labels: list[str], room: float, place: dict[str, Any]
) -> None:
    """Make a legend no wider than the room: fewer columns first, then labels of more lines."""
    look: dict[str, Any] = {
        "frameon": False,
        "columnspacing": 1.0,
        "handlelength": 2.4,
        "borderpad": 0.2,
    }
    look["fontsize"] = "medium" if room > NARROW * of.get_figure().dpi else "small"
    longest = max(map(len, labels))
    for columns, length in [
        *((count, longest) for count in range(len(labels), 0, -1)),
        *((1, length) for length in range(longest - 1, SHORTEST, -1)),
    ]:
        wrapped = [fill(label, length) for label in labels]
        made = of.legend(handles, wrapped, ncols=columns, **place, **look)
        if made.get_window_extent().width <= room:
            return
        made.remove()
    of.legend(handles, [fill(label, SHORTEST) for label in labels], **place, **look)


class _BelowLegend:
    """Position of axes with a legend above them, within their place in the figure.

    A layout engine makes this room by itself.
    """

    def __call__(self, ax: Any, renderer: Any) -> Any:
        place = ax.get_position(original=True)
        legend = ax.get_legend()
        if legend is None or ax.figure.figure.get_layout_engine() is not None:
            return place
        taken = legend.get_window_extent(renderer).height / ax.figure.bbox.height + 0.01
        rest = max(place.height - taken, 0.3 * place.height)
        return matplotlib("transforms").Bbox.from_bounds(place.x0, place.y0, place.width, rest)


def legend_entries(ax: "Axes") -> tuple[list[Any], list[str]]:
    """Return handles and labels for a legend: methods first, then what they are read against."""
    patch, collections = matplotlib("patches").Patch, matplotlib("collections")
    handles, labels = ax.get_legend_handles_labels()
    lines: list[tuple[Any, str]] = []
    shades: list[tuple[Any, str]] = []
    for handle, label in zip(handles, labels, strict=True):
        shade = isinstance(handle, collections.Collection)
        # One entry stands for the bands of all lines, so that it has the color of none.
        neutral = patch(facecolor="0.5", alpha=0.35)
        kept = neutral if shade and INTERVAL in label else handle
        last = shade or getattr(handle, "get_color", str)() in (REFERENCE["color"], NEUTRAL)
        (shades if last else lines).append((kept, label))
    pairs = lines + shades
    return [handle for handle, _ in pairs], [label for _, label in pairs]

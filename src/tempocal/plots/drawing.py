"""What the displays share: axes to draw into, styles and bands.

Colors are those of Okabe and Ito, which the color blind can tell apart, less the yellow that does
not show on white. Every line has a dash pattern and a marker of its own as well, for print in gray.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tempocal.errors import InputError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

COLORS = ("#d55e00", "#000000", "#0072b2", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
DASHES: tuple[Any, ...] = ("-", (0, (5, 1.5)), (0, (1, 1.2)), (0, (6, 1.5, 1, 1.5)), (0, (9, 2)))
MARKERS = "os^DvPX"
REFERENCE: dict[str, Any] = {"color": "0.55", "linewidth": 1.0, "zorder": 1.0}
# Color of entries in a legend that stand for all lines.
NEUTRAL = "0.35"
BAND: dict[str, Any] = {"alpha": 0.22, "linewidth": 0.0, "zorder": 1.5}
# Inches that a panel is wide at least, where the axes they share are narrow.
NARROWEST = 1.5


def matplotlib(module: str) -> Any:
    """Import a module of matplotlib, which is optional and slow to load."""
    try:
        return import_module(f"matplotlib.{module}")
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "matplotlib":
            raise
        raise ImportError(
            'tempocal.plots needs matplotlib, which is not installed: pip install "tempocal[plots]"'
        ) from error


def text_color() -> str:
    """Black, unless the user's style writes in another color, as dark ones do."""
    return str(matplotlib("pyplot").rcParams["text.color"])


def line_style(position: int) -> dict[str, Any]:
    """Color, dashes and marker of the line that is drawn as number 0, 1, ..."""
    color = COLORS[position % len(COLORS)]
    return {
        "color": text_color() if color == "#000000" else color,
        "linestyle": DASHES[position % len(DASHES)],
        "marker": MARKERS[position % len(MARKERS)],
        "markersize": 4.0,
        "linewidth": 1.5,
        "zorder": 2.5,
    }


def axes_or_new(ax: "Axes | None", figsize: tuple[float, float]) -> "Axes":
    """Return the axes that were given, or those of a new figure."""
    if ax is not None:
        return ax
    new: Axes = matplotlib("pyplot").subplots(figsize=figsize, layout="constrained")[1]
    return new


def update_layout(ax: "Axes") -> None:
    """Let the figure's layout give the axes their size, where what fits into them depends on it."""
    figure = ax.figure.figure
    if figure.get_layout_engine() is not None:
        figure.draw_without_rendering()


def set_fitting_ylabel(ax: "Axes", text: str) -> None:
    """Name the vertical axis; what is explained on a second line only if it fits."""
    label = ax.set_ylabel(text)
    if label.get_window_extent().height > 0.85 * ax.get_window_extent().height:
        ax.set_ylabel(text.split("\n", maxsplit=1)[0])


@dataclass(frozen=True)
class Panels:
    """Axes of small multiples, and the (sub)figure that holds nothing else; None if the user's."""

    axes: list["Axes"]
    whole: "Figure | SubFigure | None"


def panels(
    ax: "Axes | Sequence[Axes] | NDArray[Any] | None",
    count: int,
    *,
    columns: int | None,
    size: tuple[float, float],
    sharey: bool = False,
) -> Panels:
    """Return as many axes as asked for: new ones, parts of the given axes, or the given ones."""
    if ax is None:
        columns = min(count, columns or (2 if count == 4 else 3))
        figsize = (columns * size[0], -(-count // columns) * size[1])
        whole = matplotlib("pyplot").figure(figsize=figsize, layout="constrained")
    elif isinstance(ax, Sequence | np.ndarray):
        given = list(np.ravel(np.asarray(ax, dtype=object)))
        if len(given) != count:
            raise InputError(f"ax has {len(given)} axes, but {count} panels are to be drawn")
        return Panels(given, None)
    elif count == 1:
        return Panels([ax], None)
    else:
        whole = _in_place_of(ax, count)
    columns = columns or int(np.clip(whole.bbox.width / whole.dpi // NARROWEST, 1, min(count, 3)))
    rows = -(-count // columns)
    margins = _margins(whole)
    share: Any = {"sharex": True, "sharey": sharey, "squeeze": False, "gridspec_kw": margins}
    grid = whole.subplots(rows, columns, **share).ravel()
    for position, spare in enumerate(grid[count:], start=count):
        spare.remove()
        # With nothing below, the panel above must show the numbers of its axis.
        grid[position - columns].tick_params(labelbottom=True)
    return Panels(list(grid[:count]), whole)


def _margins(whole: "Figure | SubFigure") -> dict[str, float]:
    """Inches for names and the legend, where no layout engine makes room, as shares."""
    if whole.figure.get_layout_engine() is not None:
        return {}
    width, height = whole.bbox.width / whole.dpi, whole.bbox.height / whole.dpi
    left, bottom, top = min(0.8 / width, 0.4), min(0.7 / height, 0.3), min(0.9 / height, 0.3)
    return {"left": left, "right": 0.97, "bottom": bottom, "top": 1 - top, "hspace": 0.5}


def _in_place_of(ax: "Axes", count: int) -> "SubFigure":
    spec, figure = ax.get_subplotspec(), ax.figure
    if spec is None:
        raise InputError(
            f"ax has no place in a grid that could be divided into {count} panels: "
            f"pass axes made by subplots, or a list of {count} axes"
        )
    ax.set_axis_off()
    return figure.add_subfigure(spec, facecolor="none")


def draw_band(ax: "Axes", x: Any, lower: Any, upper: Any, **style: Any) -> None:
    """Shade an interval around a line; a single point has no area, and gets a bar."""
    if len(x) > 1:
        ax.fill_between(x, lower, upper, **{**BAND, **style})
    elif len(x) == 1:
        bar = {"alpha": 1.4 * BAND["alpha"], "linewidth": 4.0, "zorder": BAND["zorder"]}
        ax.vlines(x, lower, upper, **{**bar, **style})

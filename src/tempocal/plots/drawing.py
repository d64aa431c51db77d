"""Shared by all displays: axes, line styles and bands.

Colors are those of Okabe and Ito, which are safe for color blindness, without the yellow that is
invisible on white. Each line also has its own dash pattern and marker, for gray print.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib import import_module
from itertools import count
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
# Color of legend entries that refer to all lines.
NEUTRAL = "0.35"
BAND: dict[str, Any] = {"alpha": 0.22, "linewidth": 0.0, "zorder": 1.5}
# Points between the whiskers of two methods at the same time.
DODGE = 4.0
# Smallest width of a panel in inches, where given axes are divided.
MIN_PANEL_WIDTH = 1.5


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
    """Text color of the user's style: black, except in dark styles."""
    return str(matplotlib("pyplot").rcParams["text.color"])


def line_style(position: int) -> dict[str, Any]:
    """Color, dashes and marker of line number 0, 1, ..."""
    color = COLORS[position % len(COLORS)]
    return {
        "color": text_color() if color == "#000000" else color,
        "linestyle": DASHES[position % len(DASHES)],
        "marker": MARKERS[position % len(MARKERS)],
        "markersize": 4.0,
        "linewidth": 1.5,
        "zorder": 2.5,
    }


# A method that goes by one of these names has the same style in every picture and in the report.
METHOD_STYLES = {
    "raw": 0,
    "before": 0,
    "global": 1,
    "along time": 2,
    "calibrated": 2,
    "after": 2,
    "gain": 2,
    "truth": 3,
}


def method_styles(names: Iterable[str | None]) -> dict[str | None, dict[str, Any]]:
    """Return the style of each method: by its name if that is a known one, else one that is free.

    Of two methods whose names share a style, the second takes a free one too.
    """
    chosen: dict[str | None, int] = {}
    names = list(names)
    for name in names:
        position = METHOD_STYLES.get(name or "")
        if position is not None and position not in chosen.values():
            chosen[name] = position
    free = (k for k in count() if k not in chosen.values())
    return {name: line_style(chosen[name] if name in chosen else next(free)) for name in names}


def dodged(ax: "Axes", position: int, count: int) -> Any:
    """Return the transform of data that is drawn a little aside, method by method.

    The offset is in points, so that the data stays what it is, on an axis of any kind.
    """
    offset = DODGE * (position - 0.5 * (count - 1)) / 72.0
    translation = matplotlib("transforms").ScaledTranslation
    return ax.transData + translation(offset, 0.0, ax.figure.figure.dpi_scale_trans)


def axes_or_new(ax: "Axes | None", figsize: tuple[float, float]) -> "Axes":
    """Return the given axes, or those of a new figure."""
    if ax is not None:
        return ax
    new: Axes = matplotlib("pyplot").subplots(figsize=figsize, layout="constrained")[1]
    return new


def update_layout(ax: "Axes") -> None:
    """Run the layout engine of the figure, so that the size of the axes is known."""
    figure = ax.figure.figure
    if figure.get_layout_engine() is not None:
        figure.draw_without_rendering()


def set_fitting_ylabel(ax: "Axes", text: str) -> None:
    """Label the vertical axis; the second line of the text is dropped if it does not fit."""
    label = ax.set_ylabel(text)
    if label.get_window_extent().height > 0.85 * ax.get_window_extent().height:
        ax.set_ylabel(text.split("\n", maxsplit=1)[0])


@dataclass(frozen=True)
class Panels:
    """Axes of small multiples, and the (sub)figure made for them; None for the user's own axes."""

    axes: list["Axes"]
    figure: "Figure | SubFigure | None"


def panels(
    ax: "Axes | Sequence[Axes] | NDArray[Any] | None",
    count: int,
    *,
    columns: int | None,
    size: tuple[float, float],
    sharey: bool = False,
) -> Panels:
    """Return ``count`` axes: new ones, parts of the given axes, or the given ones."""
    if ax is None:
        columns = min(count, columns or (2 if count == 4 else 3))
        figsize = (columns * size[0], -(-count // columns) * size[1])
        figure = matplotlib("pyplot").figure(figsize=figsize, layout="constrained")
    elif isinstance(ax, Sequence | np.ndarray):
        given = list(np.ravel(np.asarray(ax, dtype=object)))
        if len(given) != count:
            raise InputError(f"ax has {len(given)} axes, but {count} panels are to be drawn")
        return Panels(given, None)
    elif count == 1:
        return Panels([ax], None)
    else:
        figure = _subfigure_in_place_of(ax, count)
    if not columns:
        fitting = figure.bbox.width / figure.dpi // MIN_PANEL_WIDTH
        columns = int(np.clip(fitting, 1, min(count, 3)))
    rows = -(-count // columns)
    margins = _margins(figure)
    share: Any = {"sharex": True, "sharey": sharey, "squeeze": False, "gridspec_kw": margins}
    grid = figure.subplots(rows, columns, **share).ravel()
    for position, spare in enumerate(grid[count:], start=count):
        spare.remove()
        # The panel above the gap needs its own tick labels.
        grid[position - columns].tick_params(labelbottom=True)
    return Panels(list(grid[:count]), figure)


def _margins(figure: "Figure | SubFigure") -> dict[str, float]:
    """Room for labels and the legend, as shares, in a figure without a layout engine."""
    if figure.figure.get_layout_engine() is not None:
        return {}
    width, height = figure.bbox.width / figure.dpi, figure.bbox.height / figure.dpi
    left, bottom, top = min(0.8 / width, 0.4), min(0.7 / height, 0.3), min(0.9 / height, 0.3)
    return {"left": left, "right": 0.97, "bottom": bottom, "top": 1 - top, "hspace": 0.5}


def _subfigure_in_place_of(ax: "Axes", count: int) -> "SubFigure":
    spec, figure = ax.get_subplotspec(), ax.figure
    if spec is None:
        raise InputError(
            f"ax has no place in a grid that could be divided into {count} panels: "
            f"pass axes made by subplots, or a list of {count} axes"
        )
    ax.set_axis_off()
    return figure.add_subfigure(spec, facecolor="none")


def draw_band(ax: "Axes", x: Any, lower: Any, upper: Any, **style: Any) -> None:
    """Shade an interval around a line; draw a bar for a single point."""
    if len(x) > 1:
        ax.fill_between(x, lower, upper, **{**BAND, **style})
    elif len(x) == 1:
        bar = {"alpha": 1.4 * BAND["alpha"], "linewidth": 4.0, "zorder": BAND["zorder"]}
        ax.vlines(x, lower, upper, **{**bar, **style})

"""Heat maps of parameters over two clocks."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tempocal.links import Array
from tempocal.plots.curve_lines import identity, meaning
from tempocal.plots.drawing import matplotlib, panels, set_fitting_ylabel
from tempocal.plots.time_axis import time_scale

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def draw_heat_maps(
    ax: Any,
    clocks: tuple[NDArray[Any], ...],
    values: dict[str, Array],
    classes: NDArray[Any] | None,
    names: tuple[str, str],
) -> list["Axes"]:
    """Draw one heat map for each parameter, or for each parameter and class."""
    maps = [entry for name, each in values.items() for entry in _maps(name, each, classes)]
    columns = min(len(maps), 3)
    made = panels(ax, len(maps), columns=columns, size=(4.6, 3.6), sharey=True)
    for panel, (name, title, numbers) in zip(made.axes, maps, strict=True):
        _draw(panel, clocks, numbers, name)
        panel.set(xlabel=time_scale(clocks[0]).label(names[0]))
        panel.set(ylabel=time_scale(clocks[1]).label(names[1]), title=title)
    return made.axes


def _maps(name: str, values: Array, classes: NDArray[Any] | None) -> list[tuple[str, str, Array]]:
    if values.ndim == 2:
        return [(name, "", values)]
    if values.ndim == 4:
        values = np.einsum("abkk->abk", values)
    labels = np.arange(values.shape[2]) if classes is None else classes
    return [(name, f"class {label}", values[:, :, k]) for k, label in enumerate(labels)]


def _draw(ax: "Axes", clocks: tuple[NDArray[Any], ...], numbers: Array, name: str) -> None:
    """Color by the difference to the identity; contour lines show its sign in gray print too."""
    x, y = (time_scale(clock).numbers(clock) for clock in clocks)
    neutral, shown = identity(name), np.ma.masked_invalid(numbers.T)
    half_range = max(float(np.abs(shown - neutral).max()), 1e-3)
    norm = matplotlib("colors").CenteredNorm(neutral, half_range)
    style: Any = {"cmap": "PuOr_r", "norm": norm, "shading": "nearest", "rasterized": True}
    mesh = ax.pcolormesh(x, y, shown, **style)
    levels = matplotlib("ticker").MaxNLocator(6).tick_values(shown.min(), shown.max())
    inside = levels[(levels > shown.min()) & (levels < shown.max())]
    if len(inside):
        dashes = ["--" if level < neutral else "-" for level in inside]
        lines = ax.contour(
            x, y, shown, levels=inside, colors="black", linewidths=0.8, linestyles=dashes
        )
        ax.clabel(lines, fontsize="x-small", fmt="%g")
    for k, axis in enumerate((ax.xaxis, ax.yaxis)):
        if clocks[k].dtype.kind == "M":
            dates = matplotlib("dates")
            axis.set_major_formatter(dates.ConciseDateFormatter(axis.get_major_locator()))
    set_fitting_ylabel(ax.figure.colorbar(mesh, ax=ax).ax, meaning(name))
    if np.ma.is_masked(shown):
        ax.patch.set(hatch="////", edgecolor="0.6", linewidth=0.0)
        empty = matplotlib("patches").Patch(facecolor="white", edgecolor="0.6", hatch="////")
        ax.legend([empty], ["no rows"], loc="lower left", bbox_to_anchor=(0, 1), frameon=False)

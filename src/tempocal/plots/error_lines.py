"""Draw a metric over time: lines, bands, upper bounds and the sampling floor."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tempocal.links import Array
from tempocal.metrics import OverTime
from tempocal.plots.drawing import NEUTRAL, draw_band
from tempocal.plots.legends import interval_label, new_label
from tempocal.plots.time_axis import TimeScale

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FLOOR = "sampling floor (chance alone)"
BOUND = "hollow: only an upper bound"


def draw_table(
    ax: "Axes",
    table: OverTime,
    style: dict[str, Any],
    scale: TimeScale,
    *,
    band: bool,
    whiskers: Any,
) -> Any:
    """Draw one method: line, band, and upper bounds where the error may be all noise.

    ``whiskers`` is the transform of the bounds and of the points that they belong to.
    """
    known = np.isfinite(table.value)
    time, value, upper = (
        scale.numbers(table.time_middle[known]),
        table.value[known],
        table.upper[known],
    )
    weak = np.asarray(table.only_upper[known], dtype=bool)
    if band:
        label = interval_label(table.level, grouped=table.n_groups is not None)
        for run in _runs(~weak):
            shade: Any = {"color": style["color"], "label": new_label(ax, label)}
            draw_band(ax, time[run], table.lower[known][run], upper[run], **shade)
        look: Any = {"color": style["color"], "transform": whiskers}
        _draw_bounds(ax, time[weak], value[weak], upper[weak], look)
    (line,) = ax.plot(time, value, **style)
    if weak.any():
        hollow = {
            **style,
            "linestyle": "none",
            "mfc": ax.get_facecolor(),
            "zorder": 2.6,
            "label": None,
            "transform": whiskers if band else ax.transData,
        }
        ax.plot(time[weak], value[weak], **hollow)
    return line


def _runs(mask: NDArray[np.bool_]) -> list[NDArray[np.intp]]:
    """Return the positions of each run of successive points."""
    positions = np.flatnonzero(mask)
    runs = np.split(positions, np.flatnonzero(np.diff(positions) > 1) + 1)
    return [run for run in runs if len(run)]


def _draw_bounds(ax: "Axes", time: Any, value: Array, upper: Array, look: dict[str, Any]) -> None:
    """Draw the upper bound of errors that may be zero."""
    if len(time):
        ax.vlines(time, value, upper, linewidth=0.7, alpha=0.7, zorder=1.8, **look)
        cap: Any = {"marker": "_", "markersize": 5.0, "linestyle": "none", **look}
        ax.plot(time, upper, alpha=0.7, zorder=1.8, **cap)
        gray: Any = {"marker": "o", "mfc": ax.get_facecolor(), "color": NEUTRAL, "markersize": 4.0}
        ax.plot([], [], linewidth=0.7, label=new_label(ax, BOUND), **gray)


def shade_floor(ax: "Axes", tables: list[OverTime], scale: TimeScale) -> None:
    """Hatch the area below the floor; if methods share their time bins, below the highest floor."""
    first, floors = tables[0], [(each, each.floor) for each in tables]
    if all(np.array_equal(each.time_middle, first.time_middle) for each in tables):
        floors = [(first, np.max([each.floor for each in tables], axis=0))]
    style: Any = {"facecolor": "none", "edgecolor": "0.7", "hatch": "////", "alpha": 1.0}
    for table, floor in floors:
        known = np.isfinite(floor)
        time, height = scale.numbers(table.time_middle[known]), floor[known]
        label = new_label(ax, FLOOR)
        draw_band(ax, time, np.zeros(len(time)), height, zorder=1.0, label=label, **style)


def is_error(table: OverTime) -> bool:
    """Whether the metric is a calibration error, whose best value is 0."""
    return "ECE" in table.estimator or "calibration error" in table.estimator


def metric_name(tables: list[OverTime]) -> str:
    """Return the axis label; the settings of the metric go on a second line."""
    names = list(dict.fromkeys(table.estimator for table in tables))
    return "; ".join(names).replace(", ", "\n", 1)

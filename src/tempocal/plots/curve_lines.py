"""Draw one parameter along time: its curve, or one for each class, with band and points."""

from typing import TYPE_CHECKING, Any

import numpy as np

from tempocal.links import Array
from tempocal.plots.drawing import (
    BAND,
    NEUTRAL,
    REFERENCE,
    draw_band,
    line_style,
    set_fitting_ylabel,
)
from tempocal.plots.legends import interval_label, new_label
from tempocal.plots.time_axis import TimeScale

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from tempocal.plots.curve_display import CurveDisplay

# Parameters whose value for the identity map is not 1, and labels of the axes.
IDENTITY = {"bias": 0.0, "c": 0.0}
MEANING = {
    "inverse_temperature": "inverse temperature\n(below 1: less sure)",
    "slope": "slope\n(below 1: less sure)",
    "weights": "weight of its logit\n(below 1: less sure)",
    "bias": "bias\n(added log-odds)",
    "a": "a\n(weight of log p)",
    "b": "b\n(weight of -log(1 - p))",
    "c": "c\n(added log-odds)",
}
UNCHANGED = "predictions unchanged"
OTHERS = "weights of the other classes' logits"


def meaning(name: str) -> str:
    """Return the axis label of a parameter."""
    return MEANING.get(name, name.replace("_", " "))


def identity(name: str) -> float:
    """Value of a parameter in the identity map."""
    return IDENTITY.get(name, 1.0)


def draw_lines(
    ax: "Axes",
    display: "CurveDisplay",
    name: str,
    scale: TimeScale,
    one_class: int | None = None,
) -> None:
    """Draw one parameter of a display, of all classes or of one."""
    time = scale.numbers(display.clocks[0])
    values = _by_class(display.values[name])
    several = values.shape[1] > 1
    ax.axhline(identity(name), label=UNCHANGED, **REFERENCE)
    for k, line in enumerate(values.T):
        if one_class not in (None, k):
            continue
        style: Any = {**line_style(k if several else 2), "marker": None}
        style["linestyle"] = style["linestyle"] if several else "-"
        if display.lower is not None and display.upper is not None:
            label = new_label(ax, interval_label(display.level, grouped=display.grouped))
            limits = (_by_class(limit[name])[:, k] for limit in (display.lower, display.upper))
            thin = {"alpha": BAND["alpha"] * (0.6 if several else 1.0)}
            draw_band(ax, time, *limits, color=style["color"], label=label, **thin)
        # A class with a panel of its own has its name in the title, not in the legend.
        hidden = "" if one_class is None else "_"
        ax.plot(time, line, label=hidden + _line_name(display, k, values.shape[1]), **style)
    if display.values[name].ndim == 3:
        _draw_off_diagonal(ax, time, display.values[name])
    if display.points is not None:
        _draw_points(ax, display, name, scale, one_class)
    if one_class is not None:
        ax.set_title(_line_name(display, one_class, values.shape[1]), fontsize="medium")
    if not one_class:
        set_fitting_ylabel(ax, meaning(name))
    _set_limits(ax, display, name)


def _by_class(values: Array) -> Array:
    """Return one column for each line; of matrices the diagonal."""
    if values.ndim == 3:
        return np.asarray(np.einsum("tkk->tk", values))
    return values.reshape(len(values), -1)


def _draw_off_diagonal(ax: "Axes", time: Any, matrices: Array) -> None:
    off = ~np.eye(matrices.shape[1], dtype=bool)
    style: Any = {"color": NEUTRAL, "linewidth": 0.6, "linestyle": ":", "zorder": 2.0}
    first, *rest = matrices[:, off].T
    ax.plot(time, first, label=OTHERS, **style)
    for line in rest:
        ax.plot(time, line, **style)


def _draw_points(
    ax: "Axes",
    display: "CurveDisplay",
    name: str,
    scale: TimeScale,
    one_class: int | None,
) -> None:
    points = display.points
    assert points is not None
    time, values = scale.numbers(points.clocks[0]), _by_class(points.values[name])
    for k, column in enumerate(values.T):
        if one_class not in (None, k):
            continue
        style = line_style(k if values.shape[1] > 1 else 1)
        marker = {key: style[key] for key in ("color", "marker")}
        ax.plot(time, column, linestyle="none", markersize=4.0, mfc="none", **marker)
    gray: Any = {"color": NEUTRAL, "marker": "s", "markersize": 4.0, "mfc": "none"}
    ax.plot([], [], linestyle="none", label=display.points_name, **gray)


def _line_name(display: "CurveDisplay", k: int, count: int) -> str:
    if count == 1:
        return "fitted curve"
    return f"class {k if display.classes is None else display.classes[k]}"


def _set_limits(ax: "Axes", display: "CurveDisplay", name: str) -> None:
    """Set limits that show curve and points in detail, also if a band is much wider."""
    shown = [display.values[name].ravel(), np.array([identity(name)])]
    shown += [] if display.points is None else [display.points.values[name].ravel()]
    core = np.concatenate(shown)
    span = max(float(np.ptp(core)), 0.2)
    low, high = float(core.min()), float(core.max())
    if display.lower is not None and display.upper is not None:
        low = max(min(low, float(display.lower[name].min())), low - span)
        high = min(max(high, float(display.upper[name].max())), high + span)
    margin = 0.05 * (high - low)
    ax.set_ylim(low - margin, high + margin)

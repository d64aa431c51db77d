"""What a correction, or another model, gains over time, with its zero line."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tempocal.errors import InputError
from tempocal.metrics import GainOverTime, gain_over_time, nll
from tempocal.plots.drawing import REFERENCE, axes_or_new, draw_band, method_styles
from tempocal.plots.legends import LegendPosition, add_legend, interval_label, new_label
from tempocal.plots.time_axis import TimeScale, time_scale

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

ZERO = "no gain"
SURE = {"helps": "filled: surely helps", "hurts": "crossed: surely hurts"}


class GainOverTimeDisplay:
    """The gain of one or several methods in each time bin, with bands and a line at zero.

    Above the line the predictions after are better. Hollow points may be chance. Filled ones surely
    help, and crossed ones surely hurt: their simultaneous interval, which holds in all time bins
    together, excludes zero. The bands are intervals of one time bin.

    Parameters
    ----------
    tables : dict of GainOverTime
        The result of `tempocal.metrics.gain_over_time` for each method, by name.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes.
    figure_ : matplotlib Figure
        The figure of the axes.
    lines_ : dict of matplotlib Line2D
        The line of each method.

    Examples
    --------
    >>> import tempocal as tc
    >>> matches = tc.datasets.simulate_match(500)
    >>> display = tc.plots.GainOverTimeDisplay.from_predictions(
    ...     matches.label,
    ...     matches.logits,
    ...     {"truth": matches.true_probability},
    ...     time=matches.time,
    ...     sequence=matches.sequence,
    ...     inputs=("logits", "proba"),
    ...     bins=3,
    ... )
    >>> display.tables["truth"].effect.tolist()
    ['helps', '', '']
    >>> display.plot(time_name="rounds played").ax_.get_xlabel()
    'rounds played'
    """

    ax_: "Axes"
    figure_: "Figure | SubFigure"
    lines_: dict[str, Any]

    def __init__(self, tables: Mapping[str, GainOverTime]) -> None:
        self.tables = dict(tables)
        if not self.tables:
            raise InputError("tables is empty: pass a table for each method, by name")

    @classmethod
    def from_predictions(
        cls,
        y: ArrayLike,
        before: ArrayLike,
        after: ArrayLike | Mapping[str, ArrayLike],
        *,
        time: Any,
        sequence: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        metric: Callable[..., float] = nll,
        bins: Any = 20,
        **settings: Any,
    ) -> Self:
        """Compute the tables from labels, two or more sets of predictions, and times.

        Parameters
        ----------
        y, before, time, sequence, groups, metric, bins
            As in `tempocal.metrics.gain_over_time`.
        after : array-like, or dict of array-like
            Predictions of one method, or of several by name.
        **settings
            Passed to `tempocal.metrics.gain_over_time`, such as ``inputs``.
        """
        methods = after if isinstance(after, Mapping) else {"gain": after}
        settings = {"bins": bins, "sequence": sequence, "groups": groups, **settings}
        return cls(
            {
                name: gain_over_time(metric, y, before, each, time, **settings)
                for name, each in methods.items()
            }
        )

    def plot(
        self,
        ax: "Axes | None" = None,
        *,
        log_time: bool = False,
        time_name: str = "time",
        band: bool = True,
        legend: LegendPosition = "above",
    ) -> Self:
        """Draw the gain of each method over time.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw into; by default those of a new figure.
        log_time : bool
            Whether the time axis is logarithmic.
        time_name : str
            Label of the time axis, such as "rounds played".
        band : bool
            Whether to draw the intervals.
        legend : {"above", "right", "none"}
            Position of the legend, outside the axes. Above, it takes the place of a title.
        """
        self.ax_ = axes_or_new(ax, figsize=(6.0, 4.2))
        self.figure_ = self.ax_.figure
        scale = time_scale(*self._times())
        self.ax_.axhline(0.0, label=ZERO, **{**REFERENCE, "linewidth": 1.4})
        styles, self.lines_ = method_styles(self.tables), {}
        for name, table in self.tables.items():
            style = {**styles[name], "label": name}
            self.lines_[name] = _draw(self.ax_, table, style, scale, band)
        scale.format(self.ax_, *self._times(), log=log_time)
        self.ax_.set_xlabel(scale.label(time_name))
        names = dict.fromkeys(table.estimator for table in self.tables.values())
        self.ax_.set_ylabel("; ".join(names).replace(", ", "\n", 1) + "\n(above 0: better)")
        add_legend(self.ax_, legend)
        return self

    def _times(self) -> list[NDArray[Any]]:
        return [table.time_middle for table in self.tables.values()]


def _draw(
    ax: "Axes", table: GainOverTime, style: dict[str, Any], scale: TimeScale, band: bool
) -> Any:
    """Draw one method; the marker of a point says what is sure there."""
    known = np.isfinite(table.value)
    time, value = scale.numbers(table.time_middle[known]), table.value[known]
    if band:
        label = new_label(ax, interval_label(table.level, grouped=table.n_groups is not None))
        limits = (each[known] for each in (table.lower, table.upper))
        draw_band(ax, time, *limits, color=style["color"], label=label)
    (line,) = ax.plot(time, value, **{**style, "mfc": ax.get_facecolor()})
    for effect, text in SURE.items():
        sure = table.effect[known] == effect
        if sure.any():
            marker = style["marker"] if effect == "helps" else "X"
            size = 4.0 if effect == "helps" else 7.0
            look = {"color": style["color"], "linestyle": "none", "marker": marker}
            ax.plot(time[sure], value[sure], markersize=size, zorder=2.7, **look)
            gray: Any = {"color": "0.35", "linestyle": "none", "marker": marker}
            ax.plot([], [], markersize=size, label=new_label(ax, text), **gray)
    return line

"""A metric over time for several methods: the figures of ECE over length in the paper."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Self

from numpy.typing import ArrayLike, NDArray

from tempocal.errors import InputError
from tempocal.metrics import OverTime, ece, over_time
from tempocal.plots.drawing import axes_or_new, dodged, method_styles, set_fitting_ylabel
from tempocal.plots.error_lines import draw_table, is_error, metric_name, shade_floor
from tempocal.plots.legends import LegendPosition, add_legend
from tempocal.plots.time_axis import time_scale

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure


class ErrorOverTimeDisplay:
    """Calibration error, or any metric, in each time bin, with bands and the sampling floor.

    The hatched area is the sampling floor: the error that perfect probabilities would show on as
    many sequences. An error in it is no evidence of miscalibration. Hollow points are below twice
    the floor and may be all noise; a line up to the upper bound of the error replaces their band.
    Metrics that are not calibration errors, such as the NLL, have no hatched area.

    Parameters
    ----------
    tables : dict of OverTime
        The result of `tempocal.metrics.over_time` for each method, by name.

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
    >>> import numpy as np
    >>> import tempocal as tc
    >>> matches = tc.datasets.simulate_match(500)
    >>> display = tc.plots.ErrorOverTimeDisplay.from_predictions(
    ...     matches.label,
    ...     {"raw": 1 / (1 + np.exp(-matches.logits)), "truth": matches.true_probability},
    ...     time=matches.time,
    ...     groups=matches.sequence,
    ...     bins=3,
    ... )
    >>> display.tables["raw"].value.round(2)
    array([0.11, 0.03, 0.01])
    >>> display.plot(time_name="rounds played").ax_.get_xlabel()
    'rounds played'
    """

    ax_: "Axes"
    figure_: "Figure | SubFigure"
    lines_: dict[str, Any]

    def __init__(self, tables: Mapping[str, OverTime]) -> None:
        self.tables = dict(tables)
        if not self.tables:
            raise InputError("tables is empty: pass a table for each method, by name")

    @classmethod
    def from_predictions(
        cls,
        y: ArrayLike,
        proba: ArrayLike | Mapping[str, ArrayLike],
        *,
        time: Any,
        sequence: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        metric: Callable[..., float] = ece,
        bins: Any = 20,
        **settings: Any,
    ) -> Self:
        """Compute the tables from labels, probabilities and times.

        Parameters
        ----------
        y, time, sequence, groups, metric, bins
            As in `tempocal.metrics.over_time`.
        proba : array-like, or dict of array-like
            Probabilities of one method, or of several by name.
        **settings
            Passed to `tempocal.metrics.over_time`, such as ``level``.
        """
        methods = proba if isinstance(proba, Mapping) else {"predictions": proba}
        settings = {"bins": bins, "sequence": sequence, "groups": groups, **settings}
        return cls(
            {name: over_time(metric, y, each, time, **settings) for name, each in methods.items()}
        )

    def plot(
        self,
        ax: "Axes | None" = None,
        *,
        log_time: bool = False,
        time_name: str = "time",
        band: bool = True,
        floor: bool = True,
        legend: LegendPosition = "above",
    ) -> Self:
        """Draw the metric of each method over time.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw into; by default those of a new figure.
        log_time : bool
            Whether the time axis is logarithmic, as in the paper's figures of text.
        time_name : str
            Label of the time axis, such as "rounds played".
        band, floor : bool
            Whether to draw the intervals, and the sampling floor.
        legend : {"above", "right", "none"}
            Position of the legend, outside the axes. Above, it takes the place of a title.
        """
        self.ax_ = axes_or_new(ax, figsize=(6.0, 4.2))
        self.figure_ = self.ax_.figure
        scale = time_scale(*self._times())
        styles, self.lines_ = method_styles(self.tables), {}
        for position, (name, table) in enumerate(self.tables.items()):
            style = {**styles[name], "label": name}
            whiskers = dodged(self.ax_, position, len(self.tables))
            self.lines_[name] = draw_table(
                self.ax_, table, style, scale, band=band, whiskers=whiskers
            )
        tables = list(self.tables.values())
        errors = all(map(is_error, tables))
        if floor and errors:
            shade_floor(self.ax_, tables, scale)
        scale.format(self.ax_, *self._times(), log=log_time)
        self.ax_.set_xlabel(scale.label(time_name))
        set_fitting_ylabel(self.ax_, metric_name(tables))
        if errors:
            self.ax_.set_ylim(bottom=0.0)
        add_legend(self.ax_, legend)
        return self

    def _times(self) -> list[NDArray[Any]]:
        return [table.time_middle for table in self.tables.values()]

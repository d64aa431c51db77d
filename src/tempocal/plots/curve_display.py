"""Parameters of a calibrator along time, or over two clocks, with confidence bands."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tempocal.errors import InputError
from tempocal.links import Array
from tempocal.plots.curve_lines import draw_lines
from tempocal.plots.curve_numbers import (
    count_clocks,
    one_point_per_model,
    read_curve,
    read_grid,
    times_to_draw,
)
from tempocal.plots.drawing import panels
from tempocal.plots.heat_map import draw_heat_maps
from tempocal.plots.legends import add_shared_legend
from tempocal.plots.time_axis import time_scale

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

Numbers = Mapping[str, Array]
# With more classes than this, their lines share a panel.
MAX_CLASS_PANELS = 6


class CurveDisplay:
    r"""Inverse temperature, or slope and bias, along time: one panel for each parameter.

    Parameters
    ----------
    time : array-like of shape (n,), or pair of them
        Times in ascending order; with two clocks, the times of each, which span a grid.
    values : dict of ndarray
        Parameters by name, of shape (n,); (n, K) for one of each class and (n, K, K) for matrices.
        Over two clocks (n, m) or (n, m, K); NaN is left blank.
    lower, upper : dict of ndarray, optional
        Limits of the confidence bands, of the same shapes.
    level : float
        Confidence level of the bands.
    grouped : bool
        Whether the bands are over groups, or take rows as independent.
    points : CurveDisplay, optional
        Estimates to draw as points, such as one for each step.
    points_name : str
        Label of the points in the legend.
    classes : array-like of shape (K,), optional
        Names of the classes.

    Attributes
    ----------
    axes_ : list of matplotlib Axes
        One for each parameter, or for each parameter and class; ``ax_`` is the first.
    figure_ : matplotlib Figure
        The figure of the axes.

    Examples
    --------
    >>> import tempocal as tc
    >>> matches = tc.datasets.simulate_match(300)
    >>> cal = tc.TemporalCalibrator(tc.PlattScaling(), tc.Spline()).fit(
    ...     matches.logits, matches.label, time=matches.time, groups=matches.sequence
    ... )
    >>> display = tc.plots.CurveDisplay.from_estimator(cal, time=matches.time)
    >>> display.values["slope"][[0, 24]].round(1)
    array([0.3, 1.2])
    >>> [ax.get_ylabel() for ax in display.plot(time_name="rounds played").axes_]
    ['slope\n(below 1: less sure)', 'bias\n(added log-odds)']
    """

    ax_: "Axes"
    axes_: list["Axes"]
    figure_: "Figure | SubFigure"

    def __init__(
        self,
        time: ArrayLike | tuple[ArrayLike, ArrayLike],
        values: Numbers,
        *,
        lower: Numbers | None = None,
        upper: Numbers | None = None,
        level: float = 0.95,
        grouped: bool = True,
        points: "CurveDisplay | None" = None,
        points_name: str = "one estimate for each step",
        classes: ArrayLike | None = None,
    ) -> None:
        self.clocks = tuple(map(np.asarray, time if isinstance(time, tuple) else (time,)))
        self.values = {name: np.asarray(each) for name, each in values.items()}
        self.lower, self.upper = lower, upper
        self.level = level
        self.grouped = grouped
        self.points = points
        self.points_name = points_name
        self.classes = None if classes is None else np.asarray(classes)
        shape = tuple(map(len, self.clocks))
        for name, each in self.values.items():
            if each.shape[: len(shape)] != shape:
                raise InputError(
                    f"values[{name!r}] must have a number for each time, of shape {shape} or "
                    f"more, but its shape is {each.shape}"
                )

    @classmethod
    def from_estimator(
        cls, estimator: Any, time: Any, *, level: float = 0.95, per_step: Any = None
    ) -> Self:
        """Evaluate the parameters of a fitted calibrator.

        Parameters
        ----------
        estimator : calibrator along time
            An object with ``parameters_at(time)`` and optionally ``interval_at(time, level)``.
        time : array-like of shape (n,) or (n, 2)
            The times of the rows, in any order, or the times to show. With two clocks, cells
            that rows do not surround are left blank.
        level : float
            Confidence level of the bands.
        per_step : calibrator along time, optional
            Another calibrator, such as with the curve `PerStep`, whose values are drawn as points.
        """
        classes = getattr(estimator, "classes_", None)
        if count_clocks(time) == 2:
            clocks, values = read_grid(estimator, time)
            return cls(clocks, values, classes=classes)
        times = times_to_draw(time)
        curve = read_curve(estimator, times, level)
        points = None
        if per_step is not None:
            points = cls(*one_point_per_model(times, per_step.parameters_at(times)))
        return cls(times, **curve, level=level, points=points, classes=classes)

    def plot(
        self,
        ax: "Axes | Sequence[Axes] | NDArray[Any] | None" = None,
        *,
        time_name: str | tuple[str, str] = "time",
        log_time: bool = False,
    ) -> Self:
        """Draw the curves, or heat maps for two clocks.

        Parameters
        ----------
        ax : matplotlib Axes or sequence of them, optional
            Axes to draw into; by default those of a new figure. A single axes is divided if there
            are several parameters or classes; a sequence has one axes for each parameter, or for
            each parameter and class.
        time_name : str, or pair of str for two clocks
            Label of the time axis, such as "rounds played".
        log_time : bool
            Whether the time axis is logarithmic.
        """
        if len(self.clocks) == 2:
            names = (time_name, f"second {time_name}") if isinstance(time_name, str) else time_name
            self.axes_ = draw_heat_maps(ax, self.clocks, self.values, self.classes, names)
            self.ax_, self.figure_ = self.axes_[0], self.axes_[0].figure
            return self
        shown, columns = self._contents(ax)
        size = (6.0, 2.8) if columns == 1 else (max(2.3, 7.0 / columns), 2.4)
        made = panels(ax, len(shown), columns=columns, size=size)
        self.axes_, self.ax_ = made.axes, made.axes[0]
        self.figure_ = self.ax_.figure
        scale = time_scale(*self.clocks)
        for panel, (name, one_class) in zip(made.axes, shown, strict=True):
            draw_lines(panel, self, name, scale, one_class)
            scale.format(panel, *self.clocks, log=log_time)
        for panel in made.axes if made.figure is None else made.axes[-columns:]:
            panel.set_xlabel(scale.label(str(time_name)))
        add_shared_legend(made)
        return self

    def _contents(self, ax: Any) -> tuple[list[tuple[str, int | None]], int]:
        """Return parameter and class of each panel, and the number of columns.

        Each class has panels of its own, unless there are very many or axes for each parameter.
        """
        together: list[tuple[str, int | None]] = [(name, None) for name in self.values]
        counts = {each.shape[1] if each.ndim == 2 else 1 for each in self.values.values()}
        n_classes = counts.pop() if len(counts) == 1 else 1
        if not 1 < n_classes <= MAX_CLASS_PANELS or _count(ax) == len(together):
            return together, 1
        return [(name, k) for name in self.values for k in range(n_classes)], n_classes


def _count(ax: Any) -> int | None:
    """Return the number of axes in a sequence; None for single axes or none."""
    is_sequence = isinstance(ax, Sequence | np.ndarray)
    return len(np.ravel(np.asarray(ax, dtype=object))) if is_sequence else None

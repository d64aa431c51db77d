"""Reliability diagrams of several time bins as small multiples, as in the paper."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tempocal.errors import InputError
from tempocal.inputs import Inputs
from tempocal.metrics import ReliabilityTable
from tempocal.metrics.edges import Binning
from tempocal.metrics.events import EventKind
from tempocal.metrics.time_bins import Bins
from tempocal.plots.drawing import method_styles, panels
from tempocal.plots.legends import add_shared_legend, interval_label
from tempocal.plots.panel_rows import (
    check_panel_predictions,
    panel_numbers,
    panel_rows,
    table_of,
)
from tempocal.plots.panel_text import name_axes, write_in_corner, write_title
from tempocal.plots.reliability_lines import axis_names, draw_diagonal, draw_table, set_limits
from tempocal.plots.time_axis import time_scale

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure


class ReliabilityOverTimeDisplay:
    """A reliability diagram for each time bin, or for chosen steps.

    Parameters
    ----------
    tables : dict of list of ReliabilityTable
        For each method by name, one table for each panel.
    time_from, time_to : array-like of shape (panels,)
        Time range of each panel.
    values : array-like of shape (panels,), optional
        A number for the corner of each panel.
    value_name : str
        Name of that number.
    of, positive_label, level, grouped
        As in `ReliabilityDisplay`.

    Attributes
    ----------
    axes_ : list of matplotlib Axes
        The panels; ``ax_`` is the first.
    figure_ : matplotlib Figure
        The figure of the panels.

    Examples
    --------
    >>> import tempocal as tc
    >>> matches = tc.datasets.simulate_match(300)
    >>> cal = tc.TemporalCalibrator(curve=tc.ExponentialDecay()).fit(
    ...     matches.logits, matches.label, time=matches.time, groups=matches.sequence
    ... )
    >>> after = cal.predict_proba(matches.logits, time=matches.time)
    >>> display = tc.plots.ReliabilityOverTimeDisplay.from_predictions(
    ...     matches.label, {"calibrated": after}, matches.time, bins=5, values=cal, stretches=3
    ... )
    >>> display.time_from, display.time_to, display.values.round(1)
    (array([ 0.,  7., 14.]), array([ 6., 13., 24.]), array([1.5, 0.9, 0.8]))
    >>> len(display.plot(time_name="round").axes_)
    3
    """

    ax_: "Axes"
    axes_: list["Axes"]
    figure_: "Figure | SubFigure"

    def __init__(
        self,
        tables: Mapping[str, Sequence[ReliabilityTable]],
        time_from: ArrayLike,
        time_to: ArrayLike,
        *,
        values: ArrayLike | None = None,
        value_name: str = "τ",
        of: EventKind = "top_label",
        positive_label: Any = None,
        level: float = 0.95,
        grouped: bool = True,
    ) -> None:
        self.tables = {name: list(each) for name, each in tables.items()}
        self.time_from, self.time_to = np.asarray(time_from), np.asarray(time_to)
        self.values = None if values is None else np.asarray(values, dtype=np.float64)
        self.value_name = value_name
        self.of = of
        self.positive_label = positive_label
        self.level = level
        self.grouped = grouped
        lengths = {len(each) for each in self.tables.values()} | {len(self.time_from)}
        lengths |= set() if self.values is None else {len(self.values)}
        if len(lengths) != 1:
            raise InputError(
                "tables, time_from and values must have one entry for each panel, but they have "
                + ", ".join(map(str, sorted(lengths)))
            )

    @classmethod
    def from_predictions(
        cls,
        y: ArrayLike,
        proba: ArrayLike | Mapping[str, ArrayLike],
        time: Any,
        *,
        stretches: Bins = 6,
        steps: ArrayLike | None = None,
        values: Any = None,
        sequence: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        bins: int = 10,
        binning: Binning = "equal_mass",
        of: EventKind = "top_label",
        level: float = 0.95,
        sample_weight: ArrayLike | None = None,
        classes: ArrayLike | None = None,
        inputs: Inputs = "proba",
    ) -> Self:
        """Compute the tables from labels, probabilities and times.

        Parameters
        ----------
        y, sequence, groups, bins, binning, of, level, sample_weight, classes, inputs
            As in `tempocal.metrics.reliability_curve`.
        proba : array-like, or dict of array-like
            Probabilities of one method, or of several by name.
        time : array-like of shape (n,)
            Time of each row.
        stretches : int or "steps"
            Number of time bins with about equal numbers of rows, or one for each distinct time.
        steps : array-like, optional
            Show these times only, instead of time bins.
        values : calibrator or array-like of shape (panels,), optional
            Numbers for the corners; for a calibrator its temperature or slope at the mean time.
        """
        methods = proba if isinstance(proba, Mapping) else {"predictions": proba}
        rows = {
            name: check_panel_predictions(y, each, classes, inputs)
            for name, each in methods.items()
        }
        first = next(iter(rows.values()))
        chosen = panel_rows(time, len(first.codes), sample_weight, stretches, steps)
        columns: Any = {"sequence": sequence, "groups": groups, "sample_weight": sample_weight}
        settings: Any = {"bins": bins, "binning": binning, "of": of, "level": level}
        tables = {
            name: [table_of(each, index, columns, settings) for index in chosen.rows]
            for name, each in rows.items()
        }
        numbers, value_name = panel_numbers(values, chosen.middle)
        return cls(
            tables,
            chosen.first,
            chosen.last,
            values=numbers,
            value_name=value_name,
            of=of,
            positive_label=first.label(of),
            level=level,
            grouped=sequence is not None or groups is not None,
        )

    def plot(
        self,
        ax: "Axes | Sequence[Axes] | NDArray[Any] | None" = None,
        *,
        columns: int | None = None,
        time_name: str = "time",
        band: bool = True,
    ) -> Self:
        """Draw the diagrams.

        Parameters
        ----------
        ax : matplotlib Axes or sequence of them, optional
            Axes to draw into; by default those of a new figure. A single axes is divided into
            panels; a sequence has one axes for each panel.
        columns : int, optional
            Number of columns of panels; up to three by default.
        time_name : str
            Name of the time in the titles, such as "round".
        band : bool
            Whether to draw the intervals.
        """
        count = len(self.time_from)
        made = panels(ax, count, columns=columns, size=(2.3, 2.3), sharey=True)
        self.axes_, self.ax_ = made.axes, made.axes[0]
        self.figure_ = self.ax_.figure
        scale = time_scale(self.time_from, self.time_to)
        label = interval_label(self.level, grouped=self.grouped) if band else None
        styles = method_styles(self.tables)
        for k, panel in enumerate(self.axes_):
            draw_diagonal(panel)
            for name, tables in self.tables.items():
                style = {**styles[name], "markersize": 3.0, "linewidth": 1.2}
                draw_table(panel, tables[k], style, name, label)
            write_title(panel, scale.words(self.time_from[k], self.time_to[k], time_name))
        set_limits(*self.axes_)
        if self.values is not None:
            for panel, value in zip(self.axes_, self.values, strict=True):
                write_in_corner(panel, f"{self.value_name} = {value:.3g}")
        name_axes(made, *axis_names(self.of, self.positive_label))
        add_shared_legend(made)
        return self

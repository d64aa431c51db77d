"""Reliability diagram: observed frequency against predicted probability."""

from typing import TYPE_CHECKING, Any, Self

from numpy.typing import ArrayLike

from tempocal.inputs import Inputs
from tempocal.metrics import ReliabilityTable, reliability_curve
from tempocal.metrics.edges import Binning
from tempocal.metrics.events import EventKind
from tempocal.plots.confidence_histogram import axes_below, draw_histogram
from tempocal.plots.drawing import axes_or_new, method_styles, update_layout
from tempocal.plots.legends import LegendPosition, add_legend, interval_label
from tempocal.plots.panel_rows import check_panel_predictions
from tempocal.plots.reliability_lines import (
    axis_names,
    draw_diagonal,
    draw_table,
    drawn_names,
    set_limits,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

HISTOGRAM_BINS = 25


class ReliabilityDisplay:
    r"""Reliability diagram with confidence bands, and a histogram of the predictions below.

    On the diagonal predictions are calibrated: of the events predicted with 0.8, a share of 0.8
    happened. Below it predictions are too high, above it too low.

    Parameters
    ----------
    table : ReliabilityTable
        Confidence and frequency in each bin; empty bins are left out.
    histogram : ReliabilityTable, optional
        Finer bins of equal width, whose weights are drawn as a histogram.
    of : {"top_label", "positive_class"}
        The event of the table.
    positive_label : object, optional
        Name of the positive class.
    level : float
        Confidence level of the intervals in the table.
    grouped : bool
        Whether the intervals are over groups, or take rows as independent.
    name : str, optional
        Name of the predictions in the legend.

    Attributes
    ----------
    ax_, histogram_ax_ : matplotlib Axes
        The axes of the diagram and of the histogram; the latter None if there is none.
    figure_ : matplotlib Figure
        The figure of the axes.
    line_ : matplotlib Line2D
        The line through the bins.

    Examples
    --------
    >>> import tempocal as tc
    >>> matches = tc.datasets.simulate_match(300)
    >>> display = tc.plots.ReliabilityDisplay.from_predictions(
    ...     matches.label, matches.true_probability, groups=matches.sequence, bins=4
    ... )
    >>> display.table.confidence.round(2), display.table.frequency.round(2)
    (array([0.57, 0.72, 0.86, 0.97]), array([0.58, 0.75, 0.91, 0.99]))
    >>> display.plot(name="the truth").ax_.get_ylabel()
    'accuracy\n(share that was right)'
    """

    ax_: "Axes"
    histogram_ax_: "Axes | None"
    figure_: "Figure | SubFigure"
    line_: Any

    def __init__(
        self,
        table: ReliabilityTable,
        histogram: ReliabilityTable | None = None,
        *,
        of: EventKind = "top_label",
        positive_label: Any = None,
        level: float = 0.95,
        grouped: bool = True,
        name: str | None = None,
    ) -> None:
        self.table = table
        self.histogram = histogram
        self.of = of
        self.positive_label = positive_label
        self.level = level
        self.grouped = grouped
        self.name = name

    @classmethod
    def from_predictions(
        cls,
        y: ArrayLike,
        proba: ArrayLike,
        *,
        sequence: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        bins: int = 10,
        binning: Binning = "equal_mass",
        of: EventKind = "top_label",
        level: float = 0.95,
        sample_weight: ArrayLike | None = None,
        classes: ArrayLike | None = None,
        inputs: Inputs = "proba",
        name: str | None = None,
    ) -> Self:
        """Compute the table from labels and probabilities.

        Parameters
        ----------
        y, proba, sequence, groups, bins, binning, of, level, sample_weight, classes, inputs
            As in `tempocal.metrics.reliability_curve`.
        name : str, optional
            Name of the predictions in the legend.
        """
        common: Any = {"of": of, "sample_weight": sample_weight, "classes": classes}
        common["inputs"] = inputs
        ids: Any = {"sequence": sequence, "groups": groups}
        return cls(
            reliability_curve(y, proba, bins=bins, binning=binning, level=level, **ids, **common),
            reliability_curve(y, proba, bins=HISTOGRAM_BINS, binning="equal_width", **common),
            of=of,
            positive_label=check_panel_predictions(y, proba, classes, inputs).label(of),
            level=level,
            grouped=sequence is not None or groups is not None,
            name=name,
        )

    def plot(
        self,
        ax: "Axes | None" = None,
        *,
        name: str | None = None,
        band: bool = True,
        histogram: bool = True,
        legend: LegendPosition = "above",
        **line: Any,
    ) -> Self:
        """Draw the diagram.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw into; by default those of a new figure. The histogram takes a quarter of
            their height. Axes that hold a reliability diagram already get another line.
        name : str, optional
            Name of the predictions in the legend.
        band, histogram : bool
            Whether to draw the intervals, and the histogram.
        legend : {"above", "right", "none"}
            Position of the legend, outside the axes. Above, it takes the place of a title.
        **line
            Passed to ``Axes.plot``, such as ``color``.
        """
        self.ax_ = axes_or_new(ax, figsize=(5.4, 5.8))
        self.figure_ = self.ax_.figure
        name = name or self.name
        style = {**method_styles([*drawn_names(self.ax_), name])[name], **line}
        draw_diagonal(self.ax_)
        label = interval_label(self.level, grouped=self.grouped) if band else None
        self.line_ = draw_table(self.ax_, self.table, style, name, label)
        set_limits(self.ax_)
        self.histogram_ax_ = None
        if histogram and self.histogram is not None:
            self.histogram_ax_ = axes_below(self.ax_)
            draw_histogram(self.histogram_ax_, self.histogram, style)
        horizontal, vertical = axis_names(self.of, self.positive_label)
        (self.histogram_ax_ or self.ax_).set_xlabel(horizontal)
        self.ax_.set_ylabel(vertical)
        add_legend(self.ax_, legend)
        if legend != "none":
            # Square axes are narrower than their place: an engine needs a second layout.
            update_layout(self.ax_)
            update_layout(self.ax_)
        return self

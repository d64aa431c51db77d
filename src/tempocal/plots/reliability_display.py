"""Reliability diagram: what was said against how often it came true."""

from typing import TYPE_CHECKING, Any, Self

from numpy.typing import ArrayLike

from tempocal.metrics import ReliabilityTable, reliability_curve
from tempocal.metrics.edges import Binning
from tempocal.metrics.events import EventKind
from tempocal.plots.confidence_histogram import axes_below, draw_histogram
from tempocal.plots.drawing import axes_or_new, line_style
from tempocal.plots.legends import Where, add_legend, interval_label
from tempocal.plots.reliability_lines import (
    axis_names,
    draw_diagonal,
    draw_table,
    n_drawn,
    set_limits,
)
from tempocal.plots.rows_over_time import check_panel_predictions

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

HISTOGRAM_BINS = 25


class ReliabilityDisplay:
    r"""Reliability diagram with a band around each bin and the histogram of the predictions below.

    Points on the diagonal are right: of the predictions of 0.8, a share of 0.8 came true. Below
    it predictions are too high, above it too low.

    Parameters
    ----------
    table : ReliabilityTable
        Confidence and frequency of each bin; bins without rows are left out.
    histogram : ReliabilityTable, optional
        Finer bins of equal width, of which the weights are drawn below.
    of : {"top_label", "positive_class"}
        What the table is about.
    positive_label : object, optional
        What the positive class is called.
    level : float
        Level of the intervals in the table.
    grouped : bool
        Whether these are over groups, or take rows as independent.
    name : str, optional
        What the predictions are called in the legend.

    Attributes
    ----------
    ax_, histogram_ax_ : matplotlib Axes
        The diagram and the histogram; the latter None if there is none.
    figure_ : matplotlib Figure
        What holds them.
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
        groups: ArrayLike | None = None,
        bins: int = 10,
        binning: Binning = "equal_mass",
        of: EventKind = "top_label",
        level: float = 0.95,
        sample_weight: ArrayLike | None = None,
        classes: ArrayLike | None = None,
        name: str | None = None,
    ) -> Self:
        """Compute the table from labels and probabilities.

        Parameters
        ----------
        y, proba, groups, bins, binning, of, level, sample_weight, classes
            As in `tempocal.metrics.reliability_curve`.
        name : str, optional
            What the predictions are called in the legend.
        """
        rows: Any = {"of": of, "sample_weight": sample_weight, "classes": classes}
        return cls(
            reliability_curve(
                y, proba, bins=bins, binning=binning, groups=groups, level=level, **rows
            ),
            reliability_curve(y, proba, bins=HISTOGRAM_BINS, binning="equal_width", **rows),
            of=of,
            positive_label=check_panel_predictions(y, proba, classes).label(of),
            level=level,
            grouped=groups is not None,
            name=name,
        )

    def plot(
        self,
        ax: "Axes | None" = None,
        *,
        name: str | None = None,
        band: bool = True,
        histogram: bool = True,
        legend: Where = "above",
        **line: Any,
    ) -> Self:
        """Draw it.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where; by default into a new figure. The histogram takes a quarter of its place. Axes
            that hold a reliability diagram already get another line.
        name : str, optional
            What the predictions are called in the legend.
        band, histogram : bool
            Whether to draw the intervals, and the histogram.
        legend : {"above", "right", "none"}
            Where the legend goes, outside the axes. Above, it is where a title would be.
        **line
            Passed to ``Axes.plot``, such as ``color``.
        """
        self.ax_ = axes_or_new(ax, figsize=(5.4, 5.8))
        self.figure_ = self.ax_.figure
        style = {**line_style(n_drawn(self.ax_)), **line}
        draw_diagonal(self.ax_)
        label = interval_label(self.level, grouped=self.grouped) if band else None
        self.line_ = draw_table(self.ax_, self.table, style, name or self.name, label)
        set_limits(self.ax_)
        self.histogram_ax_ = None
        if histogram and self.histogram is not None:
            self.histogram_ax_ = axes_below(self.ax_)
            draw_histogram(self.histogram_ax_, self.histogram, style)
        horizontal, vertical = axis_names(self.of, self.positive_label)
        (self.histogram_ax_ or self.ax_).set_xlabel(horizontal)
        self.ax_.set_ylabel(vertical)
        add_legend(self.ax_, legend)
        return self

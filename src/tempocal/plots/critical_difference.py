"""Critical-difference diagram of Demšar: mean ranks, and bars over methods that do not differ."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from tempocal.errors import InputError
from tempocal.metrics import FriedmanNemenyi, friedman_nemenyi
from tempocal.plots.drawing import axes_or_new, update_layout
from tempocal.plots.rank_lines import (
    draw_bars,
    draw_difference,
    draw_names,
    draw_scale,
    lay_out_diagram,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure
    from matplotlib.text import Text


class CriticalDifferenceDisplay:
    """Mean ranks of methods on a line; bars join those that do not differ significantly.

    Parameters
    ----------
    names : sequence of str
        Names of the methods.
    mean_ranks : array-like of shape (k,)
        Mean rank of each method; 1 is best.
    critical_difference : float
        Methods whose mean ranks differ by more than this are significantly different.
    cliques : sequence of sequence of str
        Sets of methods without a significant difference: one bar for each.
    alpha : float, optional
        Significance level of the test.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes.
    figure_ : matplotlib Figure
        The figure of the axes.
    texts_ : dict of matplotlib Text
        The name of each method.

    Examples
    --------
    >>> import tempocal as tc
    >>> nll = [[0.53, 0.52, 0.50], [0.61, 0.62, 0.58], [0.47, 0.45, 0.45], [0.55, 0.54, 0.51]]
    >>> display = tc.plots.CriticalDifferenceDisplay.from_scores(
    ...     nll, names=["raw", "global", "temporal"]
    ... )
    >>> display.mean_ranks, round(display.critical_difference, 2)
    (array([2.75 , 2.125, 1.125]), 1.66)
    >>> display.plot().ax_.get_xlabel()
    'mean rank (1 is best)'
    """

    ax_: "Axes"
    figure_: "Figure | SubFigure"
    texts_: dict[str, "Text"]

    def __init__(
        self,
        names: Sequence[str],
        mean_ranks: ArrayLike,
        critical_difference: float,
        cliques: Sequence[Sequence[str]] = (),
        *,
        alpha: float | None = None,
    ) -> None:
        self.names = tuple(names)
        self.mean_ranks = np.asarray(mean_ranks, dtype=np.float64)
        self.critical_difference = float(critical_difference)
        self.cliques = tuple(tuple(clique) for clique in cliques)
        self.alpha = alpha
        if self.mean_ranks.shape != (len(self.names),):
            raise InputError(
                f"mean_ranks must have one number for each of the {len(self.names)} names, but its "
                f"shape is {self.mean_ranks.shape}"
            )
        unknown = {name for clique in self.cliques for name in clique} - set(self.names)
        if unknown:
            raise InputError(f"cliques has {sorted(unknown)}, which names has not")

    @classmethod
    def from_result(cls, result: FriedmanNemenyi) -> Self:
        """Make a display of the result of `tempocal.metrics.friedman_nemenyi`."""
        return cls(
            result.names,
            result.mean_ranks,
            result.critical_difference,
            result.cliques,
            alpha=result.alpha,
        )

    @classmethod
    def from_scores(cls, scores: ArrayLike, **settings: Any) -> Self:
        """Make a display from scores; see `tempocal.metrics.friedman_nemenyi`."""
        return cls.from_result(friedman_nemenyi(scores, **settings))

    def plot(self, ax: "Axes | None" = None) -> Self:
        """Draw the diagram.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw into; by default those of a new figure.
        """
        spans = [self._span(clique) for clique in self.cliques]
        layout = lay_out_diagram(self.mean_ranks, spans)
        longest = max(map(len, self.names))
        size = min(3.4 + 0.18 * longest, 9.5), 0.2 + 0.2 * layout.n_lines
        self.ax_ = axes_or_new(ax, figsize=size)
        self.figure_ = self.ax_.figure
        update_layout(self.ax_)
        ranks = dict(zip(self.names, self.mean_ranks.tolist(), strict=True))
        self.texts_, font = draw_names(self.ax_, ranks, layout)
        draw_bars(self.ax_, spans, layout.bar_heights)
        draw_scale(self.ax_, len(self.names), font)
        text = f"critical difference {self.critical_difference:.2f}"
        text += "" if self.alpha is None else f" (level {self.alpha:g})"
        draw_difference(self.ax_, self.critical_difference, text, font)
        return self

    def _span(self, clique: Sequence[str]) -> tuple[float, float]:
        ranks = [self.mean_ranks[self.names.index(name)] for name in clique]
        return float(min(ranks)), float(max(ranks))

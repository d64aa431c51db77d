"""Layout of a critical-difference diagram without overlapping names.

Heights are in lines of text, measured from the axis of the ranks. The limits of the axes leave room
for the names, so that they fit in any figure layout.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tempocal.links import Array
from tempocal.plots.drawing import text_color

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.text import Text

# Heights of the axis label, of the critical difference and of the upper limit.
LABEL, DIFFERENCE, TOP = 1.5, 3.1, 4.9
# Height of the first bar; distance between bars, and from the last bar to the names.
FIRST_BAR, BETWEEN_BARS, TO_NAMES = -0.8, 0.5, 1.1
# If the names take more than this share of the width, all go on one side; then they shrink.
MAX_NAME_WIDTH = 0.68
# Line height relative to the font size; points between a name and its line.
LINE_HEIGHT, GAP = 1.4, 4.0
LARGEST_FONT, SMALLEST_FONT = 10.0, 5.0
LEADER: dict[str, Any] = {"color": "0.4", "linewidth": 0.8, "zorder": 2.0}

Span = tuple[float, float]
Texts = dict[str, "Text"]


@dataclass(frozen=True)
class DiagramLayout:
    """Positions of bars and names."""

    order: list[int]  # methods by rank
    bar_heights: list[float]
    names_from: float  # height of the first name

    def bottom(self, n_lines: int) -> float:
        """Lower limit for a number of lines of names."""
        return self.names_from - n_lines + 0.4

    @property
    def n_lines(self) -> float:
        """Height of the diagram with names on both sides."""
        return TOP - self.bottom(-(-len(self.order) // 2))


def lay_out_diagram(mean_ranks: Array, spans: list[Span]) -> DiagramLayout:
    """Stack bars that would touch, with the names below them."""
    rows: list[float] = []  # right end of the last bar in each row
    heights = []
    for low, high in spans:
        row = next((k for k, end in enumerate(rows) if end < low - 0.1), len(rows))
        rows[row : row + 1] = [high]
        heights.append(FIRST_BAR - BETWEEN_BARS * row)
    lowest = FIRST_BAR - BETWEEN_BARS * max(len(rows) - 1, 0)
    order = np.argsort(mean_ranks, kind="stable").tolist()
    return DiagramLayout(order, heights, lowest - TO_NAMES)


def draw_bars(ax: "Axes", spans: list[Span], heights: list[float]) -> None:
    """Draw a bar over each set of methods without a significant difference."""
    style: Any = {"color": "#0072b2", "linewidth": 3.5, "solid_capstyle": "butt", "zorder": 3.0}
    for (low, high), height in zip(spans, heights, strict=True):
        ax.plot([low - 0.05, high + 0.05], [height, height], **style)


def draw_names(ax: "Axes", ranks: dict[str, float], layout: DiagramLayout) -> tuple[Texts, float]:
    """Write each name at the end of a line from its rank: the better half left, the others right.

    If both halves do not fit side by side, all are on the left. Returns the font size too.
    """
    names = [list(ranks)[k] for k in layout.order]
    texts = {
        name: ax.text(
            1.0, 0.0, f"{name}  {ranks[name]:.2f}", fontsize=LARGEST_FONT, in_layout=False
        )
        for name in names
    }
    half = -(-len(names) // 2)
    sides = names[:half], names[half:][::-1]
    if sum(_widest(texts, side) for side in sides) > MAX_NAME_WIDTH * _width(ax):
        sides = names, []
    bottom = layout.bottom(max(map(len, sides)))
    size = _fitting_size(ax, sum(_widest(texts, side) for side in sides), TOP - bottom)
    for text in texts.values():
        text.set_fontsize(size)
    left, right = (_widest(texts, side) for side in sides)
    per_pixel = (len(names) - 1) / max(_width(ax) - left - right, 0.1 * _width(ax))
    ax.set(ylim=(bottom, TOP), xlim=(1.0 - left * per_pixel, len(names) + right * per_pixel))
    gap = GAP * ax.figure.dpi / 72.0 * per_pixel
    for side, edge, offset in zip(sides, (1.0, float(len(names))), (-gap, gap), strict=True):
        for line, name in enumerate(side):
            height = layout.names_from - line
            ax.plot([ranks[name]] * 2 + [edge], [0.0, height, height], **LEADER)
            align: Any = "right" if offset < 0 else "left"
            texts[name].set(position=(edge + offset, height), ha=align, va="center_baseline")
    return texts, size


def draw_scale(ax: "Axes", count: int, size: float) -> None:
    """Draw the axis of the ranks at the top."""
    for side in ("left", "right", "bottom"):
        ax.spines[side].set_visible(False)
    ax.yaxis.set_visible(False)
    ax.spines["top"].set_position(("data", 0.0))
    ax.spines["top"].set_bounds(1, count)
    ax.xaxis.tick_top()
    low, high = ax.get_xlim()
    pixels = _width(ax) * (count - 1) / (high - low)
    max_ticks = max(int(pixels / (2.2 * size * ax.figure.dpi / 72.0)), 1)
    ax.set_xticks(np.arange(1, count + 1, max(-(-(count - 1) // max_ticks), 1)))
    ax.tick_params(labelsize=size, length=0.3 * size, pad=0.15 * size)
    ax.set_xlabel("mean rank (1 is best)", fontsize=size)
    ax.xaxis.set_label_coords(0.5 * (1 + count), LABEL, transform=ax.transData)
    ax.xaxis.label.set(verticalalignment="bottom", in_layout=False)
    if ax.xaxis.label.get_window_extent().x1 > ax.get_window_extent().x1:
        ax.xaxis.set_label_coords(high, LABEL, transform=ax.transData)
        ax.xaxis.label.set_horizontalalignment("right")


def draw_difference(ax: "Axes", difference: float, text: str, size: float) -> None:
    """Draw the critical difference as a scale bar."""
    bar, height = (1.0, 1.0 + difference), DIFFERENCE + 0.2
    ax.plot(bar, [height] * 2, color=text_color(), linewidth=1.2)
    for end in bar:
        ax.plot([end, end], [height - 0.2, height + 0.2], color=text_color(), linewidth=1.2)
    written = ax.text(1.0, height + 0.4, text, fontsize=size, va="bottom", in_layout=False)
    if written.get_window_extent().x1 > ax.get_window_extent().x1:
        written.set(x=ax.get_xlim()[1], ha="right")


def _width(ax: "Axes") -> float:
    return float(ax.get_window_extent().width)


def _widest(texts: Texts, names: list[str]) -> float:
    """Width of the widest name in pixels, with its margin."""
    return max((1.05 * texts[name].get_window_extent().width + 9 for name in names), default=9)


def _fitting_size(ax: "Axes", names_width: float, n_lines: float) -> float:
    """Return the font size at which the lines and the widest names fit into the axes."""
    by_height = 72.0 / ax.figure.dpi * ax.get_window_extent().height / n_lines / LINE_HEIGHT
    by_width = LARGEST_FONT * MAX_NAME_WIDTH * _width(ax) / names_width
    return max(min(LARGEST_FONT, by_height, by_width), SMALLEST_FONT)

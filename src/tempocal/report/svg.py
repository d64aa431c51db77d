"""Figures as inline SVG: text stays text, and colors follow the page, also in dark mode."""

import io
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from tempocal.plots.drawing import matplotlib

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# In inches. As wide as a phone, so that letters have the size of the surrounding text.
WIDTH = 3.8
# Colors that change in dark mode.
COLORS = {
    "#000000": "currentColor",
    "#ffffff": "var(--card, #fff)",
    "#0072b2": "var(--blue, #0072b2)",
    "#ebebeb": "var(--shade, #ebebeb)",
}


@contextmanager
def _settings(name: str) -> Iterator[None]:
    """Set the style of the page, independent of the user's; theirs is restored afterwards."""
    style = {
        "svg.fonttype": "none",
        # Figures on one page must not share element ids.
        "svg.hashsalt": name,
        "font.family": "sans-serif",
        "font.size": 9.0,
        # Hollow markers are filled with this; COLORS maps it to the background of the page.
        "axes.facecolor": "#ffffff",
        "figure.facecolor": "none",
        "savefig.facecolor": "none",
        "legend.framealpha": 0.0,
        "axes.spines.top": False,
        "axes.spines.right": False,
    }
    root = __import__("matplotlib")
    with root.rc_context():
        root.rcdefaults()
        root.rcParams.update(style)
        yield


def draw_svg(name: str, height: float, draw: Callable[["Figure"], None]) -> str:
    """Draw into a new figure and return it as an SVG element."""
    matplotlib("figure")
    with _settings(name):
        figure = matplotlib("figure").Figure(figsize=(WIDTH, height), layout="constrained")
        draw(figure)
        file = io.StringIO()
        figure.savefig(file, format="svg", metadata={"Date": None, "Creator": None})
    return _inline(file.getvalue())


def _inline(text: str) -> str:
    """Remove what only a separate file needs, and replace colors by CSS variables."""
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    for size in ("width", "height"):
        text = re.sub(rf'(<svg[^>]*?) {size}="[^"]*"', r"\1", text, count=1)
    return re.sub("|".join(COLORS), lambda found: COLORS[found[0]], text).strip()

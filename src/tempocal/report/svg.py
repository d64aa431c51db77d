"""Figures as SVG inside a page: text stays text, and takes the color of the page."""

import io
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from tempocal.plots.drawing import matplotlib

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# As wide as a phone, so that letters have the size of the text around them.
WIDTH = 3.8
# Colors that a page in dark mode must change.
COLORS = {
    "#000000": "currentColor",
    "#ffffff": "var(--card, #fff)",
    "#0072b2": "var(--blue, #0072b2)",
    "#ebebeb": "var(--shade, #ebebeb)",
}


@contextmanager
def _settings(name: str) -> Iterator[None]:
    """Draw for a page, whatever the user's own style is; it is theirs again afterwards."""
    style = {
        "svg.fonttype": "none",
        # Ids of one picture must not be those of another on the same page.
        "svg.hashsalt": name,
        "font.family": "sans-serif",
        "font.size": 9.0,
        # White, which is the page's own color in the end: hollow markers are filled with it.
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
    """Cut what only a file of its own needs, and give the page a say in the colors."""
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    for size in ("width", "height"):
        text = re.sub(rf'(<svg[^>]*?) {size}="[^"]*"', r"\1", text, count=1)
    return re.sub("|".join(COLORS), lambda found: COLORS[found[0]], text).strip()

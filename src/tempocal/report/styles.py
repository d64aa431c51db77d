"""Color, dashes and marker of each line on the page; a method has the same in every figure.

Colors are names of variables of ``report.css``, which has them for light and for dark pages.
"""

from collections.abc import Collection, Iterable
from typing import Any

from tempocal.assessment import Assessment

Styles = dict[str, dict[str, Any]]
_DASHES = ("solid", "dash", "dot", "dashdot", "longdash")
_MARKERS = ("circle", "square", "triangle-up", "diamond", "triangle-down", "cross", "x")
_N_COLORS = 7
_METHODS = {"raw": 0, "global": 1, "along time": 2, "model": 3, "versus": 4}
CURVE: Styles = {
    "fitted curve": {"color": "--line-2", "dash": "solid", "marker": None},
    "separate fit for each time bin": {"color": "--line-1", "dash": None, "marker": "square"},
}


def method_styles(
    assessment: Assessment, names: Iterable[str], hidden: Collection[str] = ()
) -> Styles:
    """Return the styles of some methods by what they are called; some are switched off at first."""
    return {
        assessment.names[name][0]: {**_style(_METHODS[name]), "off": name in hidden}
        for name in names
    }


def line_styles(names: list[str], points: str) -> Styles:
    """Return the styles of curves by class, and of their points, whose names end in ``points``."""
    styles: Styles = {}
    for name in names:
        is_points = name.endswith(points)
        k = sum(not one.endswith(points) for one in styles) - is_points
        style = {**_style(k), "marker": None}
        if is_points:
            style = {**_style(k), "dash": None, "off": True}
        styles[name] = style
    return styles


def _style(k: int) -> dict[str, Any]:
    return {
        "color": f"--line-{k % _N_COLORS}",
        "dash": _DASHES[k % len(_DASHES)],
        "marker": _MARKERS[k % len(_MARKERS)],
        "off": False,
    }

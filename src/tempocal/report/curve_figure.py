"""The figure of the fitted correction: each parameter along time, with its band."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from tempocal.assessment import Assessment
from tempocal.assessment.correction_table import CurveTable
from tempocal.links import Array
from tempocal.plots.curve_lines import identity, meaning
from tempocal.report.figures import Figure, Row, to_columns
from tempocal.report.styles import CURVE, line_styles
from tempocal.report.time_column import TimeColumn

FITTED, SEPARATE = "fitted curve", "separate fit for each time bin"
# The latter of each of several classes.
BIN_BY_BIN = "bin by bin"


def curve_figure(assessment: Assessment, time: TimeColumn) -> Figure | None:
    """Return the parameters of the leading candidate along time; None for the identity."""
    curve = assessment.curve
    if curve is None:
        return None
    rows: list[Row] = []
    for name in curve.values:
        rows += _rows(curve, name, assessment.facts.classes, time)
    names = list(dict.fromkeys(row["line"] for row in rows))
    parameters = list(curve.values)
    titles = [meaning(name).replace("\n", " ") for name in parameters]
    settings = {
        "x": "time",
        "y": "value",
        "lower": "lower",
        "upper": "upper",
        "by": "line",
        "panel": "parameter",
        "titles": [title[0].upper() + title[1:] for title in titles],
        "references": [identity(name) for name in parameters],
        "xAxis": time.axis(),
        "yAxis": {"title": "", "limits": [list(_limits(curve, name)) for name in parameters]},
        "styles": CURVE if len(names) == 2 else line_styles(names, BIN_BY_BIN),
        "digits": 3,
    }
    return Figure("curve", to_columns(rows), settings)


def _rows(
    curve: CurveTable, name: str, classes: tuple[str, ...], time: TimeColumn
) -> Iterable[Row]:
    values, points = _by_class(curve.values[name]), _by_class(curve.points[name])
    limits = (_by_class(limit[name]) for limit in (curve.lower, curve.upper))
    fitted = np.stack([values, *limits])
    separate = np.stack([points, *np.full((2, *points.shape), np.nan)])
    several = values.shape[1] > 1
    for k in range(values.shape[1]):
        line = f"class {classes[k]}" if several else FITTED
        yield from _line(name, line, time.values(curve.time), fitted[:, :, k])
        line = f"{line}, {BIN_BY_BIN}" if several else SEPARATE
        yield from _line(name, line, time.values(curve.point_time), separate[:, :, k])


def _line(name: str, line: str, times: list[Any], numbers: Array) -> Iterable[Row]:
    """Return the rows of a line, given its value, lower and upper limits."""
    for moment, (value, low, high) in zip(times, numbers.T.tolist(), strict=True):
        columns = {"value": value, "lower": low, "upper": high}
        yield {"parameter": name, "line": line, "time": moment, **columns}


def _by_class(values: Array) -> Array:
    """Return one column for each line; of matrices the diagonal."""
    if values.ndim == 3:
        return np.asarray(np.einsum("tkk->tk", values))
    return values.reshape(len(values), -1)


def _limits(curve: CurveTable, name: str) -> tuple[float, float]:
    """Return limits that show curve and points in detail, also if a band is much wider."""
    shown = (curve.values[name].ravel(), curve.points[name].ravel(), np.array([identity(name)]))
    core = np.concatenate(shown)
    span = max(float(np.ptp(core)), 0.2)
    low = max(min(float(core.min()), float(curve.lower[name].min())), float(core.min()) - span)
    high = min(max(float(core.max()), float(curve.upper[name].max())), float(core.max()) + span)
    margin = 0.05 * (high - low)
    return low - margin, high + margin

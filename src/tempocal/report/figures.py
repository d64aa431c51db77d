"""The figures of a report: a tidy table for each, and how the page draws its columns.

What is drawn, what the page shows as a table and what it offers as CSV and JSON are one table.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tempocal.assessment import Assessment
from tempocal.assessment.chance import may_be_chance
from tempocal.assessment.method_scores import MethodScores
from tempocal.report.styles import method_styles
from tempocal.report.time_column import TimeColumn

Row = dict[str, Any]


@dataclass(frozen=True)
class Figure:
    """A figure of the page.

    Attributes
    ----------
    name : str
        Its id on the page, and the name of the files that it offers.
    columns : dict of list
        The table that it draws.
    settings : dict
        Which column is what, the axes and the styles of the lines; see ``charts.js``.
    """

    name: str
    columns: dict[str, list[Any]]
    settings: dict[str, Any] = field(default_factory=dict)


def error_figure(assessment: Assessment, time: TimeColumn) -> Figure:
    """Return the calibration error of each method over time."""
    rows: list[Row] = []
    for name, scores in assessment.scores.items():
        rows += _error_rows(assessment.names[name][0], scores, time)
    settings = {
        "x": "time",
        "y": "error",
        "lower": "lower",
        "upper": "upper",
        "hollow": "may_be_chance",
        "shade": "chance_limit",
        "span": ["time_from", "time_to"],
        "xAxis": time.axis(),
        "yAxis": {"title": "calibration error", "zero": True},
        "styles": method_styles(assessment, assessment.scores),
        "digits": 4,
    }
    return Figure("error", to_columns(rows), settings)


def _error_rows(name: str, scores: MethodScores, time: TimeColumn) -> Iterable[Row]:
    table, chance = scores.ece_over_time, may_be_chance(scores.ece_over_time)
    spans = [time.values(one) for one in (table.time_from, table.time_to, table.time_middle)]
    for k in range(len(table)):
        yield {
            "predictions": name,
            "time_from": spans[0][k],
            "time_to": spans[1][k],
            "time": spans[2][k],
            "rows": int(table.rows[k]),
            "sequences": int(table.sequences[k]),
            "error": float(table.value[k]),
            "lower": float(table.lower[k]),
            "upper": float(table.upper[k]),
            "chance_limit": float(scores.chance_limit[k]),
            "may_be_chance": bool(chance[k]),
        }


def reliability_figure(assessment: Assessment, time: TimeColumn) -> Figure:
    """Return the reliability diagram of each method in each time bin."""
    rows: list[Row] = []
    for name, scores in assessment.scores.items():
        rows += _reliability_rows(assessment.names[name][0], scores, time)
    classes = assessment.facts.classes
    of = f"of {classes[1]}" if len(classes) == 2 else "of the most probable class"
    hidden = set(assessment.scores) - _shown(assessment)
    settings = {
        "x": "predicted",
        "y": "observed",
        "lower": "lower",
        "upper": "upper",
        "filter": "time_bin",
        "xAxis": {"title": f"predicted probability {of}", "range": [-0.02, 1.02]},
        "yAxis": {"title": "share of rows where it happened", "range": [-0.02, 1.02]},
        "diagonal": True,
        "styles": method_styles(assessment, assessment.scores, hidden),
        "digits": 3,
    }
    return Figure("reliability", to_columns(rows), settings)


def _reliability_rows(name: str, scores: MethodScores, time: TimeColumn) -> Iterable[Row]:
    over_time = scores.ece_over_time
    spans = [time.values(one) for one in (over_time.time_from, over_time.time_to)]
    for time_bin, table in enumerate(scores.reliability_over_time):
        for k in range(len(table.count)):
            yield {
                "predictions": name,
                "time_bin": time_bin,
                "time_from": spans[0][time_bin],
                "time_to": spans[1][time_bin],
                "rows": int(table.count[k]),
                "predicted": float(table.confidence[k]),
                "observed": float(table.frequency[k]),
                "lower": float(table.lower_frequency[k]),
                "upper": float(table.upper_frequency[k]),
            }


def examples_figure(assessment: Assessment, time: TimeColumn) -> Figure:
    """Return the predictions along single sequences, before and after calibration."""
    rows: list[Row] = []
    shown = _shown(assessment)
    for one in assessment.examples:
        times = time.values(one.time)
        for name in assessment.scores:
            if name not in shown:
                continue
            rows += [
                {
                    "sequence": one.sequence,
                    "outcome": one.label,
                    "class": one.followed,
                    "predictions": assessment.names[name][0],
                    "time": moment,
                    "probability": float(probability),
                }
                for moment, probability in zip(times, one.proba[name], strict=True)
            ]
    settings = {
        "x": "time",
        "y": "probability",
        "panel": "sequence",
        "titles": [
            f"Sequence {one.sequence}: probability of {one.followed}, outcome {one.label}"
            for one in assessment.examples
        ],
        "xAxis": {**time.axis(), "log": False},
        "yAxis": {"title": "probability", "range": [-0.03, 1.03]},
        "styles": method_styles(assessment, (name for name in assessment.scores if name in shown)),
        "digits": 3,
        "small": True,
    }
    return Figure("examples", to_columns(rows), settings)


def _shown(assessment: Assessment) -> set[str]:
    """Return the lines that are shown at first: three bands would hide each other."""
    return {assessment.subject, "versus" if assessment.versus else "along time"}


def to_columns(rows: list[Row]) -> dict[str, list[Any]]:
    """Return rows as columns; numbers that are not finite become None."""
    names = list(rows[0]) if rows else []
    return {name: [_finite(row[name]) for row in rows] for name in names}


def _finite(value: Any) -> Any:
    return None if isinstance(value, float) and not np.isfinite(value) else value

"""The figures of a report: a tidy table for each, and how the page draws its columns.

What is drawn, what the page shows as a table and what it offers as CSV and JSON are one table.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tempocal.assessment import Assessment
from tempocal.assessment.chance import may_be_chance
from tempocal.assessment.class_scores import ClassScores
from tempocal.assessment.examples import Example
from tempocal.assessment.method_scores import MethodScores
from tempocal.report.styles import method_styles
from tempocal.report.time_column import TimeColumn

Row = dict[str, Any]
Scores = MethodScores | ClassScores
# What is shown of several classes at first.
TOP_CLASS = "the most probable class"


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
    for names, scores in by_class(assessment):
        rows += _error_rows(names, scores, time)
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


def _error_rows(names: Row, scores: Scores, time: TimeColumn) -> Iterable[Row]:
    table, chance = scores.ece_over_time, may_be_chance(scores.ece_over_time)
    spans = [time.values(one) for one in (table.time_from, table.time_to, table.time_middle)]
    for k in range(len(table)):
        yield {
            **names,
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
    for names, scores in by_class(assessment):
        rows += _reliability_rows(names, scores, time)
    classes = assessment.facts.classes
    of = f"of {classes[1]}" if len(classes) == 2 else "of the class"
    hidden = set(assessment.scores) - _shown(assessment)
    settings = {
        "x": "predicted",
        "y": "observed",
        "lower": "lower",
        "upper": "upper",
        "xAxis": {"title": f"predicted probability {of}", "range": [-0.02, 1.02]},
        "yAxis": {"title": "share of rows where it happened", "range": [-0.02, 1.02]},
        "diagonal": True,
        "styles": method_styles(assessment, assessment.scores, hidden),
        "digits": 3,
    }
    return Figure("reliability", to_columns(rows), settings)


def _reliability_rows(names: Row, scores: Scores, time: TimeColumn) -> Iterable[Row]:
    over_time = scores.ece_over_time
    spans = [time.values(one) for one in (over_time.time_from, over_time.time_to)]
    for time_bin, table in enumerate(scores.reliability_over_time):
        for k in range(len(table.count)):
            yield {
                **names,
                "time_bin": time_bin,
                "time_from": spans[0][time_bin],
                "time_to": spans[1][time_bin],
                "rows": int(table.count[k]),
                "predicted": float(table.confidence[k]),
                "observed": float(table.frequency[k]),
                "lower": float(table.lower_frequency[k]),
                "upper": float(table.upper_frequency[k]),
            }


def auc_figure(assessment: Assessment, time: TimeColumn) -> Figure:
    """Return the discrimination of each method over time."""
    rows: list[Row] = []
    for names, scores in by_class(assessment):
        table = scores.auc
        numbers = (table.value, table.lower, table.upper)
        for k, when in enumerate(_moments(table, time)):
            value, low, high = (float(one[k]) for one in numbers)
            rows.append({**names, **when, "auc": value, "lower": low, "upper": high})
    known = [row["lower"] for row in rows if np.isfinite(row["lower"])]
    settings = {
        "x": "time",
        "y": "auc",
        "lower": "lower",
        "upper": "upper",
        "span": ["time_from", "time_to"],
        "xAxis": time.axis(),
        "yAxis": {"title": "AUC", "range": [min([0.5, *known]) - 0.02, 1.02]},
        "references": [0.5],
        "styles": method_styles(
            assessment, assessment.scores, set(assessment.scores) - _shown(assessment)
        ),
        "digits": 4,
    }
    return Figure("auc", to_columns(rows), settings)


def gain_figure(assessment: Assessment, time: TimeColumn) -> Figure:
    """Return what each method gains over the predictions that are judged, over time."""
    rows: list[Row] = []
    others = [name for name in assessment.scores if name != assessment.subject]
    for name in others:
        table = assessment.scores[name].gain_over_time
        for k, when in enumerate(_moments(table, time)):
            rows.append(
                {
                    "predictions": assessment.names[name][0],
                    **when,
                    "gain": float(table.value[k]),
                    "lower": float(table.lower_all[k]),
                    "upper": float(table.upper_all[k]),
                    "surely": str(table.effect[k]),
                }
            )
    settings = {
        "x": "time",
        "y": "gain",
        "lower": "lower",
        "upper": "upper",
        "span": ["time_from", "time_to"],
        "xAxis": time.axis(),
        "yAxis": {"title": "gain in NLL"},
        "references": [0.0],
        "styles": method_styles(assessment, others),
        "digits": 4,
    }
    return Figure("gain", to_columns(rows), settings)


def _moments(table: Any, time: TimeColumn) -> list[Row]:
    """Return first, last and mean time of each time bin of a table."""
    names = {"time_from": "time_from", "time_to": "time_to", "time": "time_middle"}
    columns = {name: time.values(getattr(table, of)) for name, of in names.items()}
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def by_class(assessment: Assessment) -> Iterable[tuple[Row, Scores]]:
    """Return the scores of each method, and of each of several classes, with their names."""
    several = len(assessment.facts.classes) > 2
    for name, scores in assessment.scores.items():
        of = {"class": TOP_CLASS} if several else {}
        yield {"predictions": assessment.names[name][0], **of}, scores
    for name, scores in assessment.scores.items():
        for one in scores.classes:
            of = {"class": assessment.facts.classes[one.column]}
            yield {"predictions": assessment.names[name][0], **of}, one


def examples_figure(
    name: str, assessment: Assessment, examples: tuple[Example, ...], time: TimeColumn
) -> Figure:
    """Return the predictions along single sequences, before and after calibration."""
    rows: list[Row] = []
    shown = _shown(assessment)
    for one in examples:
        times = time.values(one.time)
        for method in assessment.scores:
            if method not in shown:
                continue
            rows += [
                {
                    "sequence": one.sequence,
                    "outcome": one.label,
                    "class": one.followed,
                    "predictions": assessment.names[method][0],
                    "time": moment,
                    "probability": float(probability),
                }
                for moment, probability in zip(times, one.proba[method], strict=True)
            ]
    settings = {
        "x": "time",
        "y": "probability",
        "panel": "sequence",
        "titles": [_title(one) for one in examples],
        "xAxis": {**time.axis(), "log": False},
        "yAxis": {"title": "probability", "range": [-0.03, 1.03]},
        "styles": method_styles(assessment, (name for name in assessment.scores if name in shown)),
        "digits": 3,
        "small": True,
    }
    return Figure(name, to_columns(rows), settings)


def _title(one: Example) -> str:
    wrong = f", Brier score {one.brier:.3f}" if np.isfinite(one.brier) else ""
    return f"Sequence {one.sequence}: probability of {one.followed}, outcome {one.label}{wrong}"


def _shown(assessment: Assessment) -> set[str]:
    """Return the lines that are shown at first: three bands would hide each other."""
    return {assessment.subject, "versus" if assessment.versus else "along time"}


def to_columns(rows: list[Row]) -> dict[str, list[Any]]:
    """Return rows as columns; numbers that are not finite become None."""
    names = list(rows[0]) if rows else []
    return {name: [_finite(row[name]) for row in rows] for name in names}


def _finite(value: Any) -> Any:
    return None if isinstance(value, float) and not np.isfinite(value) else value

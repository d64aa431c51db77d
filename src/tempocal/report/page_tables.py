"""The tables of a report, as text."""

from dataclasses import dataclass

import numpy as np

from tempocal.assessment import Assessment
from tempocal.assessment.chance import single_chance_limit
from tempocal.assessment.error_spans import direction
from tempocal.assessment.wording import method_text, span_text
from tempocal.inputs import time_text
from tempocal.metrics import IntervalEstimate


@dataclass(frozen=True)
class Cell:
    """Text of a cell, and smaller text below it."""

    text: str
    small: str = ""


@dataclass(frozen=True)
class PageTable:
    """A table of the page; the first cell of a row is its name, marked rows stand out."""

    name: str
    caption: str
    head: list[str]
    rows: list[list[Cell]]
    marked: frozenset[int] = frozenset()


def score_table(assessment: Assessment) -> PageTable:
    """Return one row for each method: its metrics with their intervals."""
    head = [
        "predictions",
        "NLL",
        f"gain in NLL over {assessment.names[assessment.subject][0]}",
        "Brier score",
        "calibration error, all rows",
        "calibration error, mean over time",
        "its chance limit",
        "AUC, all rows",
    ]
    rows = [
        [
            Cell(*assessment.names[name]),
            _with_interval(scores.nll),
            Cell("-") if name == assessment.subject else _with_interval(scores.gain),
            _with_interval(scores.brier),
            _with_interval(scores.ece),
            _with_interval(scores.ece_over_time.mean),
            Cell(f"{single_chance_limit(scores.ece_over_time.mean):.4f}"),
            _auc(scores.auc.overall),
        ]
        for name, scores in assessment.scores.items()
    ]
    return PageTable("scores", "Metrics of each kind of predictions", head, rows)


def time_bin_table(assessment: Assessment) -> PageTable:
    """Return one row for each time bin: the errors of all methods."""
    tables = {name: scores.ece_over_time for name, scores in assessment.scores.items()}
    subject = assessment.scores[assessment.subject]
    raw, over, limit = subject.ece_over_time, subject.overconfidence, subject.chance_limit
    called = assessment.names[assessment.subject][0]
    errors = [f"error, {assessment.names[name][0]}" for name in tables]
    head = ["when", "rows", "sequences", *errors, "chance limit", f"{called} are"]
    rows = [
        [
            Cell(span_text(raw.time_from[k], raw.time_to[k], assessment.facts.time_name)),
            Cell(f"{raw.rows[k]:,}"),
            Cell(f"{raw.sequences[k]:,}"),
            *(Cell(f"{table.value[k]:.4f}") for table in tables.values()),
            Cell(f"{limit[k]:.4f}"),
            Cell(direction(raw, over, k) or "may be chance"),
        ]
        for k in range(len(raw))
    ]
    return PageTable("time-bins", "Calibration errors in each stretch of time", head, rows)


def candidate_table(assessment: Assessment) -> PageTable:
    """Return one row for each candidate; those with a weight are marked."""
    head = [
        "candidate",
        "NLL",
        "difference to the best",
        "calibration error over time",
        "parameters",
        "weight",
        "verdict",
    ]
    rows, marked = [], []
    for k, one in enumerate(assessment.candidates):
        name = method_text(one["name"])
        error = _number(one["difference_error"], 5)
        rows.append(
            [
                Cell(name[0].upper() + name[1:]),
                Cell(_number(one["nll"], 5)),
                Cell(f"{_number(one['difference'], 5)} ± {error}"),
                Cell(_number(one["ece_over_time"], 4)),
                Cell(_number(one["parameters"], 1)),
                Cell(_number(one["weight"], 2)),
                Cell(one["verdict"]),
            ]
        )
        if one["verdict"].startswith(("chosen", "averaged")):
            marked.append(k)
    return PageTable("candidates", "Candidates, the best first", head, rows, frozenset(marked))


def fact_rows(assessment: Assessment) -> list[tuple[str, str]]:
    """Return names and values of the counts that describe the data."""
    facts = assessment.facts
    shares = zip(facts.classes, facts.shares, strict=True)
    thin = "; ".join(
        f"{span_text(first, last, facts.time_name)}: {n}" for first, last, n in facts.thin
    )
    return [
        ("rows", f"{facts.rows:,}"),
        ("sequences", _count(facts.sequences)),
        ("independent groups", _count(facts.groups)),
        ("classes", ", ".join(f"{name} ({share:.1%})" for name, share in shares)),
        (facts.time_name, f"{time_text(facts.time_from)} to {time_text(facts.time_to)}"),
        ("distinct times", f"{facts.distinct_times:,}"),
        ("fitted to", _part(facts.fitted_rows, facts.fitted_groups)),
        ("split", facts.split),
        ("evaluated on", _part(facts.judged_rows, facts.judged_groups)),
        ("time bins with fewer than 30 groups", thin or "none"),
    ]


def _with_interval(estimate: IntervalEstimate) -> Cell:
    if estimate.only_upper:
        return Cell(f"{estimate:.4f}", f"at most {estimate.upper:.4f}")
    return Cell(f"{estimate:.4f}", f"{estimate.lower:.4f} to {estimate.upper:.4f}")


def _auc(found: tuple[float, float, float]) -> Cell:
    value, low, high = found
    return Cell(f"{value:.4f}", f"{low:.4f} to {high:.4f}") if np.isfinite(value) else Cell("-")


def _count(count: int | None) -> str:
    return "not given: rows taken as independent" if count is None else f"{count:,}"


def _part(rows: int, groups: int | None) -> str:
    return f"{rows:,} rows" + ("" if groups is None else f" of {groups:,} groups")


def _number(value: float, digits: int) -> str:
    return f"{value:.{digits}f}" if np.isfinite(value) else "-"

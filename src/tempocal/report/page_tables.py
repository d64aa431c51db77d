"""Rows of the tables in a report, as text."""

from typing import Any

import numpy as np

from tempocal.assessment import Assessment
from tempocal.assessment.error_spans import direction
from tempocal.assessment.wording import span_text
from tempocal.inputs import time_text
from tempocal.metrics import IntervalEstimate

DESCRIPTIONS = {
    "raw": "unchanged",
    "global": "one temperature for all times",
    "along time": "candidates averaged by cross-validation",
}


def score_rows(assessment: Assessment) -> list[dict[str, Any]]:
    """Return one row for each method: its name, and its metrics with their intervals."""
    return [
        {
            "method": name,
            "description": DESCRIPTIONS[name],
            "numbers": [
                _with_interval(scores.nll),
                ("-", "") if name == "raw" else _with_interval(scores.gain),
                _with_interval(scores.brier),
                _with_interval(scores.ece),
                _with_interval(scores.ece_over_time.mean),
                (f"{scores.ece_over_time.mean.floor:.4f}", ""),
            ],
        }
        for name, scores in assessment.scores.items()
    ]


def time_bin_rows(assessment: Assessment) -> list[dict[str, Any]]:
    """Return one row for each time bin: its name and the errors of all methods."""
    tables = {name: scores.ece_over_time for name, scores in assessment.scores.items()}
    raw = tables["raw"]
    over = assessment.scores["raw"].overconfidence
    return [
        {
            "name": span_text(raw.time_from[k], raw.time_to[k]),
            "rows": f"{raw.rows[k]:,}",
            "sequences": f"{raw.sequences[k]:,}",
            "errors": [f"{table.value[k]:.3f}" for table in tables.values()],
            "floor": f"{raw.floor[k]:.3f}",
            "direction": direction(raw, over, k) or "may be chance",
        }
        for k in range(len(raw))
    ]


def candidate_rows(assessment: Assessment) -> list[dict[str, str]]:
    """Return one row for each candidate."""
    return [
        {
            "name": one["name"],
            "nll": _number(one["nll"], 5),
            "difference": " ± ".join(
                _number(one[key], 5) for key in ("difference", "difference_error")
            ),
            "error": _number(one["ece_over_time"], 4),
            "parameters": _number(one["parameters"], 1),
            "weight": _number(one["weight"], 2),
            "verdict": one["verdict"],
        }
        for one in assessment.candidates
    ]


def fact_rows(assessment: Assessment) -> list[tuple[str, str]]:
    """Return names and values of the counts that describe the data."""
    facts = assessment.facts
    shares = zip(facts.classes, facts.shares, strict=True)
    thin = "; ".join(f"{span_text(first, last)}: {n}" for first, last, n in facts.thin)
    return [
        ("rows", f"{facts.rows:,}"),
        ("sequences", _count(facts.sequences)),
        ("independent groups", _count(facts.groups)),
        ("classes", ", ".join(f"{name} ({share:.1%})" for name, share in shares)),
        ("time", f"{time_text(facts.time_from)} to {time_text(facts.time_to)}"),
        ("distinct times", f"{facts.distinct_times:,}"),
        ("fitted to", _part(facts.fitted_rows, facts.fitted_groups)),
        ("evaluated on", _part(facts.judged_rows, facts.judged_groups)),
        ("time bins with fewer than 30 groups", thin or "none"),
    ]


def _with_interval(estimate: IntervalEstimate) -> tuple[str, str]:
    if estimate.only_upper:
        return f"{estimate:.4f}", f"at most {estimate.upper:.4f}"
    return f"{estimate:.4f}", f"{estimate.lower:.4f} to {estimate.upper:.4f}"


def _count(count: int | None) -> str:
    return "not given: rows taken as independent" if count is None else f"{count:,}"


def _part(rows: int, groups: int | None) -> str:
    return f"{rows:,} rows" + ("" if groups is None else f" of {groups:,} groups")


def _number(value: float, digits: int) -> str:
    return f"{value:.{digits}f}" if np.isfinite(value) else "-"

"""The paper's two tables, with its numbers beside ours and our methods below its own."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from experiments.cache import write_text
from experiments.results import PAPER, Result
from tempocal.metrics import FriedmanNemenyi

HEAD = (
    "| Model | Calibration | NLL | paper | ECE | paper | ECE over seeds | overall ECE | floor |\n"
    "|---|---|---|---|---|---|---|---|---|"
)
# Who is as good as the best: of the paper's methods, and of all.
MARKS = {"paper": "•", "all": "◆"}
# A seed or more needed shrinkage where the paper has none.
SHRUNK = "†"
ALPHA = 0.05
BEST = "as_good_as_the_best"


def numbers_of(result: Result) -> dict[str, Any]:
    """Return the numbers of each method, and the tests between them."""
    methods = result.experiment.methods
    groups = {"paper": [one.name for one in methods if one.paper], "all": result.methods}
    tests = {
        f"{what}, {group}": result.ranked(what, names)
        for what in ("nll", "ece")
        for group, names in groups.items()
    }
    rows = {method.name: _row(result, method.name, tests) for method in methods}
    return {"methods": rows, "tests": {name: _told(test) for name, test in tests.items() if test}}


def _row(result: Result, method: str, tests: dict[str, FriedmanNemenyi | None]) -> dict[str, Any]:
    paper = PAPER.get(result.experiment.name, {}).get("table", {}).get(method, {})
    along = np.nanmean(result.along(method, "ece"), axis=0)
    shrunk = [seed["methods"][method]["warnings"] for seed in result.seeds]
    return {
        "nll": _mean_and_spread(result.of(method, "nll")),
        "nll_of_paper": paper.get("nll"),
        # The paper's: the spread is over stretches, of the means over seeds.
        "ece": _mean_and_spread(along),
        "ece_of_paper": paper.get("ece"),
        "ece_over_seeds": _mean_and_spread(result.errors(method)),
        "overall_ece": _mean_and_spread(result.of(method, "overall_ece")),
        "floor": float(np.nanmean(result.along(method, "floor"))),
        BEST: [name for name, test in tests.items() if _is_best(test, method)],
        "seeds_without_finite_optimum": sum(
            any("infinite" in one for one in told) for told in shrunk
        ),
    }


def _is_best(test: FriedmanNemenyi | None, method: str) -> bool:
    """Tell whether a method is in the best group; all are where nothing tells them apart."""
    if test is None or method not in test.names:
        return False
    return bool(test.p_value >= ALPHA) or method in test.best


def _told(test: FriedmanNemenyi) -> dict[str, Any]:
    return {
        "friedman_p": float(test.p_value),
        "critical_difference": float(test.critical_difference),
        "mean_ranks": dict(zip(test.names, map(float, test.mean_ranks), strict=True)),
    }


def markdown(result: Result) -> str:
    """Return the rows of an experiment in the table of its data set."""
    rows = numbers_of(result)["methods"]
    own = [method.name for method in result.experiment.methods if method.paper]
    # Bold: the best mean of the paper's methods, and of all.
    bold = {
        (what, min(names, key=lambda name: float(rows[name][what][0])))
        for what in ("nll", "ece")
        for names in (own, result.methods)
    }
    # The paper has four digits of rounds, where methods are closer.
    digits = 4 if result.experiment.dataset == "rounds" else 3
    lines = []
    for number, (method, row) in enumerate(rows.items()):
        dagger = SHRUNK if row["seeds_without_finite_optimum"] else ""
        cells = [result.experiment.model_title if number == 0 else "", method + dagger]
        for what in ("nll", "ece"):
            text = _number(row[what], digits)
            text = f"**{text}**" if (what, method) in bold else text
            marks = [m for group, m in MARKS.items() if f"{what}, {group}" in row[BEST]]
            cells += [f"{text} {''.join(marks)}".rstrip(), _number(row[f"{what}_of_paper"], digits)]
        cells += [_number(row[what], digits) for what in ("ece_over_seeds", "overall_ece")]
        cells.append(f"{row['floor']:.{digits}f}")
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def write_tables(results: dict[str, Result], folder: Path) -> None:
    """Write ``tables.md`` and ``tables.json``."""
    parts = []
    for title in dict.fromkeys(one.title for one in results.values()):
        those = [one for one in results.values() if one.title == title]
        parts.append(f"### {title}\n\n{HEAD}\n" + "\n".join(map(markdown, those)))
    numbers = {name: numbers_of(one) for name, one in results.items()}
    write_text(folder / "tables.md", "\n\n".join(parts) + "\n")
    write_text(folder / "tables.json", json.dumps(_rounded(numbers), indent=1) + "\n")


def _mean_and_spread(numbers: Iterable[float]) -> list[float]:
    values = np.array(list(numbers))
    return [float(values.mean()), float(values.std())]


def _number(pair: list[float] | None, digits: int) -> str:
    return "" if pair is None else f"{pair[0]:.{digits}f} ± {pair[1]:.{digits}f}"


def _rounded(numbers: Any) -> Any:
    """Keep five digits after the point: the rest differs between machines."""
    if isinstance(numbers, dict):
        return {name: _rounded(one) for name, one in numbers.items()}
    if isinstance(numbers, list):
        return [_rounded(one) for one in numbers]
    return round(numbers, 5) if isinstance(numbers, float) else numbers

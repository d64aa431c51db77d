"""Draw the chart of docs/speed.md and write its tables beside other libraries.

``python -m benchmarks --save build/speed.json`` on a quiet machine, then
``python docs/pictures/speed.py build/speed.json``, which keeps the numbers in ``speed.json``.
Without a file, those are drawn again.
"""

import json
import re
import shutil
import sys
from pathlib import Path
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt

HERE = Path(__file__).parent
STORED, PAGE = HERE / "speed.json", HERE.parent / "speed.md"
OURS, OTHERS = "#0072b2", "#767676"
CHART = (
    "![Times for a million rows on a logarithmic scale, tempocal beside the quickest of the other "
    "libraries: temperature, a temperature for each of 36 steps, an exponential along time, "
    "isotonic regression and the calibration error](pictures/speed.svg)"
)
PEERS = ("scikit-learn", "loop over scikit-learn", "scipy", "Adam", "NumPy", "torchmetrics")
# What is drawn: the title of a table, its name in the chart.
DRAWN = {
    "Temperature, 1,000,000 binary rows": "temperature",
    "Temperature per step, 1,000,000 rows x 36 steps": "temperature for\neach of 36 steps",
    "Exponential, 1,000,000 rows x 36 steps": "exponential\nalong time",
    "Isotonic, 1,000,000 rows": "isotonic",
    "ECE, 1,000,000 rows, 15 bins": "ECE",
}
Times = dict[str, float]


def draw(tables: dict[str, Times], path: Path) -> None:
    """Draw a line for each of some fits, from our time to the best of the others."""
    mpl.rcParams.update({"svg.hashsalt": "tempocal", "font.size": 14})
    figure, axis = plt.subplots(figsize=(6.4, 5.2), layout="constrained")
    for row, title in enumerate(DRAWN):
        times = tables[title]
        ours, (name, other) = next(iter(times.values())), _best(times)
        axis.plot([ours, other], [row, row], color="#c8c8c8", lw=5, solid_capstyle="butt", zorder=1)
        axis.scatter([ours, other], [row, row], s=110, color=[OURS, OTHERS], zorder=2)
        for seconds, words, color in (
            (ours, _in_words(ours) + ("" if row else "\ntempocal"), OURS),
            (other, f"{_in_words(other)}\n{_library(name)}", OTHERS),
        ):
            axis.annotate(
                words, (seconds, row), (0, -11), textcoords="offset points", color=color,
                ha="center", va="top", fontsize=12.5, linespacing=1.1,
            )  # fmt: skip
        axis.annotate(
            f"{_ratio(other / ours)}x", ((ours * other) ** 0.5, row), (0, 6),
            textcoords="offset points", ha="center", va="bottom", fontsize=14, weight="bold",
        )  # fmt: skip
    axis.set_xscale("log")
    axis.set_xlim(2e-4, 4)
    axis.set_ylim(len(DRAWN) - 0.25, -0.6)
    axis.set_yticks(range(len(DRAWN)), DRAWN.values())
    axis.set_xticks([1e-3, 1e-2, 1e-1, 1], ["1 ms", "10 ms", "100 ms", "1 s"])
    axis.tick_params("y", length=0)
    axis.minorticks_off()
    axis.spines[["top", "right", "left"]].set_visible(False)
    axis.set_title("Time for a million rows, and that of the best of others", fontsize=14, x=0.33)
    figure.savefig(path, metadata={"Date": None})


def written(tables: dict[str, Times]) -> dict[str, str]:
    """Return the tables of the page by their names there."""
    return {
        "temperature": _temperatures(tables),
        "matrix": _beside(tables, "Matrix scaling", ["scikit-learn LogisticRegression, lbfgs"]),
        "ece": _beside(
            tables, "ECE", ["NumPy, digitize and bincount", "torchmetrics", "np.sum, for scale"]
        ),
        "isotonic": _beside(
            tables,
            "Isotonic",
            [
                "scikit-learn IsotonicRegression",
                "tempocal BayesianBinning",
                "tempocal NearIsotonicEnsemble",
            ],
        ),
        "per-step": _beside(
            tables,
            "Temperature per step",
            [
                "loop over scikit-learn LogisticRegression, lbfgs",
                "loop over scikit-learn LogisticRegression, newton-cholesky",
            ],
        ),
        "exponential": _beside(
            tables,
            "Exponential",
            ["scipy L-BFGS-B on NumPy, one start", "Adam in PyTorch, 500 steps, one start"],
        ),
        "groups": _with_groups(tables),
    }


def _temperatures(tables: dict[str, Times]) -> str:
    head = ["rows", "`shrinkage=0`", "default", "best of scikit-learn", "its temperature scaling"]
    lines = []
    for title, times in tables.items():
        if re.match(r"Temperature, .* (binary rows|classes)$", title):
            ours, default, *_ = times.values()
            name, best = _best(times)
            theirs = times["scikit-learn temperature scaling"]
            solver = name.rpartition(", ")[2] if "," in name else "temperature scaling"
            lines.append(
                [
                    title.removeprefix("Temperature, "),
                    _in_words(ours),
                    _in_words(default),
                    f"{_in_words(best)}, {_ratio(best / ours)}x ({solver})",
                    f"{_in_words(theirs)}, {_ratio(theirs / ours)}x",
                ]
            )
    return _table(head, lines)


def _beside(tables: dict[str, Times], kind: str, others: list[str]) -> str:
    """Return a line for each size: our time, and those of others with their ratio to it."""
    lines = []
    for title, times in tables.items():
        if title.startswith(kind + ","):
            ours = next(iter(times.values()))
            cells = [f"{_in_words(times[o])}, {_ratio(times[o] / ours)}x" for o in others]
            lines.append([title.removeprefix(kind + ", "), _in_words(ours), *cells])
    return _table(["", "tempocal", *(_short(other) for other in others)], lines)


def _with_groups(tables: dict[str, Times]) -> str:
    found = {t: v for t, v in tables.items() if t.startswith("Temperature per step")}
    pairs = {
        "PerStep, groups, shrinkage from the data": "`PerStep`",
        "the same, rows of a group far apart": "the same, rows of a group scattered",
        "ExponentialDecay, groups, shrinkage from the data": "`ExponentialDecay`",
        "Spline, groups, shrinkage from the data": "`Spline`",
    }.items()
    lines = [[words, *(_in_words(v[name]) for v in found.values())] for name, words in pairs]
    return _table(["", *(t.removeprefix("Temperature per step, ") for t in found)], lines)


def _table(head: list[str], lines: list[list[str]]) -> str:
    rows = [head, ["---"] * len(head), *lines]
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def _best(times: Times) -> tuple[str, float]:
    """Return the quickest of the other libraries."""
    others = {name: seconds for name, seconds in times.items() if name.startswith(PEERS)}
    return min(others.items(), key=lambda pair: pair[1])


def _library(name: str) -> str:
    spelled = {"scipy": "SciPy", "Adam": "PyTorch", "loop": "scikit-learn"}
    first = name.split(maxsplit=1)[0].rstrip(",")
    return spelled.get(first, first)


def _short(name: str) -> str:
    return name.removeprefix("loop over ").replace("scipy", "SciPy").replace(", for scale", "")


def _in_words(seconds: float) -> str:
    """Write a time with two digits."""
    unit, factor = ("s", 1.0) if seconds >= 0.9995 else ("ms", 1e3)
    value = seconds * factor
    return f"{value:,.0f} {unit}" if value >= 9.95 else f"{value:.1f} {unit}"


def _ratio(ratio: float) -> str:
    return f"{ratio:,.0f}" if ratio >= 9.95 else f"{ratio:.1f}"


def _renew(page: str, name: str, table: str) -> str:
    """Put a table between its two comments."""
    found = re.compile(rf"(<!-- {name} -->\n).*?(\n<!-- end -->)", re.DOTALL)
    if len(found.findall(page)) != 1:
        raise ValueError(f"{PAGE.name} must have <!-- {name} --> ... <!-- end --> once")
    return found.sub(lambda match: match[1] + table + match[2], page)


def main() -> None:
    """Store the numbers, if there are new ones; draw the chart and write the tables."""
    if len(sys.argv) > 1:
        shutil.copyfile(sys.argv[1], STORED)
    stored: dict[str, Any] = json.loads(STORED.read_text(encoding="utf-8"))
    tables: dict[str, Times] = stored["tables"]
    draw(tables, Path(__file__).with_suffix(".svg"))
    page = PAGE.read_text(encoding="utf-8")
    for name, table in {"chart": CHART, "machine": stored["machine"], **written(tables)}.items():
        page = _renew(page, name, table)
    PAGE.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()

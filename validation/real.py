"""Predictions of real models on real sequences: fits by outcomes and by the forecasts in between.

Of the sequences in a file of ``experiments/results/predictions`` some are drawn to fit to, and all
others judge the fits.
"""

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from experiments.predictions import read_predictions

import tempocal as tc
from validation.paired import LabeledForecasts, compare, difference, mean_nll

FOLDER = Path(__file__).parent.parent / "experiments" / "results" / "predictions"
SETS = sorted(path.stem for path in FOLDER.glob("*.parquet"))
CALIBRATORS: dict[str, Any] = {"temperature": tc.TemperatureScaling, "Platt": tc.PlattScaling}
COUNTS = (30, 50, 150, 500)
# Sequences of each set that are drawn from and tested on.
AT_MOST = 8000


def tasks(sets: int) -> list[dict[str, Any]]:
    """Draw sequences of each set, for each calibrator and number of sequences."""
    return [
        {"set": name, "calibrator": calibrator, "sequences": sequences, "seed": seed}
        for seed in range(sets)
        for name in SETS
        for calibrator in CALIBRATORS
        for sequences in COUNTS
    ]


def run(task: dict[str, Any]) -> dict[str, Any]:
    """Fit to one draw of sequences of one set."""

    def make() -> tc.TemporalCalibrator:
        return tc.TemporalCalibrator(CALIBRATORS[task["calibrator"]](), tc.Spline())

    return {**task, **compare(read(task["set"]), make, task["sequences"], task["seed"])}


@cache
def read(name: str) -> LabeledForecasts:
    """Return the forecasts of a set, of at most so many sequences."""
    found = read_predictions(FOLDER / f"{name}.parquet")
    # Where a sequence was cut twice at the same length its rows are the same, in any order.
    rows = np.lexsort((found.length, found.sequence))
    everything = LabeledForecasts(
        logits=found.logit.astype(np.float64),
        label=found.label,
        time=found.length.astype(np.float64),
        sequence=found.sequence,
        groups=found.groups,
    )
    return everything.take(rows).at_most(AT_MOST)


def table(results: list[dict[str, Any]]) -> str:
    """Difference of NLL for each set, calibrator and number of sequences, in thousandths."""
    lines = [
        "| set | calibrator | sequences | draws | raw | outcomes | auto | auto - outcomes | +- "
        "| upper end | fits by outcomes |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    keys = sorted({(one["set"], one["calibrator"], one["sequences"]) for one in results})
    for key in keys:
        cell = [one for one in results if (one["set"], one["calibrator"], one["sequences"]) == key]
        lines.append("| " + " | ".join([*map(str, key), str(len(cell)), *_numbers(cell)]) + " |")
    return "\n".join(lines)


def _numbers(cell: list[dict[str, Any]]) -> list[str]:
    found = difference(cell, "auto", "outcomes")
    levels = [f"{mean_nll(cell, name):.4f}" for name in ("raw", "outcomes", "auto")]
    by_outcomes = np.mean([one.get("taken") == "outcomes" for one in cell])
    gains = [f"{1000 * value:+.2f}" for value in (found.mean, found.error, found.upper)]
    gains[1] = gains[1].lstrip("+")
    return [*levels, *gains, f"{100 * by_outcomes:.0f} %"]

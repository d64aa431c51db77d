"""Does it matter which ECE is taken? The paper does not say which bins are inside of its own."""

import warnings
from functools import partial
from pathlib import Path
from typing import Literal

import numpy as np

from experiments.cache import write_text
from experiments.methods import SLOPE_AND_BIAS, calibrate
from experiments.predictions import read_predictions
from experiments.results import Result
from experiments.scores import probabilities, stretches
from tempocal.errors import TempocalWarning
from tempocal.metrics import ece

BINS: tuple[tuple[int, Literal["equal_mass", "equal_width"]], ...] = (
    (10, "equal_mass"),
    (5, "equal_mass"),
    (10, "equal_width"),
    (15, "equal_width"),
)
EVENTS: tuple[Literal["top_label", "positive_class"], ...] = ("top_label", "positive_class")
DEFINITIONS = {
    f"{of.replace('_', ' ')}, {bins} bins of equal {binning.removeprefix('equal_')}": partial(
        ece, bins=bins, binning=binning, of=of, classes=[0, 1]
    )
    for of in EVENTS
    for bins, binning in BINS
}


def write_definitions(results: dict[str, Result], predictions: Path, folder: Path) -> None:
    """Write ``definitions.md``: mean ECE over stretches, of the first seed, by each definition."""
    parts = []
    for name, result in results.items():
        rows = read_predictions(predictions / f"{name}.parquet")
        test = rows.part(calibration=False)
        cut = stretches(test, steps=result.experiment.steps)
        methods = [m for m in result.experiment.methods if m.paper or m == SLOPE_AND_BIAS]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", TempocalWarning)  # the scores have them
            found = [probabilities(calibrate(method, rows)[1]) for method in methods]
        title = f"{result.data_title}, {result.experiment.model_title}"
        lines = [
            f"| {title} | " + " | ".join(method.name for method in methods) + " |",
            "|---|" + "---|" * len(methods),
        ]
        for words, metric in DEFINITIONS.items():
            errors = [
                np.mean([metric(test.label[s.rows], proba[s.rows]) for s in cut]) for proba in found
            ]
            lines.append(f"| {words} | " + " | ".join(f"{one:.3f}" for one in errors) + " |")
        parts.append("\n".join(lines))
    write_text(folder / "definitions.md", "\n\n".join(parts) + "\n")

"""The files that are committed: scores of every seed, and predictions of the first."""

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments.cache import write_text
from experiments.catalog import EXPERIMENTS, Experiment
from tempocal.errors import InputError
from tempocal.metrics import FriedmanNemenyi, friedman_nemenyi

HERE = Path(__file__).parent / "results"
PAPER: dict[str, Any] = json.loads(Path(__file__).with_name("paper.json").read_text())


@dataclass(frozen=True)
class Result:
    """Scores of an experiment over its seeds."""

    experiment: Experiment
    about: dict[str, Any]  # which data, vectors or encoder, how long it was trained
    seeds: list[dict[str, Any]]  # scores of each

    @property
    def title(self) -> str:
        """What the results are of, in words."""
        return f"{self.data_title}, {len(self.seeds)} seeds"

    @property
    def data_title(self) -> str:
        """What the data are, in words."""
        name = self.experiment.data_title
        if self.about["made_up"]:
            return f"Made-up data in place of {name}"
        return name if self.about["complete"] else f"{name}, a sample"

    @property
    def methods(self) -> list[str]:
        """Names of the methods, the paper's first."""
        return [method.name for method in self.experiment.methods]

    def of(self, method: str, what: str) -> NDArray[np.float64]:
        """Return a score of a method for each seed."""
        return np.array([seed["methods"][method][what] for seed in self.seeds])

    def along(self, method: str, what: str) -> NDArray[np.float64]:
        """Return a score in each stretch: a row a seed, a column a stretch."""
        return self._aligned([seed["methods"][method][what] for seed in self.seeds])

    def errors(self, method: str) -> NDArray[np.float64]:
        """Return the ECE of the paper's tables for each seed: the mean over stretches."""
        means: NDArray[np.float64] = np.nanmean(self.along(method, "ece"), axis=1)
        return means

    def ranked(self, what: str, methods: list[str]) -> FriedmanNemenyi | None:
        """Compare methods over seeds by the Friedman and the Nemenyi test, if there are two."""
        scores = [self.errors(m) if what == "ece" else self.of(m, what) for m in methods]
        if len(self.seeds) < 2:
            return None
        return friedman_nemenyi(np.column_stack(scores), names=methods)

    @property
    def lengths(self) -> NDArray[np.float64]:
        """Mean length of each stretch."""
        lengths = self._aligned([seed["lengths"] for seed in self.seeds])
        means: NDArray[np.float64] = np.nanmean(lengths, axis=0)
        return means

    def _aligned(self, rows: list[list[float]]) -> NDArray[np.float64]:
        """Put numbers of stretches below each other; where a seed has no such rows there is NaN."""
        columns = sorted({number for seed in self.seeds for number in seed["stretches"]})
        table = np.full((len(rows), len(columns)), np.nan)
        for line, row, seed in zip(table, rows, self.seeds, strict=True):
            line[np.searchsorted(columns, seed["stretches"])] = row
        return table


def write_result(result: Result, folder: Path) -> None:
    """Write the scores of an experiment."""
    content = {"about": result.about, "seeds": result.seeds}
    # Lists of numbers on one line each.
    text = re.sub(
        r"\[\s+([^\[\]{}]*?)\s+\]",
        lambda found: "[" + re.sub(r"\s+", " ", found[1]) + "]",
        json.dumps(content, indent=1),
    )
    write_text(folder / f"{result.experiment.name}.json", text + "\n")


def require_better(experiment: Experiment, folder: Path, *, seeds: int, made_up: bool) -> None:
    """Refuse to put a result in the place of one that says more."""
    old = read_results(folder).get(experiment.name)
    if old is None or old.about["made_up"]:
        return
    if made_up or seeds < len(old.seeds):
        raise InputError(
            f"{folder} has results of {experiment.name} over {len(old.seeds)} seeds, which would "
            "be replaced by ones that say less: name another folder with --output"
        )


def read_results(folder: Path) -> dict[str, Result]:
    """Read the scores of all experiments that were run."""
    found = {}
    for name, experiment in EXPERIMENTS.items():
        path = folder / f"{name}.json"
        if path.exists():
            content = json.loads(path.read_text(encoding="utf-8"))
            found[name] = Result(experiment, content["about"], content["seeds"])
    return found

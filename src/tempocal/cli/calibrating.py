"""Blocks of a file with the calibrated probabilities beside what they had."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from tempocal.cli.echo import say
from tempocal.cli.flag_wording import in_words_of_the_command
from tempocal.cli.options import Named
from tempocal.cli.read_predictions import flags_of, naming_flags, split_names, stacked
from tempocal.errors import InputError
from tempocal.files import as_numbers, as_times, require_columns
from tempocal.links import Array
from tempocal.predictor import Predictor

# Rows from which on logits that all lie in [0, 1] are worth a word.
MANY_ROWS = 50


@dataclass(frozen=True)
class Calibrating:
    """A model, and which columns it is to be given."""

    model: Predictor
    scores: list[str]
    times: list[str]
    flags: dict[str, str]
    added: list[str]
    file: str
    seen: dict[str, float] = field(default_factory=lambda: {"low": np.inf, "high": -np.inf})

    @classmethod
    def of(
        cls, model: Predictor, named: Named, schema: Any, file: str, column: str
    ) -> "Calibrating":
        """Find the columns, and refuse those that the model cannot take."""
        scores = split_names(named.logits or named.proba, schema.names)
        times = split_names((named.time,), schema.names) if named.time else []
        flags = {**flags_of(_without_time(named), scores), **dict.fromkeys(times, "--time")}
        with naming_flags(flags):
            require_columns([*scores, *times], schema.names, file)
        require_goes_with(model, named, len(scores), len(times))
        return cls(model, scores, times, flags, _names(model.classes, column), file)

    def schema(self, before: Any, *, overwrite: bool) -> Any:
        """Return the columns that come out."""
        there = [name for name in self.added if name in before.names]
        if there and not overwrite:
            raise InputError(
                f"{self.file} has a column {there[0]!r} already: say --overwrite to replace it, or "
                "--column for another name"
            )
        fields = [_probability(one.name) if one.name in there else one for one in before]
        fields += [_probability(name) for name in self.added if name not in there]
        return pa.schema(fields, metadata=before.metadata)

    def calibrated(self, block: Any, *, first_row: int, schema: Any) -> Any:
        """Return a block with its calibrated probabilities."""
        with naming_flags(self.flags):
            scores = stacked(
                [as_numbers(block.column(name), name, first_row) for name in self.scores]
            )
            times = [as_times(block.column(name), name, first_row) for name in self.times]
        proba = self._predict(scores, times, first_row)
        columns = [proba[:, 1]] if len(self.added) == 1 else list(proba.T)
        new = dict(zip(self.added, columns, strict=True))
        return pa.table(
            [pa.array(new[n]) if n in new else block.column(n) for n in schema.names],
            schema=schema,
        )

    def _predict(self, scores: Array, times: list[NDArray[Any]], first_row: int) -> Array:
        self.seen["low"] = min(self.seen["low"], float(scores.min()))
        self.seen["high"] = max(self.seen["high"], float(scores.max()))
        time = None if not times else times[0] if len(times) == 1 else tuple(times)
        with in_words_of_the_command(first_row):
            return self.model.predict_proba(scores, time)


def require_goes_with(model: Predictor, named: Named, n_scores: int, n_times: int) -> None:
    """Refuse predictions of another kind or number than the model was fitted to."""
    given: Any = "logits" if named.logits else "proba"
    if given != model.inputs:
        raise InputError(
            f"the model was fitted to {_word(model.inputs)}: name columns of them with "
            f"--{model.inputs} instead of --{given}"
        )
    if n_scores != model.columns:
        raise InputError(
            f"the model was fitted to {model.columns} column{'s' * (model.columns > 1)} of "
            f"{_word(model.inputs)}, but --{given} names {n_scores}"
        )
    clocks = len(model.time_kinds)
    if clocks and n_times != clocks:
        raise InputError(
            f"the model changes along time: name the column{'s' * (clocks > 1)} of times with "
            f"--time{' (two, comma separated)' * (clocks > 1)}"
        )
    if n_times and not clocks:
        raise InputError("the model does not change along time: leave out --time")


def warn_of_scale(job: Calibrating, n_rows: int) -> None:
    """Say so where many logits look like probabilities."""
    low, high = job.seen["low"], job.seen["high"]
    if job.model.inputs == "logits" and n_rows >= MANY_ROWS and 0.0 <= low < 0.5 < high <= 1.0:
        say(
            f"Warning: all logits lie in [0, 1], as probabilities do, but the model was fitted to "
            f"logits: is --logits {','.join(job.scores)} the right column?",
            err=True,
        )


def _without_time(named: Named) -> Named:
    return Named(named.file, logits=named.logits, proba=named.proba)


def _names(classes: NDArray[Any], column: str) -> list[str]:
    """One new column for two classes, else one for each."""
    return [column] if len(classes) == 2 else [f"{column}_{one}" for one in classes.tolist()]


def _probability(name: str) -> Any:
    return pa.field(name, pa.float64())


def _word(inputs: str) -> str:
    return "logits" if inputs == "logits" else "probabilities"

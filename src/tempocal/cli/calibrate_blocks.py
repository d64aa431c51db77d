"""Adding calibrated probabilities to blocks of a file."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from tempocal.cli.column_checks import require_order
from tempocal.cli.flag_wording import translate_errors
from tempocal.cli.options import ColumnOptions
from tempocal.cli.read_predictions import flags_of, prefix_column_errors, split_names, stack_columns
from tempocal.cli.terminal import echo
from tempocal.errors import InputError
from tempocal.files import as_numbers, as_times, require_columns
from tempocal.links import Array
from tempocal.predictor import Predictor

# Fewer logits than this may all lie in [0, 1] by chance.
MIN_ROWS_FOR_WARNING = 50


@dataclass(frozen=True)
class BlockCalibrator:
    """A model, and the columns of its input and output."""

    model: Predictor
    columns: list[str]  # of logits or probabilities
    times: list[str]
    flags: dict[str, str]  # by which the columns were named
    added: list[str]
    file: str
    min_max: dict[str, float] = field(default_factory=lambda: {"min": np.inf, "max": -np.inf})

    @classmethod
    def of(
        cls, model: Predictor, options: ColumnOptions, schema: Any, file: str, column: str
    ) -> "BlockCalibrator":
        """Find the columns, and refuse those that do not match the model."""
        columns = split_names(options.logits or options.proba, schema.names)
        times = split_names((options.time,), schema.names) if options.time else []
        flags = {**flags_of(_without_time(options), columns), **dict.fromkeys(times, "--time")}
        with prefix_column_errors(flags):
            require_columns([*columns, *times], schema.names, file)
        require_matching_model(model, options, len(columns), len(times))
        require_order(columns, model.classes, model.inputs)
        return cls(model, columns, times, flags, _names(model.classes, column), file)

    def schema(self, before: Any, *, overwrite: bool) -> Any:
        """Return the schema of the output."""
        existing = [name for name in self.added if name in before.names]
        if existing and not overwrite:
            raise InputError(
                f"{self.file} has a column {existing[0]!r} already: say --overwrite to replace it, "
                "or --column for another name"
            )
        fields = [_probability(one.name) if one.name in existing else one for one in before]
        fields += [_probability(name) for name in self.added if name not in existing]
        return pa.schema(fields, metadata=before.metadata)

    def calibrated(self, block: Any, *, first_row: int, schema: Any) -> Any:
        """Return a block with its calibrated probabilities."""
        with prefix_column_errors(self.flags):
            predictions = stack_columns(
                [as_numbers(block.column(name), name, first_row) for name in self.columns]
            )
            times = [as_times(block.column(name), name, first_row) for name in self.times]
        proba = self._predict(predictions, times, first_row)
        values = [proba[:, 1]] if len(self.added) == 1 else list(proba.T)
        new = dict(zip(self.added, values, strict=True))
        return pa.table(
            [pa.array(new[n]) if n in new else block.column(n) for n in schema.names],
            schema=schema,
        )

    def _predict(self, predictions: Array, times: list[NDArray[Any]], first_row: int) -> Array:
        self.min_max["min"] = min(self.min_max["min"], float(predictions.min()))
        self.min_max["max"] = max(self.min_max["max"], float(predictions.max()))
        time = None if not times else times[0] if len(times) == 1 else tuple(times)
        with translate_errors(first_row):
            return self.model.predict_proba(predictions, time)


def require_matching_model(
    model: Predictor, options: ColumnOptions, n_columns: int, n_times: int
) -> None:
    """Refuse predictions of another kind or number than the model was fitted to."""
    given: Any = "logits" if options.logits else "proba"
    if given != model.inputs:
        raise InputError(
            f"the model was fitted to {_word(model.inputs)}: name columns of them with "
            f"--{model.inputs} instead of --{given}"
        )
    if n_columns != model.columns:
        raise InputError(
            f"the model was fitted to {model.columns} column{'s' * (model.columns > 1)} of "
            f"{_word(model.inputs)}, but --{given} names {n_columns}"
        )
    clocks = len(model.time_kinds)
    if clocks and n_times != clocks:
        raise InputError(
            f"the model changes along time: name the column{'s' * (clocks > 1)} of times with "
            f"--time{' (two, comma separated)' * (clocks > 1)}"
        )
    if n_times and not clocks:
        raise InputError("the model does not change along time: leave out --time")


def warn_if_probabilities(job: BlockCalibrator, n_rows: int) -> None:
    """Warn if many logits look like probabilities."""
    low, high = job.min_max["min"], job.min_max["max"]
    in_unit_interval = 0.0 <= low < 0.5 < high <= 1.0
    if job.model.inputs == "logits" and n_rows >= MIN_ROWS_FOR_WARNING and in_unit_interval:
        echo(
            f"Warning: all logits lie in [0, 1], as probabilities do, but the model was fitted to "
            f"logits: is --logits {','.join(job.columns)} the right column?",
            err=True,
        )


def _without_time(options: ColumnOptions) -> ColumnOptions:
    return ColumnOptions(options.file, logits=options.logits, proba=options.proba)


def _names(classes: NDArray[Any], column: str) -> list[str]:
    return [column] if len(classes) == 2 else [f"{column}_{one}" for one in classes.tolist()]


def _probability(name: str) -> Any:
    return pa.field(name, pa.float64())


def _word(inputs: str) -> str:
    return "logits" if inputs == "logits" else "probabilities"

"""Evaluation of the predictions of a file, raw and calibrated."""

from dataclasses import dataclass
from typing import Any

from tempocal.cli.calibrate_blocks import require_matching_model
from tempocal.cli.flag_wording import translate_errors
from tempocal.cli.measures import Measures, measure
from tempocal.cli.options import ColumnOptions
from tempocal.cli.read_predictions import FilePredictions, open_predictions
from tempocal.cli.terminal import show_progress
from tempocal.errors import InputError
from tempocal.inputs import as_logits
from tempocal.links import proba_from_logits
from tempocal.predictor import Predictor, read_model


@dataclass(frozen=True)
class EvaluationFacts:
    """Counts and flags of a file of predictions, for the output."""

    name: str
    rows: int
    sequences: int | None
    groups: int | None
    has_time: bool
    one_column: bool

    @property
    def has_clusters(self) -> bool:
        """Whether there are sequences or groups."""
        return self.sequences is not None or self.groups is not None


@dataclass(frozen=True)
class Evaluation:
    """The metrics of raw and, with a model, calibrated predictions."""

    facts: EvaluationFacts
    measured: list[Measures]


def evaluate_file(options: ColumnOptions, model: str | None, bins: int, seed: int) -> Evaluation:
    """Evaluate the predictions of a file: in memory, unless it is large."""
    with open_predictions(options, "Measuring") as rows:
        if not isinstance(rows, FilePredictions):
            from tempocal.cli.large_measures import evaluate_large

            return evaluate_large(rows, model, bins=bins, seed=seed)
        with show_progress("Measuring"), translate_errors():
            return Evaluation(_facts(rows), _measured(rows, options, model, bins, seed))


def model_for(
    path: str, options: ColumnOptions, *, columns: int, has_time: bool, classes: Any
) -> Predictor:
    """Read a model, which must match the predictions."""
    fitted = read_model(path)
    clocks = len(fitted.time_kinds)
    if clocks > 1:
        raise InputError(
            "the model has two clocks: apply it first, then evaluate its column with --proba"
        )
    require_matching_model(fitted, options, columns, clocks and int(has_time))
    known = fitted.classes.tolist()
    if classes is not None and classes != known:
        raise InputError(f"the classes of the model are {known}, but --classes {classes}")
    return fitted


def _measured(
    rows: FilePredictions, options: ColumnOptions, model: str | None, bins: int, seed: int
) -> list[Measures]:
    raw = proba_from_logits(as_logits(rows.predictions, rows.inputs, name=rows.inputs))
    settings = {"bins": bins, "seed": seed}
    if model is None:
        return [measure("raw", rows, raw, classes=rows.classes, **settings)]
    columns = 1 if rows.predictions.ndim == 1 else rows.predictions.shape[1]
    has_time = rows.time is not None
    fitted = model_for(model, options, columns=columns, has_time=has_time, classes=rows.classes)
    proba = fitted.predict_proba(rows.predictions, rows.time if fitted.time_kinds else None)
    found = {"raw": raw, "calibrated": proba}
    return [measure(n, rows, p, classes=fitted.classes, **settings) for n, p in found.items()]


def _facts(rows: FilePredictions) -> EvaluationFacts:
    return EvaluationFacts(
        rows.name,
        len(rows.labels),
        None if rows.sequence is None else len(rows.sequence.values),
        None if rows.group is None else len(rows.group.values),
        rows.time is not None,
        rows.predictions.ndim == 1 or rows.predictions.shape[1] == 1,
    )

"""Evaluation of the predictions of a file, raw and calibrated."""

from dataclasses import dataclass
from typing import Any

from tempocal.cli.calibrate_blocks import require_matching_model
from tempocal.cli.gains import Gains, measure_gains
from tempocal.cli.measures import Measures, measure
from tempocal.cli.options import ColumnOptions
from tempocal.cli.read_predictions import LabeledPredictions, open_predictions
from tempocal.errors import InputError
from tempocal.predictor import Predictor, read_model


@dataclass(frozen=True)
class Evaluation:
    """The metrics of raw and, with a model, calibrated predictions, and what the model gains."""

    rows: LabeledPredictions
    measured: list[Measures]
    gains: Gains | None = None


def evaluate_file(options: ColumnOptions, model: str | None, bins: int, seed: int) -> Evaluation:
    """Evaluate the predictions of a file, raw and calibrated by a model."""
    with open_predictions(options, "Measuring") as rows, rows.working("Measuring"):
        fitted = None if model is None else _model(model, options, rows)
        models: dict[str, Predictor | None] = {"raw": None}
        classes = rows.label_classes
        if fitted is not None:
            models["calibrated"], classes = fitted, fitted.classes
        scored: dict[str, Any] = {n: rows.scored(one, classes) for n, one in models.items()}
        time_bins = rows.cut(scored["raw"], bins) if rows.has_time else None
        measured = [measure(name, one, time_bins, classes, seed) for name, one in scored.items()]
        gains = None
        if fitted is not None:
            gains = measure_gains(rows.paired(fitted, classes), time_bins, seed)
        return Evaluation(rows, measured, gains)


def _model(path: str, options: ColumnOptions, rows: Any) -> Predictor:
    """Read a model, which must match the predictions."""
    fitted = read_model(path)
    clocks = len(fitted.time_kinds)
    if clocks > 1:
        raise InputError(
            "the model has two clocks: apply it first, then evaluate its column with --proba"
        )
    require_matching_model(fitted, options, rows.n_columns, clocks and int(rows.has_time))
    known = fitted.classes.tolist()
    if rows.classes is not None and rows.classes != known:
        raise InputError(f"the classes of the model are {known}, but --classes {rows.classes}")
    return fitted

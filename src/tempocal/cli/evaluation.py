"""Predictions of a file measured, and what is said of them beside the numbers."""

from dataclasses import dataclass
from typing import Any

from tempocal.cli.calibrating import require_goes_with
from tempocal.cli.flag_wording import in_words_of_the_command
from tempocal.cli.measures import Measures, measure
from tempocal.cli.open_rows import opened
from tempocal.cli.options import Named
from tempocal.cli.progress import waiting
from tempocal.cli.read_predictions import Predictions
from tempocal.errors import InputError
from tempocal.inputs import as_logits
from tempocal.links import proba_from_logits
from tempocal.predictor import Predictor, read_model


@dataclass(frozen=True)
class Facts:
    """What is known of a file of predictions."""

    name: str
    rows: int
    sequences: int | None
    groups: int | None
    has_time: bool
    one_column: bool

    @property
    def has_units(self) -> bool:
        """Whether it is known which rows belong together."""
        return self.sequences is not None or self.groups is not None


@dataclass(frozen=True)
class Evaluated:
    """Facts, and the numbers of the predictions as they are and as a model makes them."""

    facts: Facts
    measured: list[Measures]


def evaluate_file(named: Named, model: str | None, bins: int, seed: int) -> Evaluated:
    """Measure the predictions of a file: in memory, unless it is large."""
    with opened(named, "Measuring") as rows:
        if not isinstance(rows, Predictions):
            from tempocal.cli.large_measures import evaluate_large

            return evaluate_large(rows, model, bins=bins, seed=seed)
        with waiting("Measuring"), in_words_of_the_command():
            return Evaluated(_facts(rows), _measured(rows, named, model, bins, seed))


def model_for(path: str, named: Named, *, columns: int, has_time: bool, classes: Any) -> Predictor:
    """Read a model, which must go with the predictions."""
    fitted = read_model(path)
    clocks = len(fitted.time_kinds)
    if clocks > 1:
        raise InputError(
            "the model has two clocks: apply it first, then evaluate its column with --proba"
        )
    require_goes_with(fitted, named, columns, clocks and int(has_time))
    known = fitted.classes.tolist()
    if classes is not None and classes != known:
        raise InputError(f"the classes of the model are {known}, but --classes {classes}")
    return fitted


def _measured(
    rows: Predictions, named: Named, model: str | None, bins: int, seed: int
) -> list[Measures]:
    raw = proba_from_logits(as_logits(rows.scores, rows.inputs, name=rows.inputs))
    settings = {"bins": bins, "seed": seed}
    if model is None:
        return [measure("raw", rows, raw, classes=rows.classes, **settings)]
    columns = 1 if rows.scores.ndim == 1 else rows.scores.shape[1]
    has_time = rows.time is not None
    fitted = model_for(model, named, columns=columns, has_time=has_time, classes=rows.classes)
    proba = fitted.predict_proba(rows.scores, rows.time if fitted.time_kinds else None)
    found = {"raw": raw, "calibrated": proba}
    return [measure(n, rows, p, classes=fitted.classes, **settings) for n, p in found.items()]


def _facts(rows: Predictions) -> Facts:
    return Facts(
        rows.name,
        len(rows.labels),
        None if rows.sequence is None else len(rows.sequence.values),
        None if rows.group is None else len(rows.group.values),
        rows.time is not None,
        rows.scores.ndim == 1 or rows.scores.shape[1] == 1,
    )

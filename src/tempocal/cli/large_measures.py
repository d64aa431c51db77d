"""Evaluation of the predictions of a large file, by passes over its rows."""

from typing import Any

import narwhals as nw
import numpy as np

from tempocal.cli.evaluation import Evaluation, model_for
from tempocal.cli.large import LargePredictions
from tempocal.cli.measures import Measures, measure_table
from tempocal.errors import InputError
from tempocal.inputs import Times, require_same_kind
from tempocal.maps import Scale
from tempocal.metrics.in_tables.scored_frame import indicator, make_scored_frame
from tempocal.predictor import Predictor
from tempocal.tables.computed_columns import add_probabilities
from tempocal.tables.group_ids import find_groups
from tempocal.tables.open_table import Frame


def evaluate_large(
    large: LargePredictions, model: str | None, *, bins: int, seed: int
) -> Evaluation:
    """Evaluate the predictions, raw and calibrated by a model."""
    rows = large.labeled
    k = np.arange(len(rows.classes))
    models = {"raw": Predictor("Identity", k, large.inputs, rows.n_columns, Scale(1.0))}
    if model is not None:
        models["calibrated"] = _model(large, model)
    classes = np.unique(large.labels) if large.classes is None else large.classes
    settings: Any = {"classes": classes, "bins": bins, "seed": seed}
    groups = find_groups(rows) if rows.has_groups else None

    def measured(name: str, one: Predictor) -> Measures:
        return measure_table(name, make_scored_frame(rows, _with(large, one), groups), **settings)

    return Evaluation(large.facts, [measured(name, one) for name, one in models.items()])


def _model(large: LargePredictions, model: str) -> Predictor:
    rows, has_time = large.labeled, large.facts.has_time
    given: Any = {"columns": rows.n_columns, "has_time": has_time, "classes": large.classes}
    found = model_for(model, large.options, **given)
    if found.time_kinds and rows.time_kind is not None:
        require_same_kind(Times(np.zeros(1), (rows.time_kind,)), found.time_kinds)
    return found


def _with(large: LargePredictions, model: Predictor) -> Frame:
    """Return the rows with the probabilities of a model."""
    names = [f"x{k}" for k in range(large.labeled.n_columns)]
    times = ["time"] * len(model.time_kinds)
    frame = add_probabilities(large.labeled.frame, model, names, times)
    if times:
        _require_probabilities(large, frame)
    return frame


def _require_probabilities(large: LargePredictions, frame: Frame) -> None:
    """Refuse rows for which the model returns NULL."""
    empty = indicator(nw.col("p0").is_null())
    counted = frame.select(empty=empty).select(nw.col("empty").sum())
    count = int(large.labeled.passes.collect(counted, "calibrating")["empty"][0])
    if count:
        raise InputError(
            f"the model has no answer for {count:,} rows: they are at steps that it was not "
            'fitted to, and it has unseen="error"'
        )

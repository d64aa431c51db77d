"""Formulas as columns of a table, worked out by the engine that holds it."""

from collections.abc import Mapping, Sequence

import narwhals as nw

from tempocal.formula import Expression, in_stages, interpret
from tempocal.predictor import Predictor
from tempocal.predictor.formula import formula_of
from tempocal.tables.narwhals_engine import NarwhalsEngine
from tempocal.tables.open_table import Frame


def with_formulas(
    frame: Frame, formulas: Mapping[str, Expression], prefix: str = "tempocal"
) -> Frame:
    """Add columns, working out first what several of them share.

    That becomes columns as well, whose names begin with ``prefix``; one stage rests on the other.
    """
    engine = NarwhalsEngine()
    staged = in_stages(list(formulas.values()), f"{prefix}_s")
    outputs = dict(zip(formulas, staged.outputs, strict=True))
    for stage in (*staged.stages, outputs):
        made = {name: interpret(each, engine, {}) for name, each in stage.items()}
        frame = frame.with_columns(**{name: _column(each) for name, each in made.items()})
    return frame


def add_probabilities(
    frame: Frame,
    model: Predictor,
    scores: Sequence[str],
    times: Sequence[str] = (),
    prefix: str = "p",
) -> Frame:
    """Add columns ``p0``, ``p1``, ... of the classes of a model; NULL where it has no answer.

    Parameters
    ----------
    frame : Frame
        Rows whose columns are double.
    model : Predictor
        What to calibrate with.
    scores, times : sequence of str
        Columns of the predictions and of the times, which are seconds unless they are numbers.
    prefix : str
        What the names of the columns begin with.

    Examples
    --------
    >>> import narwhals as nw, numpy as np, polars as pl
    >>> from tempocal.maps import Scale
    >>> model = Predictor("TemperatureScaling", np.array([0, 1]), "logits", 1, Scale(0.5))
    >>> frame = nw.from_native(pl.DataFrame({"z": [2.0]}))
    >>> add_probabilities(frame, model, ["z"])["p1"].round(3).to_list()
    [0.731]
    """
    proba = formula_of(model, scores, times)
    return with_formulas(frame, {f"{prefix}{k}": each for k, each in enumerate(proba)})


def _column(value: nw.Expr | float | None) -> nw.Expr:
    """Return a column, also of what turned out to be a constant."""
    return value if isinstance(value, nw.Expr) else nw.lit(value)

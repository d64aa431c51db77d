"""Formulas as columns of a table, evaluated by the engine that holds it."""

from collections.abc import Mapping, Sequence

import narwhals as nw

from tempocal.formula import Expression, in_stages, interpret
from tempocal.formula.nodes import Column
from tempocal.predictor import Predictor
from tempocal.predictor.formula import formula_of
from tempocal.tables.narwhals_engine import NarwhalsEngine
from tempocal.tables.open_table import Frame


def with_formulas(
    frame: Frame, formulas: Mapping[str, Expression], prefix: str = "tempocal"
) -> Frame:
    """Add a column for each formula; subexpressions that they share are evaluated once.

    Shared subexpressions become columns whose names start with ``prefix``, in stages: each stage
    uses the columns of the previous ones.
    """
    engine = NarwhalsEngine()
    staged = in_stages(list(formulas.values()), f"{prefix}_s")
    outputs = dict(zip(formulas, staged.outputs, strict=True))
    for stage in (*staged.stages, outputs):
        computed = {name: interpret(each, engine, {}) for name, each in stage.items()}
        frame = frame.with_columns(**{name: _as_expr(each) for name, each in computed.items()})
    return frame


def sum_by(
    frame: Frame, keys: Sequence[str], terms: Mapping[str, Expression], *, weighted: bool = False
) -> Frame:
    """Sum each term over the rows of each key; without keys, over all rows."""
    values = {name: each * Column("weight") for name, each in terms.items()} if weighted else terms
    frame = with_formulas(frame, values)
    sums = [nw.col(name).sum() for name in terms]
    return frame.group_by(*keys).agg(*sums) if keys else frame.select(*sums)


def add_probabilities(
    frame: Frame,
    model: Predictor,
    predictions: Sequence[str],
    times: Sequence[str] = (),
    prefix: str = "p",
) -> Frame:
    """Add columns ``p0``, ``p1``, ... of class probabilities; NULL where they are undefined.

    Parameters
    ----------
    frame : Frame
        Rows; the named columns are double.
    model : Predictor
        The fitted model.
    predictions, times : sequence of str
        Columns of the predictions and of the times; datetimes and durations are in seconds.
    prefix : str
        Start of the names of the added columns.

    Examples
    --------
    >>> import narwhals as nw, numpy as np, polars as pl
    >>> from tempocal.maps import Scale
    >>> model = Predictor("TemperatureScaling", np.array([0, 1]), "logits", 1, Scale(0.5))
    >>> frame = nw.from_native(pl.DataFrame({"z": [2.0]}))
    >>> add_probabilities(frame, model, ["z"])["p1"].round(3).to_list()
    [0.731]
    """
    proba = formula_of(model, predictions, times)
    return with_formulas(frame, {f"{prefix}{k}": each for k, each in enumerate(proba)})


def _as_expr(value: nw.Expr | float | None) -> nw.Expr:
    return value if isinstance(value, nw.Expr) else nw.lit(value)

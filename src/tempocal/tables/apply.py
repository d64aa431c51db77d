"""Add calibrated probabilities to a table, in the engine that holds it."""

from collections.abc import Iterable
from typing import Any

import narwhals as nw

from tempocal.errors import InputError
from tempocal.predictor import Predictor
from tempocal.predictor.formula import formula_of
from tempocal.tables.column_names import (
    FileColumns,
    InputColumns,
    Names,
    added_columns,
    free_prefix,
    input_columns,
)
from tempocal.tables.computed_columns import with_formulas
from tempocal.tables.normalize_columns import with_utc
from tempocal.tables.open_table import Frame, open_table
from tempocal.tables.parquet_nan import trusts_bounds, without_bounds
from tempocal.tables.seconds import as_number, as_seconds

# What engines that cannot do something raise.
_CANNOT = (NotImplementedError, AttributeError)


def apply_table(
    model: Predictor,
    table: Any,
    *,
    logits: Names | None = None,
    proba: Names | None = None,
    time: Names | None = None,
    prefix: str = "calibrated",
) -> Any:
    """Return the table with calibrated probabilities beside what it has.

    Parameters
    ----------
    model : Predictor
        What to calibrate with.
    table : table or path
        Of pandas, Polars (eager or lazy), pyarrow, DuckDB, Spark or Ibis; or a file or pattern of
        Parquet or CSV files, which DuckDB opens.
    logits, proba : str or list of str
        Columns of the predictions, in the order of the classes; the one that the model takes.
    time : str or list of str
        Column of the times, or the two of a `Surface`.
    prefix : str
        Name of the column that is added, the probability of the second class of two; with more
        classes there is one for each, and its name is this, an underscore and the class.

    Returns
    -------
    table
        Of the kind that was given; one that is lazy is not worked out. A DuckDB relation for files.

    Examples
    --------
    >>> import numpy as np, polars as pl
    >>> from tempocal.maps import Scale
    >>> model = Predictor("TemperatureScaling", np.array([0, 1]), "logits", 1, Scale(0.5))
    >>> apply_table(model, pl.DataFrame({"z": [2.0, None]}), logits="z")["calibrated"].to_list()
    [0.7310585786300049, None]
    """
    named = input_columns(model, logits, proba, time)
    added = added_columns(model, prefix)
    frame = open_table(table, columns=FileColumns(named.predictions, named.times))
    schema = frame.collect_schema()
    _require_columns(named, added, schema)
    free = free_prefix([*schema, *added])
    frame = with_utc(frame, {f"{free}_t{k}": name for k, name in enumerate(named.times)})
    inputs = _inputs(model, named, frame, free)
    proba_of = formula_of(model, list(inputs)[: model.columns], list(inputs)[model.columns :])
    formulas = {name: proba_of[k] for name, k in added.items()}
    try:
        made = with_formulas(frame.with_columns(**inputs), formulas, free)
        return made.select(*schema, *added).to_native()
    except _CANNOT as error:
        raise InputError(_cannot(named, error)) from error


def _inputs(model: Predictor, named: InputColumns, frame: Frame, free: str) -> dict[str, nw.Expr]:
    """Return what the formula starts from: predictions, then times, as double."""
    schema = frame.collect_schema()
    scores = [as_number(name, schema[name], model.inputs) for name in named.predictions]
    clocks = [f"{free}_t{k}" if f"{free}_t{k}" in schema else t for k, t in enumerate(named.times)]
    pairs = zip(clocks, model.time_kinds, strict=True)
    times = [as_seconds(name, schema[name], kind) for name, kind in pairs]
    columns = [*scores, *times]
    if trusts_bounds(frame):
        columns = [without_bounds(column) for column in columns]
    return {f"{free}_x{k}": column for k, column in enumerate(columns)}


def _require_columns(named: InputColumns, added: Iterable[str], schema: Any) -> None:
    columns = list(schema)
    missing = [name for name in (*named.predictions, *named.times) if name not in columns]
    if missing:
        raise InputError(f"the table has no column {missing[0]!r}: its columns are {columns}")
    there = [name for name in added if name in columns]
    if there:
        raise InputError(
            f"the table has a column {there[0]!r} already: say prefix= for another name"
        )


def _cannot(named: InputColumns, error: Exception) -> str:
    clocks = ", ".join(map(repr, named.times))
    return (
        f"this engine cannot count time in {clocks or 'the table'}: make a column of seconds "
        f"first, for a model that was fitted to seconds ({str(error).splitlines()[0]})"
    )

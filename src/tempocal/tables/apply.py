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
    input_columns,
    unused_prefix,
)
from tempocal.tables.computed_columns import with_formulas
from tempocal.tables.normalize_columns import with_utc
from tempocal.tables.open_table import Frame, open_table
from tempocal.tables.parquet_nan import trusts_bounds, without_bounds
from tempocal.tables.seconds import as_number, as_seconds

# Raised by engines that lack an operation.
_UNSUPPORTED = (NotImplementedError, AttributeError)


def apply_table(
    model: Predictor,
    table: Any,
    *,
    logits: Names | None = None,
    proba: Names | None = None,
    time: Names | None = None,
    prefix: str = "calibrated",
) -> Any:
    """Return the table with columns of calibrated probabilities added.

    Parameters
    ----------
    model : Predictor
        The fitted model.
    table : table or path
        Of pandas, Polars (eager or lazy), pyarrow, DuckDB, Spark or Ibis; or a file or pattern of
        Parquet or CSV files, which DuckDB opens.
    logits, proba : str or list of str
        Columns of the predictions, in the order of the classes; whichever the model was fitted to.
    time : str or list of str
        Column of the times, or the two of a `Surface`.
    prefix : str
        Name of the added column, the probability of the second of two classes. With more classes
        there is one column for each, named ``{prefix}_{class}``.

    Returns
    -------
    table
        Of the same kind as the input; lazy tables stay lazy. A DuckDB relation for files.

    Examples
    --------
    >>> import numpy as np, polars as pl
    >>> from tempocal.maps import Scale
    >>> model = Predictor("TemperatureScaling", np.array([0, 1]), "logits", 1, Scale(0.5))
    >>> apply_table(model, pl.DataFrame({"z": [2.0, None]}), logits="z")["calibrated"].to_list()
    [0.7310585786300049, None]
    """
    given = input_columns(model, logits, proba, time)
    added = added_columns(model, prefix)
    frame = open_table(table, columns=FileColumns(given.predictions, given.times))
    schema = frame.collect_schema()
    _require_columns(given, added, schema)
    unused = unused_prefix([*schema, *added])
    frame = with_utc(frame, {f"{unused}_t{k}": name for k, name in enumerate(given.times)})
    inputs = _inputs(model, given, frame, unused)
    probabilities = formula_of(model, list(inputs)[: model.columns], list(inputs)[model.columns :])
    formulas = {name: probabilities[k] for name, k in added.items()}
    try:
        computed = with_formulas(frame.with_columns(**inputs), formulas, unused)
        return computed.select(*schema, *added).to_native()
    except _UNSUPPORTED as error:
        raise InputError(_unsupported_message(given, error)) from error


def _inputs(model: Predictor, given: InputColumns, frame: Frame, unused: str) -> dict[str, nw.Expr]:
    """Return the inputs of the formula as double: predictions, then times."""
    schema = frame.collect_schema()
    predictions = [as_number(name, schema[name], model.inputs) for name in given.predictions]
    time_names = [
        f"{unused}_t{k}" if f"{unused}_t{k}" in schema else t for k, t in enumerate(given.times)
    ]
    pairs = zip(time_names, model.time_kinds, strict=True)
    engine = frame.implementation
    times = [as_seconds(name, schema[name], kind, engine) for name, kind in pairs]
    columns = [*predictions, *times]
    if trusts_bounds(frame):
        columns = [without_bounds(column) for column in columns]
    return {f"{unused}_x{k}": column for k, column in enumerate(columns)}


def _require_columns(given: InputColumns, added: Iterable[str], schema: Any) -> None:
    columns = list(schema)
    missing = [name for name in (*given.predictions, *given.times) if name not in columns]
    if missing:
        raise InputError(f"the table has no column {missing[0]!r}: its columns are {columns}")
    existing = [name for name in added if name in columns]
    if existing:
        raise InputError(
            f"the table has a column {existing[0]!r} already: say prefix= for another name"
        )


def _unsupported_message(given: InputColumns, error: Exception) -> str:
    time_names = ", ".join(map(repr, given.times))
    return (
        f"this engine cannot count time in {time_names or 'the table'}: make a column of seconds "
        f"first, for a model that was fitted to seconds ({str(error).splitlines()[0]})"
    )

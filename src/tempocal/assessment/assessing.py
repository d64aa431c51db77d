"""`assess` and `assess_table`: check the input, split it, and run the assessment."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tempocal.assessment.in_memory import InMemorySource, InMemoryTrainingRows
from tempocal.assessment.in_table import TableSource
from tempocal.assessment.judged import check_judged, check_versus
from tempocal.assessment.pipeline import Assessment, run_assessment
from tempocal.assessment.split_predictions import SplitBy, check_columns, find_classes, split
from tempocal.errors import InputError
from tempocal.inputs import Inputs, check_seed
from tempocal.tables.column_roles import ColumnRoles
from tempocal.temporal.horizon import Horizon, check_horizon

if TYPE_CHECKING:
    from tempocal.tables.column_names import Names


def assess(
    predictions: Any,
    y: Any,
    *,
    time: Any,
    sequence: Any = None,
    order: Any = None,
    groups: Any = None,
    sample_weight: Any = None,
    inputs: Inputs = "logits",
    classes: Any = None,
    seed: int = 0,
    progress: bool | None = None,
    time_name: str = "time",
    model: Any = None,
    versus: Any = None,
    split_in_time: Any = None,
    split_column: Any = None,
    soft_label: bool = False,
    td_horizon: Horizon = "auto",
) -> Assessment:
    """Assess whether predictions are calibrated along time, and how to correct them.

    Calibrators are fitted to half of the groups, at most about 200,000 rows, and evaluated on the
    other groups.

    Parameters
    ----------
    predictions : array-like of shape (n,) or (n, K)
        Logits, or probabilities with ``inputs="proba"``.
    y : array-like of shape (n,)
        Labels; with ``soft_label`` probabilities.
    time : array-like of shape (n,)
        Time of each row within its sequence: numbers, datetimes or timedeltas.
    sequence : array-like of shape (n,), optional
        Id of the sequence of each row.
    order : array-like of shape (n,), optional
        Puts the rows of a sequence in order: numbers, datetimes or timedeltas that grow along it.
        By default the time, if the rows of each sequence lie in its order; otherwise fits do not
        know which rows follow each other, and learn from outcomes only.
    groups : array-like of shape (n,), optional
        What is independent: clusters that hold whole sequences. By default the sequences.
    sample_weight : array-like of shape (n,), optional
        Weight of each row: a weight of 2 is the row twice.
    inputs : {"logits", "proba"}
        Whether the predictions are logits or probabilities.
    classes : array-like of shape (K,), optional
        The class of each column.
    seed : int
        Seed of the split, of the folds and of the draws.
    progress : bool, optional
        Whether to show how far it has come; None shows it on a terminal and in a notebook.
        Elsewhere True writes a line at most every ten seconds.
    time_name : str
        What the verdict and the report call the time, such as "round".
    model : fitted calibrator or path, optional
        A model that is applied to the predictions already: the verdict is about its probabilities.
        It must not have been fitted to these rows.
    versus : fitted calibrator, path or array-like, optional
        A second model, or a second set of predictions of the same rows, to compare with the first.
    split_in_time : array-like of shape (n,), optional
        When each row was predicted, in the calendar: calibrators are fitted to the sequences that
        began first, and evaluated on those that began later. By default the split is at random.
    split_column : array-like of shape (n,), optional
        True in the rows to evaluate on, False in those to fit to; the same within a group.
    soft_label : bool, default=False
        Whether ``y`` holds probabilities in place of classes, as in `TemperatureScaling.fit`:
        losses, errors and reliability diagrams are those expected of labels with these
        probabilities.
    td_horizon : "auto" or float, default="auto"
        How far ahead fits along time learn from forecasts, as in `TemporalCalibrator`; infinity is
        from outcomes only.

    Returns
    -------
    Assessment
        The numbers, and a verdict in words.

    Examples
    --------
    >>> import tempocal as tc
    >>> m = tc.datasets.simulate_match(600)
    >>> found = tc.assess(m.logits, m.label, time=m.time, sequence=m.sequence)
    >>> found.verdict.headline
    'These probabilities are too sure from time 0 to 5.'
    >>> found.scores["along time"].nll < found.scores["raw"].nll
    True
    """
    check_horizon(td_horizon)
    _check_time_name(time_name)
    past = check_columns(
        predictions,
        y,
        time=time,
        sequence=sequence,
        order=order,
        groups=groups,
        sample_weight=sample_weight,
        soft_label=soft_label,
    )
    n_columns = 1 if past.predictions.ndim == 1 else past.predictions.shape[1]
    judged = check_judged(model, versus, inputs, n_columns)
    if judged.has_versus_columns:
        past = replace(past, versus=check_versus(versus, past.predictions, inputs))
    labels = find_classes(past, classes)
    training, held_out, how = split(past, SplitBy(split_in_time, split_column), seed)
    training_rows = InMemoryTrainingRows(training, inputs, labels, td_horizon)
    source = InMemorySource(past, training_rows, held_out, how, seed)
    return run_assessment(source, judged, seed, progress, time_name)


def assess_table(
    table: Any,
    *,
    label: "Names",
    time: str,
    logits: "Names | None" = None,
    proba: "Names | None" = None,
    sequence: str | None = None,
    order: str | None = None,
    groups: str | None = None,
    sample_weight: str | None = None,
    classes: Any = None,
    seed: int = 0,
    progress: bool | None = None,
    time_name: str | None = None,
    model: Any = None,
    versus: Any = None,
    split_in_time: str | None = None,
    split_column: str | None = None,
    soft_label: bool = False,
    td_horizon: Horizon = "auto",
) -> Assessment:
    """Assess predictions in a table, as `assess` does for arrays.

    The engine of the table computes the sums. The rows stay in the table, except for those of the
    six sequences that are shown. With up to a million groups the split is the one of `assess`.

    Parameters
    ----------
    table : table or path
        Of pandas, Polars (eager or lazy), pyarrow, DuckDB, Spark or Ibis; or a file or pattern of
        Parquet or CSV files, which DuckDB opens.
    label : str or list of str
        Column of the true labels; with ``soft_label`` of their probabilities: one, of the second
        class, or one for each class.
    time : str
        Column of the times: numbers, datetimes or durations.
    logits, proba : str or list of str
        Columns of the predictions, in the order of the classes. Give either ``logits`` or
        ``proba``.
    sequence : str, optional
        Column of the sequence ids.
    order : str, optional
        Column that puts the rows of a sequence in order. By default the time, unless two rows of
        a sequence have the same: then fits learn from outcomes only.
    groups : str, optional
        Column of what is independent: clusters that hold whole sequences. By default the sequences.
        One of ``sequence`` and ``groups`` is required.
    sample_weight : str, optional
        Column of the weights.
    classes, seed, progress, soft_label, td_horizon
        As in `assess`.
    time_name : str, optional
        What the verdict and the report call the time. By default the name of its column.
    model, versus : fitted calibrator or path, optional
        A model to judge, and one to compare with it or with the predictions, as in `assess`.
    split_in_time, split_column : str, optional
        Columns as in `assess`: of times in the calendar, or of true and false.

    Returns
    -------
    Assessment
        As from `assess`.

    Notes
    -----
    The numbers equal those of `assess` to 1e-9, with the exceptions for many groups and many rows
    that `over_time_table` lists. They apply to reliability diagrams too.

    Examples
    --------
    >>> import polars as pl
    >>> import tempocal as tc
    >>> m = tc.datasets.simulate_match(600)
    >>> rows = pl.DataFrame({"z": m.logits, "won": m.label, "t": m.time, "match": m.sequence})
    >>> found = tc.assess_table(rows, logits="z", label="won", time="t", sequence="match")
    >>> found.verdict.headline
    'These probabilities are too sure from t 0 to 5.'
    """
    if time is None:
        raise InputError("time is missing: name the column of the times with time=")
    if sequence is None and groups is None:
        raise InputError(
            "sequence is missing: rows of a table are split by the sequence that they belong to; "
            "name the column of its ids with sequence="
        )
    if order is not None and sequence is None:
        raise InputError(
            "order puts the rows of a sequence in order, but sequence is None: name the column of "
            "the sequence ids"
        )
    roles = ColumnRoles.of(
        "proba" if logits is None else "logits",
        logits=logits,
        proba=proba,
        label=label,
        time=time,
        groups=sequence if groups is None else groups,
        sample_weight=sample_weight,
        sequence=sequence,
        order=order,
        soft_label=soft_label,
    )
    check_horizon(td_horizon)
    seed = check_seed(seed)
    name = time if time_name is None else _check_time_name(time_name)
    judged = check_judged(model, versus, roles.inputs, len(roles.predictions))
    if judged.has_versus_columns:
        raise InputError(
            f"versus must be a fitted calibrator or the path of a model file, but it is "
            f"{versus!r:.80}: two sets of predictions are compared in memory, by assess"
        )
    split_by = SplitBy(split_in_time, split_column)
    source = TableSource.of(table, roles, classes, split_by, seed, td_horizon=td_horizon)
    return run_assessment(source, judged, seed, progress, name)


def _check_time_name(name: Any) -> str:
    """Refuse what cannot be written in place of "time"."""
    if not isinstance(name, str) or not name.strip():
        raise InputError(
            f'time_name must be a word for the time, such as "round", but it is {name!r:.80}'
        )
    return name

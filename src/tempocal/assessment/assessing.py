"""One answer from past predictions: fit on one part, judge on the other, and put it into words."""

from typing import TYPE_CHECKING, Any

from tempocal.assessment.in_memory import RowsInMemory, RowsToFit
from tempocal.assessment.in_tables import read_row_source
from tempocal.assessment.pipeline import Assessment, conclude
from tempocal.assessment.split_predictions import check_past, find_classes, split
from tempocal.errors import InputError
from tempocal.inputs import Inputs, check_seed
from tempocal.tables.column_roles import ColumnRoles

if TYPE_CHECKING:
    from tempocal.tables.column_names import Names


def assess(
    predictions: Any,
    y: Any,
    *,
    time: Any,
    sequence: Any = None,
    groups: Any = None,
    sample_weight: Any = None,
    inputs: Inputs = "logits",
    classes: Any = None,
    seed: int = 0,
    progress: bool | None = None,
) -> Assessment:
    """Say whether predictions can be trusted, when not, and what to do.

    Half of the groups are fitted to, at most about 200,000 rows; the others are judged on.

    Parameters
    ----------
    predictions : array-like of shape (n,) or (n, K)
        Logits, or probabilities with ``inputs="proba"``.
    y : array-like of shape (n,)
        Labels.
    time : array-like of shape (n,)
        How far each sequence had come: numbers, datetimes or timedeltas.
    sequence : array-like of shape (n,), optional
        Which sequence each row belongs to.
    groups : array-like of shape (n,), optional
        Independent clusters, where these are coarser than sequences.
    sample_weight : array-like of shape (n,), optional
        How often each row counts.
    inputs : {"logits", "proba"}
        What the predictions are.
    classes : array-like of shape (K,), optional
        The class of each column.
    seed : int
        Seed of the split, of the folds and of the draws.
    progress : bool, optional
        Whether to show how far it is; None shows it on a terminal.

    Returns
    -------
    Assessment
        Numbers and words.

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
    past = check_past(
        predictions, y, time=time, sequence=sequence, groups=groups, sample_weight=sample_weight
    )
    labels = find_classes(past, classes)
    fit_rows, test_rows = split(past, seed)
    evidence = RowsInMemory(past, RowsToFit(fit_rows, inputs, labels), test_rows, seed)
    return conclude(evidence, seed, progress)


def assess_table(
    table: Any,
    *,
    label: str,
    time: str,
    logits: "Names | None" = None,
    proba: "Names | None" = None,
    sequence: str | None = None,
    groups: str | None = None,
    sample_weight: str | None = None,
    classes: Any = None,
    seed: int = 0,
) -> Assessment:
    """Say whether predictions in a table can be trusted, when not, and what to do.

    What `assess` does with arrays, by sums that the engine makes: the rows stay where they are, but
    for those of six sequences that are shown. Up to a million groups the same ones are fitted to.

    Parameters
    ----------
    table : table or path
        Of pandas, Polars (eager or lazy), pyarrow, DuckDB, Spark or Ibis; or a file or pattern of
        Parquet or CSV files, which DuckDB opens.
    label, time : str
        Columns of the true labels and of the times: numbers, datetimes or durations.
    logits, proba : str or list of str
        Columns of the predictions, in the order of the classes; one of both.
    sequence : str, optional
        Column of the sequence that each row belongs to.
    groups : str, optional
        Column of independent clusters, where these are coarser than sequences. One of ``sequence``
        and ``groups`` must be there.
    sample_weight : str, optional
        Column of how often each row counts.
    classes, seed
        As in `assess`.

    Returns
    -------
    Assessment
        Numbers and words, as from `assess`.

    Notes
    -----
    Numbers are those of `assess` to 1e-9, but for what `over_time_table` says of many groups and
    rows, and likewise in reliability diagrams.

    Examples
    --------
    >>> import polars as pl
    >>> import tempocal as tc
    >>> m = tc.datasets.simulate_match(600)
    >>> rows = pl.DataFrame({"z": m.logits, "won": m.label, "t": m.time, "match": m.sequence})
    >>> found = tc.assess_table(rows, logits="z", label="won", time="t", sequence="match")
    >>> found.verdict.headline
    'These probabilities are too sure from time 0 to 5.'
    """
    if time is None:
        raise InputError("time is missing: name the column of the times with time=")
    if sequence is None and groups is None:
        raise InputError(
            "sequence is missing: rows of a table are split by the sequence that they belong to; "
            "name the column of its ids with sequence="
        )
    asked = ColumnRoles.of(
        "proba" if logits is None else "logits",
        logits=logits,
        proba=proba,
        label=label,
        time=time,
        groups=sequence if groups is None else groups,
        sample_weight=sample_weight,
        sequence=sequence,
    )
    seed = check_seed(seed)
    return conclude(read_row_source(table, asked, classes, seed), seed, False)

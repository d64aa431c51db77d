"""A metric over time of predictions in a table, whose rows stay in the table."""

from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

from tempocal.inputs import Inputs, check_seed
from tempocal.metrics.dispatch import require_summable
from tempocal.metrics.estimates import IntervalEstimate
from tempocal.metrics.jackknife import Metric
from tempocal.metrics.over_time import OverTime, estimate_over_time, estimate_overall
from tempocal.metrics.predictions import check_level
from tempocal.metrics.time_bins import Bins

if TYPE_CHECKING:
    from tempocal.metrics.scored_frame import ScoredFrame
    from tempocal.tables.column_names import Names


def over_time_table(
    metric: Metric,
    table: Any,
    *,
    label: "Names",
    time: str,
    proba: "Names | None" = None,
    logits: "Names | None" = None,
    bins: Bins = 20,
    sequence: str | None = None,
    groups: str | None = None,
    level: float = 0.95,
    sample_weight: str | None = None,
    classes: ArrayLike | None = None,
    seed: int = 0,
    soft_label: bool = False,
) -> OverTime:
    """Compute a metric in each time bin, from a table of any engine or from files.

    The same as `over_time` for arrays, but the engine computes the sums, in about five passes over
    the rows. The rows stay in the table, so they may be more than memory holds.

    Parameters
    ----------
    metric : callable
        `nll`, `brier`, `overconfidence`, `ece` or `classwise_ece`, or a ``functools.partial`` of
        one. Other metrics need the rows in memory.
    table : table or path
        Of pandas, Polars (eager or lazy), pyarrow, DuckDB, Spark or Ibis; or a file or pattern of
        Parquet or CSV files, which DuckDB opens.
    label : str or list of str
        Column of the true labels; with ``soft_label`` of their probabilities: one, of the second
        class, or one for each class.
    proba, logits : str or list of str
        Column of the probability of the second class, or one for each class, in their order; or of
        logits instead.
    time : str
        Column of the times: numbers, datetimes or durations.
    bins, level, classes, seed, soft_label
        As in `over_time`.
    sequence : str, optional
        Column of the sequence ids.
    groups : str, optional
        Column of what is independent: clusters that hold whole sequences. By default the sequences.
    sample_weight : str, optional
        Column of the weights.

    Returns
    -------
    OverTime
        As from `over_time`.

    Notes
    -----
    - Values equal those of `over_time` to 1e-9, and so do time bins with up to 2**20 distinct
      times. With more, time is binned on a grid of 2**20 cells between the first time and the last.
    - With more than 2**20 rows, the edges of equal-mass bins lie on a grid of 2**16 cells of
      confidence (fewer with more than 30 time bins), so that a row within 2e-5 of an edge may be in
      the neighboring bin.
    - With up to 10,000 groups intervals and floors equal those of `over_time` to 1e-9. With more,
      the assignment of groups to buckets and the drawn labels use different pseudo-random numbers.
    - Without groups, the noise of intervals and the labels of floors are drawn for sums over rows,
      not for each row.
    - `classwise_ece` with groups takes one pass for each class, and two with equal-mass bins.
    - The ids of more than 2,000,000 groups must be integers.

    Examples
    --------
    >>> import polars as pl
    >>> import tempocal as tc
    >>> m = tc.datasets.simulate_match(1000)
    >>> rows = pl.DataFrame(
    ...     {"won": m.label, "p": m.true_probability, "round": m.time, "match": m.sequence}
    ... )
    >>> table = tc.metrics.over_time_table(
    ...     tc.metrics.ece, rows, label="won", proba="p", time="round", groups="match", bins=4
    ... )
    >>> print(table)
    top-label ECE, 15 equal-width bins, 95% intervals over 1000 groups
    ...
    """
    check_level(level)
    seed = check_seed(seed)
    require_summable(metric)
    named: dict[str, Any] = {
        "label": label,
        "proba": proba,
        "logits": logits,
        "time": time,
        "sample_weight": sample_weight,
    }
    rows = _read(table, {**named, "soft_label": soft_label}, sequence, groups, classes)
    return estimate_over_time(rows.cut(bins), metric, level, seed)


def with_interval_table(
    metric: Metric,
    table: Any,
    *,
    label: "Names",
    proba: "Names | None" = None,
    logits: "Names | None" = None,
    sequence: str | None = None,
    groups: str | None = None,
    level: float = 0.95,
    sample_weight: str | None = None,
    classes: ArrayLike | None = None,
    seed: int = 0,
    soft_label: bool = False,
) -> IntervalEstimate:
    """Compute a metric on all rows of a table, with an interval over groups and its floor.

    Parameters
    ----------
    metric, table, label, proba, logits, sequence, groups, level
        As in `over_time_table`.
    sample_weight, classes, seed, soft_label
        As in `over_time_table`.

    Returns
    -------
    IntervalEstimate
        As from `with_interval`.

    Examples
    --------
    >>> import pandas as pd
    >>> import tempocal as tc
    >>> m = tc.datasets.simulate_match(1000)
    >>> rows = pd.DataFrame({"won": m.label, "p": m.true_probability, "match": m.sequence})
    >>> score = tc.metrics.with_interval_table(
    ...     tc.metrics.nll, rows, label="won", proba="p", groups="match"
    ... )
    >>> print(f"{score:.2f} [{score.lower:.2f}, {score.upper:.2f}], expected {score.floor:.2f}")
    0.45 [0.42, 0.47], expected 0.45
    """
    check_level(level)
    seed = check_seed(seed)
    require_summable(metric)
    named: dict[str, Any] = {
        "label": label,
        "proba": proba,
        "logits": logits,
        "time": None,
        "sample_weight": sample_weight,
    }
    rows = _read(table, {**named, "soft_label": soft_label}, sequence, groups, classes)
    return estimate_overall(rows, metric, level, seed)


def _read(
    table: Any, named: dict[str, Any], sequence: str | None, groups: str | None, classes: Any
) -> "ScoredFrame":
    from tempocal.metrics.scored_frame import read_scored_frame  # noqa: PLC0415
    from tempocal.tables.column_roles import ColumnRoles  # noqa: PLC0415

    ids: dict[str, Any] = {"groups": sequence if groups is None else groups}
    if groups is not None and groups != sequence:
        ids["sequence"] = sequence
    inputs: Inputs = "proba" if named["logits"] is None else "logits"
    return read_scored_frame(table, ColumnRoles.of(inputs, **named, **ids), classes)

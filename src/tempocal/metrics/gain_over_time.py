"""Any metric before minus after in each time bin, paired by sequence."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from tempocal.errors import InputError
from tempocal.inputs import check_seed
from tempocal.metrics.dispatch import check_arguments, gap_metric, row_loss, unwrap
from tempocal.metrics.gain_table import MIN_GROUPS, GainOverTime
from tempocal.metrics.gap_gains import gap_gains
from tempocal.metrics.jackknife import Metric
from tempocal.metrics.metric_intervals import MetricInterval
from tempocal.metrics.over_time import make_estimate
from tempocal.metrics.paired_gains import PairedGains, loss_gains, other_gains
from tempocal.metrics.predictions import (
    PairedInputs,
    check_groups_of,
    check_level,
    check_pair,
    check_two_classes,
    cut_rows,
)
from tempocal.metrics.row_losses import row_overconfidence
from tempocal.metrics.scored_arrays import ScoredArrays
from tempocal.metrics.scored_rows import ScoredRows
from tempocal.metrics.time_bins import Bins


def gain_over_time(
    metric: Metric,
    y: ArrayLike,
    before: ArrayLike,
    after: ArrayLike,
    time: Any,
    *,
    bins: Bins = 20,
    sequence: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    level: float = 0.95,
    sample_weight: ArrayLike | None = None,
    classes: ArrayLike | None = None,
    soft_label: bool = False,
    inputs: PairedInputs = "proba",
    seed: int = 0,
) -> GainOverTime:
    """Compute what a correction, or another model, gains in each time bin.

    The difference is paired: both sets of predictions are of the same rows, so that what makes a
    sequence hard for both cancels, and the gain is known far better than either metric.

    Parameters
    ----------
    metric : callable
        For example `nll`, `brier`, `ece` or ``functools.partial(ece, bins=10)``. Smaller must be
        better; the gain is the metric before minus after.
    y, sample_weight, classes, soft_label
        As in `ece`.
    before, after : array-like of shape (n,), (n, 1) or (n, K)
        Two sets of predictions of the same rows.
    time, bins, sequence, groups, level, seed
        As in `over_time`.
    inputs : {"proba", "logits"} or pair of them, default="proba"
        What ``before`` and ``after`` hold, as in `ece`: ``("logits", "proba")`` if they differ.

    Returns
    -------
    GainOverTime
        Columns ``time_from, time_to, time_middle, rows, sequences, before, after, value, lower,
        upper, lower_all, upper_all, effect``, one entry for each time bin, and the ``mean`` over
        time bins. ``print`` says where it surely helps or hurts.

    Notes
    -----
    ``lower`` and ``upper`` are for one time bin. Among twenty, one excludes 0 by chance; what is
    said to be sure is therefore decided by ``lower_all`` and ``upper_all``, which hold in all time
    bins together with probability ``level`` (see `docs/metrics.md` for how often they do). With
    fewer than 100 groups in total (or rows, where these are taken as independent) nothing is said
    to be sure: of skewed gains, in which a few groups count most, intervals are then too short.

    - Means over rows (`nll`, `brier`): the mean difference, its cluster-robust standard error and
      Student's t. The error is at least the one that labels drawn from the probabilities would
      show: rare events that would change the gain may be missing among the observed ones.
    - `ece` and `classwise_ece`: noise adds to both errors, to the smaller one more, so that the
      difference of two errors is biased. The noise of both is drawn with the same groups, and the
      interval corrects for the bias; the value, which does not, may lie near one of its limits.
    - Any other metric: a jackknife over twenty folds of the groups. Rough for metrics that are not
      smooth.

    Examples
    --------
    >>> import tempocal as tc
    >>> m = tc.datasets.simulate_match(1000)
    >>> table = tc.metrics.gain_over_time(
    ...     tc.metrics.nll,
    ...     m.label,
    ...     m.logits,
    ...     m.true_probability,
    ...     m.time,
    ...     inputs=("logits", "proba"),
    ...     sequence=m.sequence,
    ...     bins=4,
    ... )
    >>> print(table)
    gain in NLL, 95% intervals over 1000 groups
      from  to  rows  sequences  before   after     gain    lower    upper
         0   4  5000       1000  0.6340  0.5395  +0.0946  +0.0651  +0.1240  helps
         5  10  6000       1000  0.4854  0.4770  +0.0083  +0.0012  +0.0155
        11  15  4981       1000  0.3821  0.3821  +0.0000  -0.0022  +0.0023
        16  24  5433        958  0.3897  0.3898  -0.0001  -0.0010  +0.0007
    From time 0 to 4 it surely helps: NLL lower by 0.0946.
    """
    unwrap(metric)  # refuses what it cannot take
    check_arguments(metric)
    old, new = check_pair(
        y, before, after, sample_weight, classes, soft_label=soft_label, inputs=inputs
    )
    check_level(level)
    require_error(metric)
    clusters, time_bins = check_groups_of(old, groups, sequence), cut_rows(old, time, bins)
    check_two_classes(unwrap(metric)[1].get("of", ""), old.n_classes, "another of=")
    rows = ScoredArrays.of(old, clusters, time_bins)
    if row_loss(metric) is None and gap_metric(metric) is None:
        other = ScoredArrays.of(new, clusters, time_bins)
        name = getattr(metric, "__name__", "a metric")
        return _table(rows, other_gains(rows, other, metric, level), name, level)
    return estimate_gain_over_time(rows.with_proba("after", new), metric, level, check_seed(seed))


def estimate_gain_over_time(
    rows: ScoredRows, metric: Metric, level: float, seed: int
) -> GainOverTime:
    """Gain, in the time bins of rows, of ``after0``, ... over their own probabilities."""
    require_error(metric)
    loss, gaps = row_loss(metric), gap_metric(metric)
    if gaps is not None:
        return _table(rows, gap_gains(rows, gaps[0], level, seed), gaps[1], level)
    assert loss is not None
    return _table(rows, loss_gains(rows, loss[0], level, seed), loss[1], level)


def require_error(metric: Any) -> None:
    """Refuse overconfidence, of which less is not better."""
    loss = row_loss(metric)
    if loss is not None and loss[0] is row_overconfidence:
        raise InputError(
            "metric is overconfidence, of which less is not better: take an error such as ece, nll "
            "or brier, or compare two tables of over_time"
        )


def _table(rows: ScoredRows, found: PairedGains, name: str, level: float) -> GainOverTime:
    time_bins = rows.time_bins
    mean = MetricInterval(*found.mean, floor=0.0)
    # As in `over_time`: including the value can only raise the coverage.
    lower, upper = np.fmin(found.lower, found.value), np.fmax(found.upper, found.value)
    lower_all, upper_all = np.fmin(found.lower_all, lower), np.fmax(found.upper_all, upper)
    effect = np.where(lower_all > 0.0, "helps", np.where(upper_all < 0.0, "hurts", ""))
    if (rows.n_rows if rows.n_groups is None else rows.n_groups) < MIN_GROUPS:
        effect = np.full_like(effect, "")
    return GainOverTime(
        time_from=time_bins.first,
        time_to=time_bins.last,
        time_middle=time_bins.middle,
        rows=time_bins.n_rows,
        sequences=time_bins.n_rows if rows.n_groups is None else found.units.astype(np.intp),
        before=found.before,
        after=found.after,
        value=found.value,
        lower=lower,
        upper=upper,
        lower_all=lower_all,
        upper_all=upper_all,
        effect=effect,
        mean=make_estimate(mean, f"mean over time of the gain in {name}", level),
        estimator=f"gain in {name}",
        level=level,
        n_groups=rows.n_groups,
    )

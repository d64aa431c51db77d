"""A metric of a table that was looked at: which sums it needs, and what they make."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from tempocal.errors import InputError
from tempocal.metrics.dispatch import gap_metric, row_loss
from tempocal.metrics.estimates import IntervalEstimate
from tempocal.metrics.gain import make_gain, mean_loss
from tempocal.metrics.gap_sums import calibration_error_from_sums
from tempocal.metrics.in_tables.gaps_by_group import gap_sums_by_group
from tempocal.metrics.in_tables.gaps_by_row import gap_sums_by_row
from tempocal.metrics.in_tables.losses import gain_sums, mean_sums
from tempocal.metrics.in_tables.scored_frame import ScoredFrame
from tempocal.metrics.in_tables.time_bins import TableTimeBins, cut_table, whole
from tempocal.metrics.jackknife import Metric
from tempocal.metrics.mean_losses import mean_loss_from_sums
from tempocal.metrics.metric_intervals import MetricByTimeBin
from tempocal.metrics.over_time import OverTime, make_estimate, make_over_time
from tempocal.metrics.time_bins import Bins


def estimate_over_time(
    table: ScoredFrame, metric: Metric, *, bins: Bins, level: float, seed: int
) -> OverTime:
    """Take a metric on each stretch of time."""
    return estimate_in_bins(table, metric, cut_table(table, bins), level=level, seed=seed)


def estimate_in_bins(
    table: ScoredFrame, metric: Metric, stretches: TableTimeBins, *, level: float, seed: int
) -> OverTime:
    """Take a metric on stretches that were cut before."""
    require_summable(metric)
    assert stretches.rows is not None
    profile, units = _profile(table, metric, stretches, level, seed)
    sequences = stretches.rows if table.groups is None else units.astype(np.intp)
    n_groups = None if table.groups is None else table.groups.count
    return make_over_time(
        stretches.ends, profile, level, rows=stretches.rows, sequences=sequences, n_groups=n_groups
    )


def estimate_overall(
    table: ScoredFrame, metric: Metric, *, level: float, seed: int
) -> IntervalEstimate:
    """Take a metric on all rows at once."""
    require_summable(metric)
    profile, _ = _profile(table, metric, whole(), level, seed)
    return make_estimate(profile.by_time_bin[0], profile.estimator, level)


def estimate_gain(
    table: ScoredFrame, metric: Metric, after: Sequence[str], *, level: float
) -> IntervalEstimate:
    """Take what the probabilities in the columns ``after`` gain over those of a table."""
    _, name = mean_loss(metric)
    profile = mean_loss_from_sums(gain_sums(table, metric, after), name, level)
    return make_gain(profile.by_time_bin[0], name, level)


def require_summable(metric: Metric) -> None:
    """Refuse a metric that needs the rows."""
    if row_loss(metric) is None and gap_metric(metric) is None:
        name = getattr(metric, "__name__", repr(metric))
        raise InputError(
            f"metric is {name:.80}, which needs the rows: from a table nll, brier, overconfidence, "
            "ece and classwise_ece can be had, also with settings by functools.partial"
        )


def _profile(
    table: ScoredFrame, metric: Metric, stretches: TableTimeBins, level: float, seed: int
) -> tuple[MetricByTimeBin, Any]:
    """Return the profile, and the independent units of each stretch."""
    loss = row_loss(metric)
    if loss is not None:
        means = mean_sums(table, metric, stretches)
        return mean_loss_from_sums(means, loss[1], level), means.units
    found = gap_metric(metric)
    assert found is not None
    by_unit = gap_sums_by_row if table.groups is None else gap_sums_by_group
    gaps = by_unit(table, found[0], stretches, seed)
    return calibration_error_from_sums(gaps, found[1], level), gaps.units

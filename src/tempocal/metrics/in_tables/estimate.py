"""Estimates of a metric on a table: the sums it needs, and the values they give."""

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
from tempocal.metrics.in_tables.time_bins import TableTimeBins, cut_table, one_time_bin
from tempocal.metrics.jackknife import Metric
from tempocal.metrics.mean_losses import mean_loss_from_sums
from tempocal.metrics.metric_intervals import MetricByTimeBin
from tempocal.metrics.over_time import OverTime, make_estimate, make_over_time
from tempocal.metrics.time_bins import Bins


def estimate_over_time(
    table: ScoredFrame, metric: Metric, *, bins: Bins, level: float, seed: int
) -> OverTime:
    """Estimate a metric in each of ``bins`` time bins."""
    return estimate_in_bins(table, metric, cut_table(table, bins), level=level, seed=seed)


def estimate_in_bins(
    table: ScoredFrame, metric: Metric, time_bins: TableTimeBins, *, level: float, seed: int
) -> OverTime:
    """Estimate a metric in given time bins."""
    require_summable(metric)
    assert time_bins.n_rows is not None
    profile, units = _profile(table, metric, time_bins, level, seed)
    sequences = time_bins.n_rows if table.groups is None else units.astype(np.intp)
    n_groups = None if table.groups is None else table.groups.count
    return make_over_time(
        time_bins.ranges,
        profile,
        level,
        rows=time_bins.n_rows,
        sequences=sequences,
        n_groups=n_groups,
    )


def estimate_overall(
    table: ScoredFrame, metric: Metric, *, level: float, seed: int
) -> IntervalEstimate:
    """Estimate a metric on all rows."""
    require_summable(metric)
    profile, _ = _profile(table, metric, one_time_bin(), level, seed)
    return make_estimate(profile.by_time_bin[0], profile.estimator, level)


def estimate_gain(
    table: ScoredFrame, metric: Metric, after: Sequence[str], *, level: float
) -> IntervalEstimate:
    """Estimate the gain of the probabilities in the columns ``after`` over those of a table."""
    _, name = mean_loss(metric)
    profile = mean_loss_from_sums(gain_sums(table, metric, after), name, level)
    return make_gain(profile.by_time_bin[0], name, level)


def require_summable(metric: Metric) -> None:
    """Refuse a metric that cannot be computed from sums."""
    if row_loss(metric) is None and gap_metric(metric) is None:
        name = getattr(metric, "__name__", repr(metric))
        raise InputError(
            f"metric is {name:.80}, which needs the rows: from a table nll, brier, overconfidence, "
            "ece and classwise_ece can be had, also with settings by functools.partial"
        )


def _profile(
    table: ScoredFrame, metric: Metric, time_bins: TableTimeBins, level: float, seed: int
) -> tuple[MetricByTimeBin, Any]:
    """Return the profile, and the number of independent units in each time bin."""
    loss = row_loss(metric)
    if loss is not None:
        means = mean_sums(table, metric, time_bins)
        return mean_loss_from_sums(means, loss[1], level), means.units
    found = gap_metric(metric)
    assert found is not None
    by_unit = gap_sums_by_row if table.groups is None else gap_sums_by_group
    gaps = by_unit(table, found[0], time_bins, seed)
    return calibration_error_from_sums(gaps, found[1], level), gaps.units

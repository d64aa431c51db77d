"""A metric of a table that was looked at: which sums it needs, and what they make."""

from typing import Any

import numpy as np

from tempocal.errors import InputError
from tempocal.metrics.any_metric import Metric
from tempocal.metrics.estimates import IntervalEstimate
from tempocal.metrics.gap_sums import profile_of_gap_sums
from tempocal.metrics.in_tables.gaps_by_group import gap_sums_by_group
from tempocal.metrics.in_tables.gaps_by_row import gap_sums_by_row
from tempocal.metrics.in_tables.losses import mean_sums
from tempocal.metrics.in_tables.scored import Scored
from tempocal.metrics.in_tables.stretches import TableStretches, cut_table, whole
from tempocal.metrics.kinds import gap_metric, row_loss
from tempocal.metrics.mean_losses import profile_of_mean_sums
from tempocal.metrics.over_time import OverTime, make_estimate, make_over_time
from tempocal.metrics.profile import Profile
from tempocal.metrics.stretches import Bins


def take_over_time(
    table: Scored, metric: Metric, *, bins: Bins, level: float, seed: int
) -> OverTime:
    """Take a metric on each stretch of time."""
    require_sums(metric)
    stretches = cut_table(table, bins)
    assert stretches.rows is not None
    profile, units = _profile(table, metric, stretches, level, seed)
    sequences = stretches.rows if table.groups is None else units.astype(np.intp)
    n_groups = None if table.groups is None else table.groups.count
    return make_over_time(
        stretches.ends, profile, level, rows=stretches.rows, sequences=sequences, n_groups=n_groups
    )


def take_whole(table: Scored, metric: Metric, *, level: float, seed: int) -> IntervalEstimate:
    """Take a metric on all rows at once."""
    require_sums(metric)
    profile, _ = _profile(table, metric, whole(), level, seed)
    return make_estimate(profile.by_stretch[0], profile.estimator, level)


def require_sums(metric: Metric) -> None:
    """Refuse a metric that needs the rows."""
    if row_loss(metric) is None and gap_metric(metric) is None:
        name = getattr(metric, "__name__", repr(metric))
        raise InputError(
            f"metric is {name:.80}, which needs the rows: from a table nll, brier, overconfidence, "
            "ece and classwise_ece can be had, also with settings by functools.partial"
        )


def _profile(
    table: Scored, metric: Metric, stretches: TableStretches, level: float, seed: int
) -> tuple[Profile, Any]:
    """Return the profile, and the independent units of each stretch."""
    loss = row_loss(metric)
    if loss is not None:
        means = mean_sums(table, metric, stretches)
        return profile_of_mean_sums(means, loss[1], level), means.units
    found = gap_metric(metric)
    assert found is not None
    by_unit = gap_sums_by_row if table.groups is None else gap_sums_by_group
    gaps = by_unit(table, found[0], stretches, seed)
    return profile_of_gap_sums(gaps, found[1], level), gaps.units

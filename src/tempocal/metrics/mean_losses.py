"""Metrics that are means over rows, such as the NLL: intervals over groups.

The standard error is cluster-robust: ``sqrt(sum_g d_g^2) / w``, where ``d_g`` is the sum over a
group of ``w_i * (loss_i - mean)`` and ``w`` the total weight.
"""

from dataclasses import dataclass

import numpy as np

from tempocal.formula.nodes import Column, Number, subtract, total
from tempocal.links import Array
from tempocal.metrics.metric_intervals import MetricByTimeBin, MetricInterval, half_width
from tempocal.metrics.row_losses import LossFormula, RowLoss
from tempocal.metrics.scored_rows import ScoredRows, SumBy, add_up, independent_units

_LOSS, _INFINITE = Column("loss"), Column("is_infinite")
_INFINITIES = {"is_infinite": _INFINITE, "n_infinite": _INFINITE * _INFINITE}


@dataclass(frozen=True, eq=False)
class MeanSums:
    """Sums that means over time and their intervals are computed from; S time bins."""

    values: Array  # (S,) mean loss of each time bin
    floors: Array  # (S,) expected loss if the probabilities are true
    deviations: Array  # (units, S) contribution of each independent unit to the error of the mean
    units: Array  # (S,) number of independent units
    total_units: float


def mean_loss(rows: ScoredRows, formula: LossFormula) -> float:
    """Mean loss of all rows."""
    loss = formula(rows, "p")
    terms = {"weight": rows.weight, "loss": loss.loss * rows.weight, "inf": loss.is_infinite}
    (found,) = rows.sum_by("adding up", SumBy((), terms))
    mean = found["loss"].sum() / found["weight"].sum()
    return float(np.inf if found["inf"].sum() > 0.0 else mean)


def mean_loss_by_time_bin(
    rows: ScoredRows, formula: LossFormula, name: str, level: float
) -> MetricByTimeBin:
    """Mean loss of each time bin; the floor is the expected loss under the probabilities."""
    return mean_loss_from_sums(_sums(rows, formula(rows, "p")), name, level)


def gain_in_loss(
    rows: ScoredRows, formula: LossFormula, name: str, level: float
) -> MetricByTimeBin:
    """Mean decrease of the loss with the probabilities ``after0``, ``after1``, ..."""
    return mean_loss_from_sums(difference_in_loss(rows, formula), name, level)


def difference_in_loss(rows: ScoredRows, formula: LossFormula) -> MeanSums:
    """Sum the decrease of the loss, from ``p0``, ... to ``after0``, ..."""
    before, after = formula(rows, "p"), formula(rows, "after")
    # The difference of two infinite losses is taken as 0.
    is_infinite = subtract(before.is_infinite, after.is_infinite)
    difference = RowLoss(subtract(before.loss, after.loss), Number(0.0), is_infinite)
    return _sums(rows, difference)


def means_of_losses(rows: ScoredRows, formula: LossFormula) -> tuple[Array, Array]:
    """Mean loss of each time bin with ``p0``, ... and with ``after0``, ..."""
    terms, key = {"weight": rows.weight}, {"time_bin": rows.time_bins.count}
    for prefix in ("p", "after"):
        loss = formula(rows, prefix)
        terms |= {f"{prefix}_loss": loss.loss * rows.weight}
        terms |= {f"{prefix}_infinite": loss.is_infinite * rows.weight}
    (found,) = rows.sum_by("adding up", SumBy(tuple(key), terms))
    sums = {name: add_up(found, name, key) for name in terms}
    before, after = (
        np.where(sums[f"{one}_infinite"] > 0.0, np.inf, sums[f"{one}_loss"] / sums["weight"])
        for one in ("p", "after")
    )
    return before, after


def predicted_errors(rows: ScoredRows, formula: LossFormula) -> Array:
    """Return the standard error (S,) of the gain if the probabilities are true.

    With labels drawn from the mean of both sets, row by row. Rare events that would change the gain
    much may be missing among the observed ones, and the observed spread is then far too small.
    """
    before, after = formula(rows, "p"), formula(rows, "after")
    proba = zip(rows.proba("p"), rows.proba("after"), strict=True)
    losses = zip(before.by_class, after.by_class, strict=True)
    square = total(
        0.5 * (one + other) * subtract(old, new) ** 2
        for (one, other), (old, new) in zip(proba, losses, strict=True)
    )
    weight, key = rows.weight, {"time_bin": rows.time_bins.count}
    terms = {"weight": weight, "square": square * weight * weight}
    (found,) = rows.sum_by("adding up", SumBy(tuple(key), terms))
    sums = {name: add_up(found, name, key) for name in terms}
    return np.asarray(np.sqrt(sums["square"]) / sums["weight"])


def mean_loss_from_sums(sums: MeanSums, name: str, level: float) -> MetricByTimeBin:
    """Mean loss of each time bin, and its mean over the time bins."""
    by_time_bin = tuple(
        _interval(value, deviation, floor, half_width(level, units))
        for value, deviation, floor, units in zip(
            sums.values, sums.deviations.T, sums.floors, sums.units, strict=True
        )
    )
    mean = _interval(
        sums.values.mean(),
        sums.deviations.mean(axis=1),
        sums.floors.mean(),
        half_width(level, sums.total_units),
    )
    return MetricByTimeBin(by_time_bin, mean, name, sums.units)


def _sums(rows: ScoredRows, loss: RowLoss) -> MeanSums:
    rows = rows.with_columns(loss.columns())
    return _by_row(rows) if rows.n_units is None else _by_unit(rows)


def _by_unit(rows: ScoredRows) -> MeanSums:
    """Sum over buckets of groups, which are independent."""
    n_bins, weight, unit_weight = rows.time_bins.count, rows.weight, rows.unit_weight
    drawn, n_buckets = rows.with_draws(
        max(rows.max_buckets(n_bins), 1), np.random.default_rng(0), 0
    )
    by_bucket = {"weight": weight, "loss": _LOSS * weight}
    if unit_weight is not None:
        by_bucket |= {"unit_weight": unit_weight, "unit_loss": _LOSS * unit_weight}
    columns = {"expected": Column("expected"), **_INFINITIES}
    by_time = {name: each * weight for name, each in columns.items()}
    keys = {"bucket": n_buckets, "time_bin": n_bins}
    first, second = drawn.sum_by(
        "adding up", SumBy(tuple(keys), by_bucket), SumBy(("time_bin",), by_time)
    )
    sums = {name: add_up(first, name, keys) for name in by_bucket}
    expected, infinite, n_infinite = (
        add_up(second, name, {"time_bin": n_bins}) for name in by_time
    )
    totals = sums["weight"].sum(axis=0)
    means = sums["loss"].sum(axis=0) / totals
    prefix = "unit_" * ("unit_loss" in sums)
    deviations = (sums[f"{prefix}loss"] - means * sums[f"{prefix}weight"]) / totals
    units, total_units = independent_units(rows, sums["weight"])
    return MeanSums(
        _with_infinite(means, infinite, n_infinite),
        expected / totals,
        np.where(n_infinite == 0.0, deviations, 0.0),
        units,
        total_units,
    )


def _by_row(rows: ScoredRows) -> MeanSums:
    """Sum over rows; time bins are independent, so that the covariance is diagonal."""
    weight, key = rows.weight, {"time_bin": rows.time_bins.count}
    columns = {"loss": _LOSS, "square": _LOSS * _LOSS}
    columns |= {"expected": Column("expected"), **_INFINITIES}
    terms = {"weight": weight, **{name: each * weight for name, each in columns.items()}}
    (found,) = rows.sum_by("adding up", SumBy(tuple(key), terms))
    totals, loss, square, expected, infinite, n_infinite = (
        add_up(found, name, key) for name in terms
    )
    means = loss / totals
    spread = np.sqrt(np.maximum(square - means * loss, 0.0)) / totals
    return MeanSums(
        _with_infinite(means, infinite, n_infinite),
        expected / totals,
        np.diag(np.where(n_infinite == 0.0, spread, 0.0)),
        totals,
        float(totals.sum()),
    )


def _with_infinite(means: Array, infinite: Array, n_infinite: Array) -> Array:
    """Losses of plus and minus infinity have no mean."""
    if not np.any(n_infinite):
        return means
    known = np.where(np.abs(infinite) == n_infinite, np.copysign(np.inf, infinite), np.nan)
    return np.where(n_infinite > 0.0, known, means)


def _interval(value: float, deviation: Array, floor: float, width: float) -> MetricInterval:
    if not np.isfinite(value):
        return MetricInterval(value, value, value, floor)
    error = float(np.sqrt((deviation**2).sum()))
    half = width * error if np.isfinite(width) else np.inf
    return MetricInterval(float(value), float(value - half), float(value + half), float(floor))

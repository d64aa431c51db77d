"""The gain in a calibration error, a sum of absolute gaps, in each time bin.

Noise adds to either error, to the smaller one more, so that the difference of two errors is biased.
The noise of both is drawn with the same groups. Each error alone has an estimate and limits without
that bias (`absolute_sum`); those of the difference follow by the method of Zou and Donner (2008),
which adds the distances of limits as standard errors are added, with their correlation.
"""

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from tempocal.errors import InputError
from tempocal.links import Array
from tempocal.metrics.absolute_sum import absolute_sum_interval, median_scale
from tempocal.metrics.gap_metric import GapMetric
from tempocal.metrics.gap_sums import GapSums
from tempocal.metrics.gaps_by_unit import gap_sums_by_unit
from tempocal.metrics.metric_intervals import half_width
from tempocal.metrics.paired_gains import PairedGains
from tempocal.metrics.scored_rows import ScoredRows


@dataclass(frozen=True, eq=False)
class Observed:
    """Gaps and draws of their noise."""

    gaps: Array  # (cells,)
    noise: Array  # (draws, cells)


@dataclass(frozen=True, eq=False)
class ErrorEstimate:
    """A calibration error without the bias of noise, and draws of the error with noise."""

    value: float
    lower: float
    upper: float
    drawn: Array  # (draws,)


@dataclass(frozen=True, eq=False)
class DifferenceEstimate:
    """A difference of two errors without the bias of noise."""

    value: float
    lower: float
    upper: float
    drawn: Array  # (draws,)

    def widened(self, ratio: float) -> tuple[float, float]:
        """Limits so many times as far away."""
        low = self.value - ratio * (self.value - self.lower)
        return max(low, -1.0), min(self.value + ratio * (self.upper - self.value), 1.0)


def gap_gains(rows: ScoredRows, gaps: GapMetric, level: float, seed: int) -> PairedGains:
    """Gains of the time bins, and of their mean."""
    if rows.n_units is None:
        raise InputError(
            "groups is missing: the gain in a calibration error is drawn by group; name the column "
            "of the sequences with sequence="
        )
    rows.require_few_cells(gaps)
    n_events = gaps.n_events(rows.n_classes)
    old = gap_sums_by_unit(rows, gaps, n_events, seed)
    new = gap_sums_by_unit(rows.only_after(), gaps, n_events, seed)
    widths = [_noise_width(level, units) for units in old.units]
    pairs = zip(_observed(old), _observed(new), widths, strict=True)
    found = [_difference(one, other, width, level) for one, other, width in pairs]
    ratio = _widening(np.stack([one.drawn for one in found]), level)
    limits = np.array([one.widened(1.0) for one in found]).T
    wide = np.array([one.widened(ratio) for one in found]).T
    unknown = ~np.isfinite(widths)
    limits[:, unknown] = wide[:, unknown] = np.array([[-1.0], [1.0]])
    before, after = (np.array([np.abs(g).sum() for g in each.gaps]) for each in (old, new))
    value = float((before - after).mean())
    share = 1.0 / len(widths)
    whole = [Observed(*_joined(each, share)) for each in (old, new)]
    mean = _difference(whole[0], whole[1], _noise_width(level, old.total_units), level)
    return PairedGains(
        before,
        after,
        before - after,
        limits[0],
        limits[1],
        wide[0],
        wide[1],
        (value, *mean.widened(1.0)),
        old.units,
    )


def _observed(sums: GapSums) -> list[Observed]:
    return [Observed(*each) for each in zip(sums.gaps, sums.noise, strict=True)]


def _joined(sums: GapSums, share: float) -> tuple[Array, Array]:
    """Return all gaps and their noise, as those of the mean over the time bins."""
    gaps, noise = np.concatenate(list(sums.gaps)), np.concatenate(list(sums.noise), axis=1)
    return gaps * share, noise * share


def _difference(old: Observed, new: Observed, width: float, level: float) -> DifferenceEstimate:
    """Limits of the difference from those of each error and their correlation."""
    width = width if np.isfinite(width) else 1.0
    first = _estimate(old.gaps, width * old.noise, level)
    second = _estimate(new.gaps, width * new.noise, level)
    # An error that may be all noise is cut off at 0, and no longer varies with the other one.
    is_known = min(first.lower, second.lower) > 0.0
    correlation = _correlation(first.drawn, second.drawn) if is_known else 0.0
    value = first.value - second.value
    below = _added(first.value - first.lower, second.upper - second.value, correlation)
    above = _added(first.upper - first.value, second.value - second.lower, correlation)
    return DifferenceEstimate(value, value - below, value + above, first.drawn - second.drawn)


def _estimate(gaps: Array, noise: Array, level: float) -> ErrorEstimate:
    scale = median_scale(gaps, noise)
    lower, upper = absolute_sum_interval(gaps, noise, level)
    value = scale * float(np.abs(gaps).sum())
    drawn = np.abs(scale * gaps + noise).sum(axis=1)
    return ErrorEstimate(value, min(lower, value), max(upper, value), drawn)


def _added(one: float, other: float, correlation: float) -> float:
    return float(np.sqrt(max(one**2 + other**2 - 2.0 * correlation * one * other, 0.0)))


def _correlation(one: Array, other: Array) -> float:
    if one.std() == 0.0 or other.std() == 0.0:
        return 0.0
    return float(np.corrcoef(one, other)[0, 1])


def _widening(drawn: Array, level: float) -> float:
    """How much wider limits are that hold in all time bins together."""
    spread = drawn.std(axis=1)
    known = spread > 0.0
    if known.sum() < 2:
        return 1.0
    scaled = (drawn[known] - drawn[known].mean(axis=1)[:, None]) / spread[known][:, None]
    largest = float(np.quantile(np.abs(scaled).max(axis=0), level))
    return max(largest / NormalDist().inv_cdf(0.5 + level / 2), 1.0)


def _noise_width(level: float, units: float) -> float:
    return half_width(level, units) / NormalDist().inv_cdf(0.5 + level / 2)

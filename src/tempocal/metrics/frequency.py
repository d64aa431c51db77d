"""How sure the frequency of an event in each bin is, where rows come in groups."""

from dataclasses import dataclass

import numpy as np

from tempocal.inputs import Groups
from tempocal.links import Array
from tempocal.metrics.binsums import BinSums
from tempocal.metrics.edges import Edges
from tempocal.metrics.events import Events
from tempocal.metrics.metric_intervals import student_quantile


@dataclass(frozen=True, eq=False)
class FrequencyInterval:
    """Interval of the frequency of each bin, and the independent units that it rests on."""

    units: Array
    lower: Array
    upper: Array


def interval_over_rows(sums: BinSums, level: float = 0.95) -> FrequencyInterval:
    """Take each row as a unit of its own, as often as it counts."""
    return _score_interval(sums, sums.weight, sums.weight, level)


def interval_over_groups(
    events: Events, edges: Edges, sums: BinSums, groups: Groups, level: float = 0.95
) -> FrequencyInterval:
    """Take each group as a unit: the rows of one may all come true together."""
    codes = edges.locate(events.confidence)
    weight = np.ones(len(codes)) if events.weight is None else events.weight
    pair, of_pair = np.unique(codes * groups.count + groups.codes, return_inverse=True)
    bins, frequency = pair // groups.count, _frequency(sums)

    def squares(values: Array) -> Array:
        added = np.bincount(of_pair, values)
        return np.asarray(np.bincount(bins, added**2, minlength=edges.n_bins), dtype=np.float64)

    deviations = squares(weight * (events.outcome - frequency[codes]))
    return interval_from_group_sums(sums, squares(weight), deviations, level)


def interval_from_group_sums(
    sums: BinSums, weights: Array, deviations: Array, level: float = 0.95
) -> FrequencyInterval:
    """Tell how sure frequencies are, by sums over the groups of each bin.

    Parameters
    ----------
    sums : BinSums
        Sums over the rows.
    weights, deviations : ndarray of shape (B,)
        Sums over groups of the square of a group's weight, and of its outcomes less what they would
        be at the frequency of the bin.
    level : float
        How often an interval holds the frequency.
    """
    frequency = _frequency(sums)
    totals = np.where(sums.weight > 0.0, sums.weight, 1.0)
    # So many groups of the same weight would be as sure: with few heavy ones little is known.
    alike = 1.0 / np.maximum(weights / totals**2, 1e-300)
    variance = deviations / totals**2
    variance *= alike / np.maximum(alike - 1.0, 1e-9)
    known = (variance > 0.0) & np.isfinite(variance)
    binomial = frequency * (1.0 - frequency)
    effective = np.where(known, binomial / np.where(known, variance, 1.0), alike)
    most = np.maximum(sums.count, 1.0)
    return _score_interval(sums, alike, np.clip(effective, 0.5, most), level)


def _frequency(sums: BinSums) -> Array:
    return np.asarray(sums.outcome / np.where(sums.weight > 0.0, sums.weight, 1.0))


def _score_interval(
    sums: BinSums, units: Array, effective: Array, level: float
) -> FrequencyInterval:
    """Wilson's interval with an effective number of trials: never empty, never beyond [0, 1]."""
    filled = sums.weight > 0.0
    n = np.where(filled, np.maximum(effective, 1e-12), 1.0)
    z = student_quantile(0.5 + level / 2, np.maximum(units - 1.0, 1.0))
    frequency = _frequency(sums)
    center = (frequency + z**2 / (2.0 * n)) / (1.0 + z**2 / n)
    half = z / (1.0 + z**2 / n)
    half *= np.sqrt(np.maximum(frequency * (1.0 - frequency), 0.0) / n + z**2 / (4.0 * n**2))
    # Rounding must not put an end on the far side of the frequency.
    lower = np.where(filled, np.maximum(np.minimum(center - half, frequency), 0.0), np.nan)
    upper = np.where(filled, np.minimum(np.maximum(center + half, frequency), 1.0), np.nan)
    return FrequencyInterval(units, lower, upper)

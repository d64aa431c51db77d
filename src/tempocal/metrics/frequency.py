"""How sure the frequency of an event in each bin is, where rows come in groups."""

from dataclasses import dataclass

import numpy as np

from tempocal.inputs import Groups
from tempocal.links import Array
from tempocal.metrics.binsums import BinSums
from tempocal.metrics.edges import Edges
from tempocal.metrics.events import Events
from tempocal.metrics.quantiles import student_quantile


@dataclass(frozen=True, eq=False)
class FrequencySpread:
    """Interval of the frequency of each bin, and the independent units that it rests on."""

    units: Array
    lower: Array
    upper: Array


def independent_rows(sums: BinSums, level: float = 0.95) -> FrequencySpread:
    """Take each row as a unit of its own, as often as it counts."""
    return _score_interval(sums, sums.weight, sums.weight, level)


def by_group(
    events: Events, edges: Edges, sums: BinSums, groups: Groups, level: float = 0.95
) -> FrequencySpread:
    """Take each group as a unit: the rows of one may all come true together."""
    codes = edges.locate(events.confidence)
    weight = np.ones(len(codes)) if events.weight is None else events.weight
    pair, of_pair = np.unique(codes * groups.count + groups.codes, return_inverse=True)
    bins = pair // groups.count
    units = np.bincount(bins, minlength=edges.n_bins).astype(np.float64)
    frequency = _frequency(sums)
    centered = np.bincount(of_pair, weight * (events.outcome - frequency[codes]))
    squares = np.bincount(bins, centered**2, minlength=edges.n_bins)
    variance = np.asarray(squares / np.where(sums.weight > 0.0, sums.weight, 1.0) ** 2)
    # Groups of a single row each have this variance: what they fall short of it is the design.
    binomial = frequency * (1.0 - frequency)
    effective = np.where(variance > 0.0, binomial / np.where(variance > 0.0, variance, 1.0), units)
    return _score_interval(sums, units, np.clip(effective, 1.0, sums.weight), level)


def _frequency(sums: BinSums) -> Array:
    return np.asarray(sums.outcome / np.where(sums.weight > 0.0, sums.weight, 1.0))


def _score_interval(sums: BinSums, units: Array, effective: Array, level: float) -> FrequencySpread:
    """Wilson's interval with an effective number of trials: never empty, never beyond [0, 1]."""
    filled = sums.weight > 0.0
    n = np.where(filled, np.maximum(effective, 1e-12), 1.0)
    z = student_quantile(0.5 + level / 2, np.maximum(units - 1.0, 1.0))
    frequency = _frequency(sums)
    center = (frequency + z**2 / (2.0 * n)) / (1.0 + z**2 / n)
    half = z / (1.0 + z**2 / n)
    half *= np.sqrt(np.maximum(frequency * (1.0 - frequency), 0.0) / n + z**2 / (4.0 * n**2))
    lower = np.where(filled, np.maximum(center - half, 0.0), np.nan)
    upper = np.where(filled, np.minimum(center + half, 1.0), np.nan)
    return FrequencySpread(units, lower, upper)

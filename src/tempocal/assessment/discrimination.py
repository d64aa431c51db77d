"""Discrimination: the area under the ROC curve of a class, with intervals over groups.

The AUC is the probability that a row of the class has a higher probability than another row, ties
counting half. Rows are in the order of the log-odds, which do not saturate. Its interval sums the
influence of each row by group (DeLong's placements, for dependent rows), on the scale of log-odds.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tempocal.links import Array, sigmoid
from tempocal.metrics.metric_intervals import half_width
from tempocal.metrics.scored_arrays import ScoredArrays
from tempocal.metrics.time_bins import TimeBins

# A probability less than this below 1 has lost digits that the probability of the rest has.
NEXT_TO_CERTAIN = 1e-8


@dataclass(frozen=True, eq=False)
class Discrimination:
    """AUC of one class against the rest, in each time bin and over all rows; NaN without both.

    Attributes
    ----------
    time_from, time_to, time_middle : ndarray
        Time bins, those of the errors over time.
    value, lower, upper : ndarray
        AUC of each time bin, and its interval over groups.
    overall : tuple of float
        AUC of all rows, whatever their time, with its interval.
    level : float
        Confidence level.
    """

    time_from: NDArray[Any]
    time_to: NDArray[Any]
    time_middle: NDArray[Any]
    value: Array
    lower: Array
    upper: Array
    overall: tuple[float, float, float]
    level: float

    def __len__(self) -> int:
        return len(self.value)


@dataclass(frozen=True, eq=False)
class PlacementSums:
    """Sums by independent unit, from which an AUC and its interval are computed.

    Attributes
    ----------
    events, others : ndarray of shape (units,)
        Weight of the rows of the class, and of the others.
    above : ndarray of shape (units,)
        For each row of the class, its weight times the weight of the other rows below it.
    below : ndarray of shape (units,)
        For each other row, its weight times the weight of the rows of the class below it.
    """

    events: Array
    others: Array
    above: Array
    below: Array

    def interval(self, level: float) -> tuple[float, float, float]:
        """Return the AUC and its interval."""
        n_events, n_others = self.events.sum(), self.others.sum()
        if n_events == 0.0 or n_others == 0.0:
            return np.nan, np.nan, np.nan
        # Sums over no pairs are exactly 0; a quotient of all weights is 1 but for rounding.
        right, wrong = float(self.above.sum()), float(self.below.sum())
        if right + wrong == 0.0:
            return np.nan, np.nan, np.nan  # pairs so light that their weight is no number
        auc = right / (right + wrong)
        influence = (self.above / n_others - auc * self.events) / n_events
        influence += (self.others - self.below / n_events - auc * self.others) / n_others
        units = np.count_nonzero(self.events + self.others)
        width = half_width(level, float(units)) * float(np.sqrt((influence**2).sum()))
        return auc, *_limits(auc, wrong / (right + wrong), width, self._fewer, level)

    @property
    def _fewer(self) -> int:
        """Number of units of the class, or without it if these are fewer."""
        return int(min(np.count_nonzero(self.events), np.count_nonzero(self.others)))


def _limits(
    auc: float, wrong: float, width: float, units: int, level: float
) -> tuple[float, float]:
    """Interval on the scale of log-odds; with no pair in the wrong order, from their number."""
    if not np.isfinite(width):
        return 0.0, 1.0
    if 0.0 in (auc, wrong):
        bound = ((1.0 - level) / 2.0) ** (1.0 / units)
        return (bound, 1.0) if wrong == 0.0 else (0.0, 1.0 - bound)
    odds, width = np.log(auc) - np.log(wrong), width / auc / wrong
    low, high = sigmoid(np.array([odds - width, odds + width])).tolist()
    # Rounding must not put the limits on the wrong side of the value.
    return min(low, auc), max(high, auc)


def odds_rank(proba: Array, rest: Array) -> Array:
    """Return numbers in the order of the log-odds: a probability next to 1 is told by the rest."""
    with np.errstate(divide="ignore"):
        return np.where(rest < NEXT_TO_CERTAIN, 1.0 / rest, proba)


def placements(place: Array, is_event: Array, weight: Array | None) -> tuple[Array, Array, Array]:
    """Return what the sums are over: for each row its weight, as an event or not, and placement."""
    weights = np.ones(len(place)) if weight is None else weight
    _, rank = np.unique(place, return_inverse=True)
    counts = [np.bincount(rank, weights * one) for one in (is_event, 1.0 - is_event)]
    # Weight of the events, and of the others, that are lower; of equal ones half.
    events, others = ((np.cumsum(one) - 0.5 * one)[rank] for one in counts)
    return weights, others, events


def discriminate_arrays(rows: ScoredArrays, time_bins: TimeBins, level: float) -> Discrimination:
    """AUC of the second of two classes, of rows in memory."""
    checked = rows.rows
    place = odds_rank(checked.proba[:, 1], checked.proba[:, 0])
    is_event = (checked.codes == 1).astype(np.float64)
    units = np.arange(rows.n_rows) if rows.groups is None else rows.groups.codes

    def auc(part: Any) -> tuple[float, float, float]:
        weight = None if checked.weight is None else checked.weight[part]
        weights, others, events = placements(place[part], is_event[part], weight)
        _, codes = np.unique(units[part], return_inverse=True)
        sums = [
            np.bincount(codes, weights * each).astype(np.float64, copy=False)
            for each in (
                is_event[part],
                1.0 - is_event[part],
                is_event[part] * others,
                (1.0 - is_event[part]) * events,
            )
        ]
        return PlacementSums(*sums).interval(level)

    parts = rows.in_time_bins(time_bins).rows_by_time_bin()
    return discrimination(time_bins, [auc(one) for one in parts], auc(slice(None)), level)


def discrimination(
    time_bins: TimeBins,
    by_time_bin: list[tuple[float, float, float]],
    overall: tuple[float, float, float],
    level: float,
) -> Discrimination:
    """Put AUCs with their intervals into a table."""
    value, lower, upper = np.array(by_time_bin, dtype=np.float64).reshape(-1, 3).T
    times = (time_bins.first, time_bins.last, time_bins.middle)
    return Discrimination(*times, value, lower, upper, overall, level)

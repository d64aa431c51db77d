"""Losses and calibration error on held-out rows."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from tempocal.calibrators.fit_data import FitData
from tempocal.calibrators.table_fit_data import TableFitData
from tempocal.errors import InputError
from tempocal.inputs import Codes
from tempocal.links import Array, log_proba_from_logits
from tempocal.maps import Curves, TemporalMap
from tempocal.temporal.ece_over_time import ece_over_time, ece_over_time_of_table
from tempocal.temporal.gain_interval import standard_error


class Clustering(NamedTuple):
    """Variance of a sum of differences over groups, and if rows were independent."""

    between_groups: float
    between_rows: float


@dataclass(frozen=True)
class RowLosses:
    """The held-out loss of each row."""

    values: Array
    data: FitData

    @property
    def mean(self) -> float:
        """Weighted mean over rows."""
        return self.data.mean(self.values)

    @property
    def standard_error(self) -> float:
        """Standard error of the mean, over groups."""
        return standard_error(self.values, self.data)

    @property
    def total_weight(self) -> float:
        """Total weight of the rows."""
        return self.data.total_weight

    def subtract(self, other: "RowLosses") -> "RowLosses":
        """Return the differences, row by row."""
        return RowLosses(self.values - other.values, self.data)

    def clustering(self, raw: "RowLosses") -> Clustering:
        """Return the spread of the differences to the losses of raw predictions."""
        differences = self.subtract(raw)
        squares = RowLosses(differences.values**2, self.data).mean - differences.mean**2
        return _clustering(differences.standard_error, squares, self.data.total_weight)


@dataclass(frozen=True)
class GroupLosses:
    """The summed held-out losses and the weight of each group."""

    sums: Array
    weights: Array
    # Of the differences to raw predictions, in the rows of each group.
    squares: Array

    @property
    def mean(self) -> float:
        """Weighted mean over rows."""
        return float(self.sums.sum() / self.weights.sum())

    @property
    def standard_error(self) -> float:
        """Standard error of the mean, over groups."""
        count = len(self.sums)
        if count <= 1:
            return np.inf
        spread = float(((self.sums - self.mean * self.weights) ** 2).sum())
        return float(np.sqrt(spread * count / (count - 1)) / self.weights.sum())

    @property
    def total_weight(self) -> float:
        """Total weight of the rows."""
        return float(self.weights.sum())

    def subtract(self, other: "GroupLosses") -> "GroupLosses":
        """Return the differences, group by group."""
        return GroupLosses(self.sums - other.sums, self.weights, self.squares)

    def clustering(self, raw: "GroupLosses") -> Clustering:
        """Return the spread of the differences to the losses of raw predictions."""
        differences = self.subtract(raw)
        squares = float(self.squares.sum()) / self.total_weight - differences.mean**2
        return _clustering(differences.standard_error, squares, self.total_weight)


Losses = RowLosses | GroupLosses


def combine(each: Sequence[Losses], factors: Sequence[float]) -> Losses:
    """Return a linear combination of losses."""
    first = each[0]
    numbers = [one.values if isinstance(one, RowLosses) else one.sums for one in each]
    total = np.tensordot(np.asarray(factors), np.stack(numbers), axes=1)
    if isinstance(first, RowLosses):
        return replace(first, values=total)
    return replace(first, sums=total)


def _clustering(error: float, variance: float, total: float) -> Clustering:
    return Clustering((error * total) ** 2 if np.isfinite(error) else 0.0, variance * total)


@dataclass(frozen=True)
class HeldOutLosses:
    """What held-out rows say of a candidate.

    Attributes
    ----------
    losses : RowLosses or GroupLosses
        Losses of their outcomes.
    ahead : RowLosses or GroupLosses or None
        Losses against the forecasts that follow, where these judge.
    ece_over_time : float
        Calibration error, averaged over bins of time.
    """

    losses: Losses
    ahead: Losses | None
    ece_over_time: float


@dataclass(frozen=True)
class ForecastsAhead:
    """What rows are judged by beside their outcomes: a decay per row, and targets (n, classes).

    A table makes the targets itself.
    """

    decay: float
    targets: Array | None


def evaluate_held_out(
    data: FitData, folds: Codes, maps: list[TemporalMap], judges: ForecastsAhead | None = None
) -> HeldOutLosses:
    """Judge each held-out row, under the map fitted without its fold, by its outcome.

    And by the forecasts that follow it, if these are given.
    """
    if isinstance(data, TableFitData):
        return _evaluate_table(data, maps, judges)
    targets = None if judges is None else judges.targets
    if folds.min() < 0:
        kept = folds >= 0
        data, folds = data.take(kept), folds[kept]
        targets = None if targets is None else targets[kept]
    assert data.times is not None
    log_proba = np.empty((data.n_rows, data.n_classes))
    for fold, fitted_map in enumerate(maps):
        in_fold = folds == fold
        calibrated = fitted_map(data.logits_of(in_fold), data.times[in_fold])
        log_proba[in_fold] = log_proba_from_logits(calibrated)
    losses = -log_proba[np.arange(len(log_proba)), data.labels]
    ahead = None
    if targets is not None:
        ahead = RowLosses(-np.einsum("nk,nk->n", targets, log_proba), data)
    error = ece_over_time(np.exp(log_proba), data)
    return HeldOutLosses(RowLosses(losses, data), ahead, error)


def _evaluate_table(
    data: TableFitData, maps: list[TemporalMap], judges: ForecastsAhead | None
) -> HeldOutLosses:
    curves = [each for each in maps if isinstance(each, Curves)]
    if len(curves) < len(maps):
        raise InputError(
            "candidates without coefficients (binning, isotonic regression) cannot be compared on "
            "a table: leave them out"
        )
    mapped = data.held_out(curves)
    losses = GroupLosses(*mapped.losses())
    ahead = None
    if judges is not None:
        ahead = GroupLosses(*data.losses_ahead(curves, judges.decay))
    return HeldOutLosses(losses, ahead, ece_over_time_of_table(data, mapped))

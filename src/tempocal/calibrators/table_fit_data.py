"""Input of a fit to a table: surrogate rows in memory, and passes over the table."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from tempocal.calibrators.fit_data import FitData
from tempocal.calibrators.table_cache import TableCache
from tempocal.curves.curve import Curve, Track
from tempocal.errors import InputError
from tempocal.inputs import Codes, SequenceFacts
from tempocal.links import Array
from tempocal.maps import Affine, BinaryMap, CoefficientMap, Curves, OneVsRest, Scale
from tempocal.nonparametric import OrderedRows
from tempocal.rows import LinearPredictor, Rows, SequenceRows
from tempocal.tables.coarse_rows import CoarseRows
from tempocal.tables.finest_keys import FinestKeys
from tempocal.tables.gain_sums import GainSums, gains_of_form
from tempocal.tables.group_ids import GroupIds
from tempocal.tables.labeled_table import LabeledTable
from tempocal.tables.losses_by_key import MappedRows
from tempocal.tables.sequence_order import TableSequenceOrder
from tempocal.tables.surrogate import TableSurrogate


@dataclass(frozen=True)
class TableFitData(FitData):
    """Surrogate rows of a table, and access to the table for exact passes.

    ``groups`` has the number of groups but no codes: sums by group are made in the table.
    """

    labeled: LabeledTable = field(kw_only=True)
    surrogate: TableSurrogate = field(kw_only=True)
    finest_key_of: Codes = field(kw_only=True)
    clusters: GroupIds | None = field(kw_only=True)
    exact: bool = field(kw_only=True)
    fold_spec: tuple[int, int] | None = field(kw_only=True)
    cache: TableCache = field(kw_only=True)
    table_order: TableSequenceOrder | None = field(kw_only=True)

    @property
    def sequence_facts(self) -> SequenceFacts | None:
        """What is known of the sequences; None if rows are in no sequences."""
        return self.table_order

    def learning_from_forecasts(self, decay: float) -> Self:
        """Learn from the forecasts that follow each row."""
        return replace(self, decay=decay)

    @property
    def finest_keys(self) -> FinestKeys:
        """The finest keys, (time, fold)."""
        return self.surrogate.finest_keys

    @property
    def n_rows(self) -> int:
        """Number of rows of the table, without those left out."""
        return round(float(self.finest_keys.n_rows[self._present_keys].sum()))

    @property
    def has_one_column(self) -> bool:
        """Whether there is one logit for two classes."""
        return self.labeled.n_columns == 1

    @property
    def largest_logit(self) -> float:
        """Largest absolute logit."""
        return self.labeled.largest_logit

    @property
    def class_weights(self) -> Array:
        """Weight of the rows of each class."""
        return np.asarray(self.surrogate.class_weights[self._present_keys].sum(axis=0))

    @property
    def total_weight(self) -> float:
        """Total weight of the rows."""
        return float(self.finest_keys.weights[self._present_keys].sum())

    def take(self, kept: NDArray[Any]) -> Self:
        """Keep some of the surrogate rows."""
        return replace(
            self,
            raw_logits=self.raw_logits[kept],
            labels=self.labels[kept],
            weights=None if self.weights is None else self.weights[kept],
            times=None if self.times is None else self.times[kept],
            finest_key_of=self.finest_key_of[kept],
        )

    def coarser(self) -> Self:
        """Use coarser surrogate rows, to estimate the error of an inexact fit."""
        surrogate = self.surrogate.coarser()
        return replace(
            self,
            raw_logits=surrogate.logits,
            labels=surrogate.labels,
            weights=surrogate.weights,
            times=None
            if self.times is None
            else surrogate.finest_keys.times[surrogate.finest_key_of],
            surrogate=surrogate,
            finest_key_of=surrogate.finest_key_of,
            cache=TableCache(self.labeled, self.clusters, exact=False, parent=self.cache),
        )

    def for_refit(self, rows: Codes) -> Self:
        """Keep some of the surrogate rows, for a fit without exact passes."""
        return replace(self.take(rows), exact=False)

    def rows(self, predictor: LinearPredictor, keys: Codes | None, n_keys: int) -> Rows:
        """Return the rows of a model, given the key of each surrogate row."""
        finest = self.cache.surrogate_rows(predictor, self.surrogate)
        coarse_keys = self._coarse_keys(keys)
        rows = CoarseRows(finest, coarse_keys, n_keys, refines=self.exact)
        if self.decay == 1.0:
            return rows
        assert self.table_order is not None
        sequences = self.cache.sequences(
            predictor,
            self.finest_keys,
            self.table_order,
            key_of_finest=coarse_keys,
            n_keys=n_keys,
            decay=self.decay,
        )
        return SequenceRows(rows, sequences, self.total_weight / self.n_rows)

    def binary_problems(self) -> Iterator[tuple[Array, NDArray[Any], Array | None]]:
        """Log-odds, 0/1 targets and weights of each one-vs-rest problem, from fine bins."""
        for k in self.one_vs_rest_classes:
            cells, key_of = self.cache.fine_cells(k, self.surrogate)
            kept = np.isin(key_of, self._present_keys)
            yield cells.mean_log_odds()[kept], cells.labels[kept] == k, cells.weights[kept]

    def track(self, curve: Curve) -> Track:
        """Set up a curve on the times of the finest keys."""
        if curve.n_clocks != 1:
            raise InputError(f"tables go along one clock, but {curve!r} goes along two")
        present, time_keys = self._present_keys, self.finest_keys.time_keys
        time_range = None if time_keys is None else time_keys.time_range
        track = curve.track(
            self.finest_keys.times[present], self.finest_keys.weights[present], time_range
        )
        key_at = np.full(self.finest_keys.count, -1, dtype=np.intp)
        key_at[present if track.kept is None else present[track.kept]] = track.grid.keys
        keys = key_at[self.finest_key_of]
        kept = None if track.kept is None else keys >= 0
        grid = replace(track.grid, keys=keys if kept is None else keys[kept])
        return replace(track, grid=grid, kept=kept)

    def moment(self, *, of_log_proba: bool) -> Array:
        """Return the identity: L-BFGS, which needs the moments, is not used on tables."""
        return np.eye(self.n_classes + 1)

    def folds(self, count: int, seed: int = 0) -> Codes:
        """Fold of each row; the rows of a group are in one."""
        groups = count if self.groups is None else self.groups.count
        if self.fold_spec != (min(count, groups), seed):
            raise InputError(
                "strengths by cross-validation take 5 folds and seed 0 on tables: say folds=5 and "
                "seed=0, or give shrinkage"
            )
        return self.finest_keys.values["fold"].astype(np.intp)[self.finest_key_of]

    def groups_by_key(self, keys: Codes, n_keys: int) -> Array | None:
        """Count the groups with rows under each key, if a pass by group was made."""
        return self.cache.groups_by_key(self._coarse_keys(keys), n_keys)

    def nll_before_and_after(self, fitted: Callable[..., Array]) -> tuple[float, float]:
        """Mean negative log likelihood before and after the map."""
        if not self.surrogate.sampled:
            points = self.points()
            return points.nll(), points.nll(fitted)
        if not isinstance(fitted, Scale | Affine | OneVsRest):
            return self.nll(), self.nll(fitted)
        sums = self.cache.gain_sums(fitted, self.surrogate)
        return sums.before / self.total_weight, (sums.before - sums.gain) / self.total_weight

    def nll_of_curve(self, ordered: OrderedRows, curve: BinaryMap) -> tuple[float, float]:
        """Mean negative log likelihood before and after a curve fitted to bins."""
        # A curve does not depend on time.
        return replace(self, times=None).nll_before_and_after(OneVsRest((curve,)))

    def gains(self, fitted: CoefficientMap) -> GainSums:
        """Sum the gains of a map over all rows."""
        parameters = fitted.numbers(self.finest_keys.times[self._present_keys])
        return gains_of_form(
            self.labeled, self.finest_keys.subset(self._present_keys), fitted.map_form, parameters
        )

    def held_out(self, fitted: list[Curves]) -> MappedRows:
        """Map each row by the fit that held out its fold."""
        assert self.clusters is not None
        folds, times = self.finest_keys.values["fold"], self.finest_keys.times
        parameters = []
        for m, table in enumerate(fitted[0].tables):
            at_keys = np.empty((self.finest_keys.count, table.shape[1]))
            for fold, part in enumerate(fitted):
                own = folds == fold
                at_keys[own] = part.bases[m].combine(times[own], part.tables[m])
            parameters.append(at_keys)
        return MappedRows(
            self.labeled, self.finest_keys, self.clusters, fitted[0].map_form, parameters
        )

    @property
    def _present_keys(self) -> Codes:
        return np.unique(self.finest_key_of)

    def points(self) -> FitData:
        """Return the finest surrogate rows there are, without groups."""
        found = self.cache.known_fine_cells(1) if not self.surrogate.sampled else None
        if found is None:
            return FitData(
                self.raw_logits, self.labels, self.weights, None, self.n_classes, self.times
            )
        cells, key_of = found
        times = None if self.times is None else self.finest_keys.times[key_of]
        return FitData(cells.mean_log_odds(), cells.labels, cells.weights, None, 2, times)

    def _coarse_keys(self, keys: Codes | None) -> Codes:
        """Solver key of each finest key; -1 for those left out."""
        key_at = np.full(self.finest_keys.count, -1, dtype=np.intp)
        key_at[self.finest_key_of] = 0 if keys is None else keys
        return key_at

"""What a fit starts from when the rows are in a table."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from tempocal.calibrators.fit_data import FitData
from tempocal.calibrators.table_cache import TableCache
from tempocal.curves import Curve, Track
from tempocal.errors import InputError
from tempocal.inputs import Codes
from tempocal.links import Array
from tempocal.maps import Affine, BinaryMap, Curves, OneVsRest, Scale
from tempocal.nonparametric import OrderedRows
from tempocal.rows import LinearPredictor, Rows
from tempocal.rows.surrogate import SurrogateRows
from tempocal.tables.finest_keys import FinestKeys
from tempocal.tables.gain_sums import GainSums, gains_of_form
from tempocal.tables.group_ids import GroupIds
from tempocal.tables.labeled_table import LabeledTable
from tempocal.tables.losses_by_key import MappedRows
from tempocal.tables.surrogate import TableSurrogate


@dataclass(frozen=True)
class TableFitData(FitData):
    """A surrogate rows in memory that stand for those of a table, and the way to these.

    ``groups`` has the number of groups, but no codes: what is summed by group is so in the table.
    """

    labeled: LabeledTable = field(kw_only=True)
    surrogate: TableSurrogate = field(kw_only=True)
    finest_key_of: Codes = field(kw_only=True)
    clusters: GroupIds | None = field(kw_only=True)
    exact: bool = field(kw_only=True)
    fold_spec: tuple[int, int] | None = field(kw_only=True)
    cache: TableCache = field(kw_only=True)

    @property
    def finest_keys(self) -> FinestKeys:
        """The finest keys there are."""
        return self.surrogate.finest_keys

    @property
    def n_rows(self) -> int:
        """How many rows the table has, but for those that were left out."""
        return round(float(self.finest_keys.rows[self._present].sum()))

    @property
    def has_one_column(self) -> bool:
        """Whether one logit stands for two classes."""
        return self.labeled.n_columns == 1

    @property
    def largest_logit(self) -> float:
        """Largest absolute logit."""
        return self.labeled.largest_logit

    @property
    def class_weights(self) -> Array:
        """Weight of the rows of each class."""
        return np.asarray(self.surrogate.class_weights[self._present].sum(axis=0))

    @property
    def total_weight(self) -> float:
        """Weight of all rows together."""
        return float(self.finest_keys.weights[self._present].sum())

    def take(self, kept: NDArray[Any]) -> Self:
        """Leave out the rows of some finest_keys."""
        return replace(
            self,
            raw_logits=self.raw_logits[kept],
            labels=self.labels[kept],
            weights=None if self.weights is None else self.weights[kept],
            times=None if self.times is None else self.times[kept],
            finest_key_of=self.finest_key_of[kept],
        )

    def coarser(self) -> Self:
        """Take what stands for the rows a good deal coarser, to see what difference that makes."""
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
            cache=TableCache(self.labeled, self.clusters, exact=False, like=self.cache),
        )

    def part(self, rows: Codes) -> Self:
        """Take some of the rows, for a fit that need not be exact."""
        return replace(self.take(rows), exact=False)

    def rows_factory(self, predictor: LinearPredictor) -> Callable[[Codes | None, int], Rows]:
        """Return what makes the rows of a model, from the key of each and the number of keys."""

        def rows(keys: Codes | None, n_keys: int) -> Rows:
            stand = self.cache.stand(predictor, self.surrogate)
            return SurrogateRows(stand, self._places(keys), n_keys, refines=self.exact)

        return rows

    def binary_problems(self) -> Iterator[tuple[Array, NDArray[Any], Array | None]]:
        """Log-odds, 0/1 targets and weights, of each class that is told from the rest: by bins."""
        for k in self.one_vs_rest_classes:
            cells, places = self.cache.cells(k, self.surrogate)
            kept = np.isin(places, self._present)
            yield cells.means()[kept], cells.labels[kept] == k, cells.weights[kept]

    def track(self, curve: Curve) -> Track:
        """Lay a curve along the times of the finest_keys."""
        if curve.n_clocks != 1:
            raise InputError(f"tables go along one clock, but {curve!r} goes along two")
        present, time_keys = self._present, self.finest_keys.time_keys
        ends = None if time_keys is None else time_keys.time_range
        track = curve.track(
            self.finest_keys.times[present], self.finest_keys.weights[present], ends
        )
        places = np.full(self.finest_keys.count, -1, dtype=np.intp)
        places[present if track.kept is None else present[track.kept]] = track.grid.keys
        keys = places[self.finest_key_of]
        kept = None if track.kept is None else keys >= 0
        grid = replace(track.grid, keys=keys if kept is None else keys[kept])
        return replace(track, grid=grid, kept=kept)

    def moment(self, *, of_log_proba: bool) -> Array:
        """Return what L-BFGS would want, which is never used on tables."""
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
        """How many groups have rows under each key, if a look at groups has shown it."""
        return self.cache.groups_by_key(self._places(keys), n_keys)

    def before_and_after(self, fitted: Callable[..., Array]) -> tuple[float, float]:
        """Mean negative log likelihood of the rows as they are, and mapped."""
        if not self.surrogate.sampled:
            points = self.points()
            return points.nll(), points.nll(fitted)
        if not isinstance(fitted, Scale | Affine | OneVsRest):
            return self.nll(), self.nll(fitted)
        sums = self.cache.compare(fitted, self.surrogate)
        return sums.before / self.total_weight, (sums.before - sums.gain) / self.total_weight

    def curve_losses(self, ordered: OrderedRows, curve: BinaryMap) -> tuple[float, float]:
        """Do that for a curve that was fitted to bins of the rows."""
        # A curve knows no times.
        return replace(self, times=None).before_and_after(OneVsRest((curve,)))

    def gains(self, fitted: Curves) -> GainSums:
        """Compare what a map says of all rows with what they came with."""
        times = self.finest_keys.times[self._present]
        pairs = zip(fitted.bases, fitted.tables, strict=True)
        numbers = [basis.combine(times, table) for basis, table in pairs]
        return gains_of_form(
            self.labeled, self.finest_keys.subset(self._present), fitted.form, numbers
        )

    def held_out(self, fitted: list[Curves]) -> MappedRows:
        """Let each row be mapped by the map of its fold."""
        assert self.clusters is not None
        folds, times = self.finest_keys.values["fold"], self.finest_keys.times
        numbers = []
        for m, table in enumerate(fitted[0].tables):
            at_finest_keys = np.empty((self.finest_keys.count, table.shape[1]))
            for fold, part in enumerate(fitted):
                own = folds == fold
                at_finest_keys[own] = part.bases[m].combine(times[own], part.tables[m])
            numbers.append(at_finest_keys)
        return MappedRows(self.labeled, self.finest_keys, self.clusters, fitted[0].form, numbers)

    @property
    def _present(self) -> Codes:
        return np.unique(self.finest_key_of)

    def points(self) -> FitData:
        """Return what stands for the rows most finely, without their groups."""
        found = self.cache.known_cells(1) if not self.surrogate.sampled else None
        if found is None:
            return FitData(
                self.raw_logits, self.labels, self.weights, None, self.n_classes, self.times
            )
        cells, places = found
        times = None if self.times is None else self.finest_keys.times[places]
        return FitData(cells.means(), cells.labels, cells.weights, None, 2, times)

    def _places(self, keys: Codes | None) -> Codes:
        """Key of each atom; -1 for those that are left out."""
        places = np.full(self.finest_keys.count, -1, dtype=np.intp)
        places[self.finest_key_of] = 0 if keys is None else keys
        return places
